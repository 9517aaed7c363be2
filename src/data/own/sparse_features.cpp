#include "data/own/sparse_features.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <set>
#include <tuple>

#include "data/own/locate.h"

namespace grm::own {
namespace {

constexpr int64_t kMostFeatures = 100000;  // each is a column of its own in the model
constexpr char kFeature[] = "feature", kValue[] = "value";
constexpr std::string_view kUnlabelled = "?";

// Whole numbers by size, before all other texts.
bool before(const std::string& a, const std::string& b) {
  const auto whole = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  };
  const bool x = whole(a), y = whole(b);
  if (x != y) return x;
  if (x && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

// Collects cells by feature and row, and makes columns of them.
class SparseCells {
 public:
  SparseCells(const ReadContext& context, const Plan& plan) : context_(context) {
    for (const Plan::Entry& entry : plan.entries) {
      if (entry.sparse) features_.add(entry.name);
    }
  }

  // Line and column are where it stands, for messages.
  void add(const io::CsvRow& row, int64_t column, int64_t node, std::string_view feature,
           std::string_view text) {
    double value = 0.0;
    if (const Number got = read_number(text, value); got != Number::ok) {
      context_.problems.add(
          {row.path, row.line, column,
           fmt::format("'{}' is {}", shown(text),
                       got == Number::too_large ? "infinite or beyond the numbers that can be used"
                                                : "not a number"),
           "write a number with a decimal point; leave out what is zero"});
      return;
    }
    const int64_t known = features_.find(feature);
    if (known < 0) {
      if (unknown_++ == 0) first_unknown_ = std::string(feature);
      return;
    }
    cells_.push_back({known, node, value, row.line});
  }

  void finish(const std::string& path, Columns& into) {
    std::stable_sort(cells_.begin(), cells_.end(), [](const Cell& a, const Cell& b) {
      return std::tie(a.feature, a.node) < std::tie(b.feature, b.node);
    });
    for (size_t k = 1; k < cells_.size(); ++k) {
      const Cell &last = cells_[k - 1], &cell = cells_[k];
      if (cell.feature != last.feature || cell.node != last.node) continue;
      context_.problems.add({path, cell.line, 0,
                             fmt::format("the feature '{}' of this node came before, in line {}",
                                         shown(features_[cell.feature]), last.line),
                             "give each number once"});
    }
    size_t next = 0;
    for (int64_t f = 0; f < features_.size(); ++f) {
      Column column;
      column.name = features_[f];
      column.sparse = true;
      for (; next < cells_.size() && cells_[next].feature == f; ++next) {
        if (cells_[next].node < column.numbers.size()) continue;  // told above
        column.numbers.add_zeros(cells_[next].node - column.numbers.size());
        column.numbers.add(cells_[next].value);
      }
      column.numbers.add_zeros(into.rows - column.numbers.size());
      into.list.push_back(std::move(column));
    }
    if (unknown_ == 0) return;
    context_.notes.push_back(fmt::format(
        "{}: {} number{} of features that training did not have {} skipped; the first is '{}'",
        path, unknown_, unknown_ == 1 ? "" : "s", unknown_ == 1 ? "is" : "are",
        shown(first_unknown_)));
  }

 private:
  struct Cell {
    int64_t feature, node;
    double value;
    int64_t line;
  };
  const ReadContext& context_;
  Names features_;
  std::vector<Cell> cells_;
  int64_t unknown_ = 0;
  std::string first_unknown_;
};

// A number of a line of a libsvm file.
struct IndexedNumber {
  int64_t column;  // from 1, words counted
  std::string_view feature, value;
};

// The words of a line, without its comment.
std::vector<std::string_view> words_of_line(const io::CsvRow& row) {
  std::vector<std::string_view> words;
  for (std::string_view cell : row.columns) {
    while (!cell.empty()) {
      const size_t tab = cell.find('\t');
      const std::string_view word = trimmed(cell.substr(0, tab));
      if (!word.empty() && word[0] == '#') return words;
      if (!word.empty()) words.push_back(word);
      cell = tab == std::string_view::npos ? std::string_view() : cell.substr(tab + 1);
    }
  }
  return words;
}

// Calls `each` for every line that is not empty: its label and its numbers.
void each_libsvm_row(const ReadContext& context, const std::string& path,
                     const std::function<void(const io::CsvRow&, std::string_view label,
                                              const std::vector<IndexedNumber>&)>& each) {
  const auto broken = [&](const io::CsvRow& row, size_t word, std::string_view text) {
    context.problems.add({path, row.line, static_cast<int64_t>(word) + 1,
                          fmt::format("'{}' is not index:value", shown(text)),
                          "write a whole number, a colon and a number, as in 7:0.5"});
  };
  try {
    io::read_csv(
        path,
        [&](const io::CsvRow& row) {
          const std::vector<std::string_view> words = words_of_line(row);
          if (words.empty()) return;
          std::vector<IndexedNumber> numbers;
          for (size_t k = 1; k < words.size(); ++k) {
            const size_t colon = words[k].find(':');
            const std::string_view index = words[k].substr(0, colon);
            if (colon == std::string_view::npos || index.empty() ||
                index.find_first_not_of("0123456789") != std::string_view::npos) {
              broken(row, k, words[k]);
            } else {
              numbers.push_back({static_cast<int64_t>(k) + 1, index, words[k].substr(colon + 1)});
            }
          }
          if (words[0].find(':') != std::string_view::npos) {
            context.problems.add(
                {path, row.line, 1,
                 fmt::format("the line begins with '{}', not with a label", shown(words[0])),
                 "write the class first, or ? where it is not known"});
            return;
          }
          each(row, words[0], numbers);
        },
        ' ');
  } catch (const FirstProblem&) {
    throw;
  } catch (const Error& error) {
    context.problems.stop(path, error);
  }
}

// The names that one file holds.
void add_names(const ReadContext& context, const std::string& folder, std::set<std::string>& into) {
  const CsvNames& csv = context.d.csv;
  const bool libsvm = is_libsvm(csv.nodes);
  const std::string path = existing_table(folder, libsvm ? csv.nodes : csv.features);
  if (path.empty()) return;  // told when the domain is read
  if (libsvm) {
    each_libsvm_row(
        context, path,
        [&](const io::CsvRow&, std::string_view, const std::vector<IndexedNumber>& numbers) {
          for (const IndexedNumber& number : numbers) into.emplace(number.feature);
        });
    return;
  }
  const CsvFile file(path, csv.separator[0], context.problems);
  const int64_t feature = file.find(kFeature);
  if (feature < 0) return;
  file.each_row([&](const io::CsvRow& row) {
    const std::string_view name = trimmed(row.columns[static_cast<size_t>(feature)]);
    if (!name.empty()) into.emplace(name);
  });
}

}  // namespace

bool is_libsvm(const std::string& name) {
  const std::filesystem::path path(name);
  const std::string ending = (path.extension() == ".gz" ? path.stem() : path).extension().string();
  return ending == ".libsvm" || ending == ".svm" || ending == ".svmlight";
}

std::vector<std::string> sparse_names(const ReadContext& context, const std::string& folder) {
  const Description& d = context.d;
  std::set<std::string> found;
  if (!d.csv.domain.empty()) {
    add_names(context, folder, found);
  } else {
    for (const DomainName& domain : d.domains) {
      if (domain.role == Role::train) {
        add_names(context, find_domain(d.folder, domain.name, d.csv).folder, found);
      }
    }
  }
  if (static_cast<int64_t>(found.size()) > kMostFeatures) {
    context.problems.stop(
        {folder + "/" + (is_libsvm(d.csv.nodes) ? d.csv.nodes : d.csv.features), 0, 0,
         fmt::format("{} different features; at most {} are read", found.size(), kMostFeatures),
         "save wide features as sparse arrays in an .npz file: see 'grm data init'"});
  }
  std::vector<std::string> names(found.begin(), found.end());
  std::sort(names.begin(), names.end(), before);
  return names;
}

void read_sparse_table(const ReadContext& context, const std::string& path, const Plan& plan,
                       NodeTables& tables) {
  const CsvNames& csv = context.d.csv;
  Problems& problems = context.problems;
  const int64_t before_columns = problems.count();
  const CsvFile file(path, csv.separator[0], problems);
  const auto at = [&](const std::string& name, const char* key) {
    return static_cast<size_t>(file.need(name, key));
  };
  const size_t id = at(csv.id, "[csv] id"), feature = at(kFeature, "the column of features"),
               value = at(kValue, "the column of values");
  const size_t graph = tables.local_ids ? at(csv.graph, "[csv] graph") : 0;
  problems.stop_if_more_than(before_columns);
  SparseCells cells(context, plan);
  file.each_row([&](const io::CsvRow& row) {
    const std::string_view name = trimmed(row.columns[id]);
    const int64_t node =
        tables.ids.find(tables.local_ids ? NodeTables::key_of(trimmed(row.columns[graph]), name)
                                         : std::string(name));
    if (node < 0) {
      if (!tables.complete) return;  // its row may be the one that is broken
      return problems.add({path, row.line, static_cast<int64_t>(id) + 1,
                           fmt::format("node '{}' is not in {}", shown(name), csv.nodes),
                           "add the node there, or correct the id here"});
    }
    const std::string_view called = trimmed(row.columns[feature]);
    if (called.empty()) {
      return problems.add({path, row.line, static_cast<int64_t>(feature) + 1,
                           "the feature has no name", "name it, or remove the line"});
    }
    cells.add(row, static_cast<int64_t>(value) + 1, node, called, trimmed(row.columns[value]));
  });
  cells.finish(path, *tables.columns);
}

void read_libsvm(const ReadContext& context, const std::string& path, const Plan& plan,
                 NodeTables& tables) {
  if (!context.d.csv.domain.empty() || tables.by_graph) {
    context.problems.stop({path, 0, 0,
                           tables.by_graph ? "a libsvm file does not say which graph a node is of"
                                           : "a libsvm file has no column that names domains",
                           tables.by_graph ? "write nodes.csv and a table id,feature,value"
                                           : "make a folder for each domain, with its own file"});
  }
  LabelTexts& labels = *tables.labels;
  labels.file = path;
  labels.column = 1;
  SparseCells cells(context, plan);
  each_libsvm_row(context, path,
                  [&](const io::CsvRow& row, std::string_view label,
                      const std::vector<IndexedNumber>& numbers) {
                    const int64_t node = tables.ids.add(std::to_string(tables.ids.size()));
                    tables.domain_of_item.push_back(static_cast<int32_t>(tables.domains.add("")));
                    if (label == kUnlabelled || is_missing(label)) {
                      labels.codes.push_back(-1);
                    } else {
                      labels.codes.push_back(static_cast<int32_t>(labels.texts.add(label)));
                      if (labels.texts.size() > static_cast<int64_t>(labels.first_line.size())) {
                        labels.first_line.push_back(row.line);
                      }
                    }
                    for (const IndexedNumber& number : numbers) {
                      cells.add(row, number.column, node, number.feature, number.value);
                    }
                  });
  tables.columns->rows = tables.ids.size();
  if (tables.columns->rows == 0) {
    context.problems.stop({path, 1, 0, "there is no node", "write a line for each node"});
  }
  cells.finish(path, *tables.columns);
}

}  // namespace grm::own
