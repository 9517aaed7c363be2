#include "grm/study/table.h"

#include <algorithm>
#include <map>

#include "grm/core/error.h"

namespace grm::study {
namespace {

// One run that counts in a cell. Runs of two methods are paired by dataset label and seed.
struct Run {
  std::string dataset;
  int64_t seed;
  const ResultRow* row;
  const std::vector<DomainScore>* test;
  std::vector<double> scores;  // of the cell's common domains
};

struct Runs {
  std::vector<Run> runs;
  int64_t expected = 0;
};

// Order of the published tables; what they do not have comes after, in order of appearance.
const std::vector<std::string> kMethodOrder = {"constant", "erm",  "drnn",  "mmd",   "arm",
                                               "eerm",     "lisa", "isgib", "mario", "grm"};
const std::vector<std::string> kDatasetOrder = {"cora",   "photo",    "fb100",
                                                "twitch", "elliptic", "arxiv"};
const std::vector<std::string> kBlockOrder = {"sum", "kipf"};

void sort_as(std::vector<std::string>& names, const std::vector<std::string>& order) {
  const auto rank = [&](const std::string& name) {
    return std::find(order.begin(), order.end(), without_preset(without_seed(name))) -
           order.begin();
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// Names of the domains that every run of a cell scored, in the first run's order.
std::vector<std::string> common_domains(const std::vector<Run>& runs) {
  std::vector<std::string> common;
  for (const DomainScore& s : *runs.front().test) {
    const bool everywhere = std::all_of(runs.begin(), runs.end(), [&](const Run& run) {
      return std::any_of(run.test->begin(), run.test->end(),
                         [&](const DomainScore& other) { return other.domain == s.domain; });
    });
    if (everywhere) common.push_back(s.domain);
  }
  return common;
}

MeanStd over_runs(const std::vector<Run>& runs, const std::function<double(const Run&)>& value) {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back(value(run));
  return mean_std(values);
}

double run_average(const Run& run) {
  return mean_std(run.scores).mean;
}

void fill_scores(Cell& cell, std::vector<Run>& runs) {
  const std::vector<std::string> domains = common_domains(runs);
  for (Run& run : runs) {
    for (const std::string& name : domains) {
      for (const DomainScore& s : *run.test) {
        if (s.domain == name) {
          run.scores.push_back(s.value);
          break;
        }
      }
    }
  }
  if (domains.empty()) return;
  std::vector<double> means;
  for (size_t k = 0; k < domains.size(); ++k) {
    const MeanStd score = over_runs(runs, [&](const Run& run) { return run.scores[k]; });
    cell.domains.push_back({domains[k], {score, {}}});
    means.push_back(score.mean);
  }
  const size_t least =
      static_cast<size_t>(std::min_element(means.begin(), means.end()) - means.begin());
  cell.min = cell.domains[least].score;
  cell.min_domain = domains[least];
  cell.avg.ours = {mean_std(means).mean, over_runs(runs, run_average).std};
  cell.min_per_run = over_runs(
      runs, [](const Run& run) { return *std::min_element(run.scores.begin(), run.scores.end()); });
}

void fill_costs(Cell& cell, const std::vector<Run>& runs) {
  const auto number = [&](auto member) {
    return over_runs(runs, [&](const Run& run) { return member(run.row->record); });
  };
  cell.parameters = runs.front().row->record.parameters;
  cell.epochs = number([](const RunRecord& r) { return static_cast<double>(r.epochs); });
  cell.seconds_per_epoch = number([](const RunRecord& r) { return r.seconds_per_epoch; });
  cell.evaluate_seconds = number([](const RunRecord& r) { return r.evaluate_seconds; });
  cell.train_seconds = number(
      [](const RunRecord& r) { return r.seconds_per_epoch * static_cast<double>(r.epochs); });
  for (const Run& run : runs) {
    cell.peak_memory_mib = std::max(cell.peak_memory_mib, run.row->record.peak_memory_mib);
  }
}

void fill_published(Cell& cell, const std::string& dataset, const std::string& method,
                    const PublishedLookup& published) {
  if (!published) return;
  const std::string base = without_preset(method);
  cell.min.published = published(dataset, base, "Min");
  cell.avg.published = published(dataset, base, "Avg");
  // Domains are published by position, which means something only if we have the same number.
  const std::string beyond = "T" + std::to_string(cell.domains.size() + 1);
  if (published(dataset, base, beyond)) return;
  if (!published(dataset, base, "T" + std::to_string(cell.domains.size()))) return;
  for (size_t k = 0; k < cell.domains.size(); ++k) {
    cell.domains[k].score.published = published(dataset, base, "T" + std::to_string(k + 1));
  }
}

PairedTest compare(const std::vector<Run>& ours, const std::vector<Run>& reference) {
  std::vector<std::pair<double, double>> pairs;
  for (const Run& a : ours) {
    for (const Run& b : reference) {
      if (a.dataset == b.dataset && a.seed == b.seed && a.scores.size() == b.scores.size()) {
        pairs.emplace_back(run_average(a), run_average(b));
      }
    }
  }
  return paired_t_test(pairs);
}

class Builder {
 public:
  Builder(const std::vector<ResultRow>& rows, const std::vector<MissingRow>& missing,
          const TableOptions& options)
      : options_(options) {
    table_.against = options.against;
    table_.level = options.level;
    for (const ResultRow& row : rows) add(row);
    for (const MissingRow& row : missing) {
      if (!selected(options, row.dataset, row.method, row.variant)) continue;
      table_.missing.push_back(row);
      ++cell(row.dataset, row.method, row.variant).expected;
    }
    sort_as(datasets_, kDatasetOrder);
    sort_as(methods_, kMethodOrder);
    sort_as(variants_, kBlockOrder);
  }

  ScoreTable operator()() {
    for (const std::string& variant : variants_) add_block(variant);
    return std::move(table_);
  }

 private:
  std::string column_of(const std::string& dataset) const {
    return options_.group_dataset_seeds ? without_seed(dataset) : dataset;
  }

  Runs& cell(const std::string& dataset, const std::string& method, const std::string& variant) {
    add_once(datasets_, column_of(dataset));
    add_once(methods_, method);
    add_once(variants_, variant);
    return runs_[{variant, column_of(dataset), method}];
  }

  void add(const ResultRow& row) {
    if (!selected(options_, row.dataset, row.method, row.variant)) return;
    if (table_.study.empty()) table_.study = row.study;
    Runs& runs = cell(row.dataset, row.method, row.variant);
    ++runs.expected;
    const auto chosen = row.record.chosen.find(options_.rule);
    if (chosen == row.record.chosen.end() || chosen->second.test.empty()) {
      table_.missing.push_back({row.dataset, row.method, row.variant, row.seed,
                                "the run has no test scores (train.test = never?)"});
      return;
    }
    metrics_[column_of(row.dataset)] = row.metric;
    runs.runs.push_back({row.dataset, row.seed, &row, &chosen->second.test, {}});
  }

  void add_block(const std::string& variant) {
    Block block;
    block.name = variant;
    for (const std::string& method : methods_) {
      for (const std::string& dataset : datasets_) {
        if (runs_.count({variant, dataset, method})) add_once(block.methods, method);
      }
    }
    for (const std::string& dataset : datasets_) {
      const bool any =
          std::any_of(block.methods.begin(), block.methods.end(), [&](const std::string& method) {
            return runs_.count({variant, dataset, method}) > 0;
          });
      if (any) block.datasets.push_back(column(block, dataset));
    }
    table_.blocks.push_back(std::move(block));
  }

  DatasetColumn column(const Block& block, const std::string& dataset) {
    DatasetColumn column;
    column.dataset = dataset;
    column.metric = metrics_.count(dataset) ? metrics_[dataset] : "";
    for (const std::string& method : block.methods) {
      Cell cell;
      const auto found = runs_.find({block.name, dataset, method});
      if (found != runs_.end()) {
        fill(cell, found->second);
        if (!found->second.runs.empty() && column.constant.empty()) {
          column.constant = found->second.runs.front().row->record.constant;
        }
        if (different_domains(found->second.runs, cell)) {
          table_.notes.push_back(fmt::format(
              "{}, {}: the runs have different test domains; only the {} common ones count",
              dataset, method, cell.domains.size()));
        }
      }
      fill_published(cell, dataset, method, options_.published);
      column.cells.push_back(std::move(cell));
    }
    const size_t reference = reference_of(block);
    if (reference < block.methods.size()) mark(block, column, reference);
    return column;
  }

  static bool different_domains(const std::vector<Run>& runs, const Cell& cell) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const Run& run) { return run.test->size() != cell.domains.size(); });
  }

  void fill(Cell& cell, Runs& source) {
    cell.expected = source.expected;
    cell.runs = static_cast<int64_t>(source.runs.size());
    if (source.runs.empty()) return;
    // A fixed order makes the sums independent of the order in which the runs ended.
    std::sort(source.runs.begin(), source.runs.end(), [](const Run& a, const Run& b) {
      return std::tie(a.dataset, a.seed) < std::tie(b.dataset, b.seed);
    });
    fill_scores(cell, source.runs);
    fill_costs(cell, source.runs);
  }

  // The method named exactly so, else the first with this name and some preset.
  size_t reference_of(const Block& block) const {
    const auto& methods = block.methods;
    auto found = std::find(methods.begin(), methods.end(), options_.against);
    if (found == methods.end()) {
      found = std::find_if(methods.begin(), methods.end(), [&](const std::string& method) {
        return without_preset(method) == options_.against;
      });
    }
    return static_cast<size_t>(found - methods.begin());
  }

  void mark(const Block& block, DatasetColumn& column, size_t reference) {
    const auto base = runs_.find({block.name, column.dataset, block.methods[reference]});
    if (base == runs_.end() || base->second.runs.empty()) return;
    for (size_t m = 0; m < block.methods.size(); ++m) {
      const auto ours = runs_.find({block.name, column.dataset, block.methods[m]});
      if (m == reference || ours == runs_.end() || ours->second.runs.empty()) continue;
      Cell& cell = column.cells[m];
      cell.test = compare(ours->second.runs, base->second.runs);
      if (cell.test->p && *cell.test->p < options_.level) {
        cell.mark = cell.test->difference > 0 ? 1 : -1;
      }
    }
  }

  const TableOptions& options_;
  ScoreTable table_;
  std::map<std::array<std::string, 3>, Runs> runs_;  // by block, dataset column, method
  std::map<std::string, std::string> metrics_;
  std::vector<std::string> datasets_, methods_, variants_;
};

}  // namespace

ScoreTable make_table(const std::vector<ResultRow>& rows, const std::vector<MissingRow>& missing,
                      const TableOptions& options) {
  return Builder(rows, missing, options)();
}

}  // namespace grm::study
