#include <limits>

#include "data/own/tables.h"
#include "data/own/targets.h"

namespace grm::own {
namespace {

// Reads nodes and graphs into the tables; both have ids, and one of them has labels and domains.
class NodeReader {
 public:
  NodeReader(const ReadContext& context, NodeTables& into)
      : d_(context.d),
        csv_(context.d.csv),
        purpose_(context.purpose),
        problems_(context.problems),
        into_(into),
        shared_(!csv_.domain.empty()) {}

  void graphs(const std::string& path) {
    const CsvFile file(path, csv_.separator[0], problems_);
    const int64_t before = problems_.count();
    const int64_t id = file.need(csv_.id, "[csv] id");
    find_item_columns(file);
    problems_.stop_if_more_than(before);
    const int64_t skipped = file.each_row([&](const io::CsvRow& row) {
      const std::string_view name = trimmed(row.columns[id]);
      if (add_id(into_.graphs, row, id, name, name)) add_item(row);
    });
    if (skipped > 0) into_.complete = false;
  }

  void nodes(const CsvFile& file, const Plan& plan, const Description& d, bool has_graphs) {
    const int64_t before = problems_.count();
    const int64_t id = file.need(csv_.id, "[csv] id");
    const int64_t graph = into_.by_graph ? file.need(csv_.graph, "[csv] graph") : -1;
    if (!into_.by_graph) find_item_columns(file);
    problems_.stop_if_more_than(before);
    ColumnReader columns(plan, file, special_of_nodes(d), problems_);
    const int64_t skipped = file.each_row([&](const io::CsvRow& row) {
      const std::string_view name = trimmed(row.columns[id]);
      const int64_t owner = into_.by_graph ? graph_of(row, graph, has_graphs) : -1;
      if (into_.by_graph && owner < 0) {
        into_.complete = false;
        return;
      }
      const std::string key =
          into_.local_ids ? NodeTables::key_of(into_.graphs[owner], name) : std::string(name);
      if (!add_id(into_.ids, row, id, key, name)) return;
      if (into_.by_graph) {
        into_.graph_of_node.push_back(owner);
      } else {
        add_item(row);
      }
      columns.add(row);
    });
    if (skipped > 0) into_.complete = false;
    *into_.columns = columns.finish();
    if (into_.columns->rows == 0) {
      problems_.stop({file.path(), 2, 0, "there is no node", "write a line for each node"});
    }
  }

  void empty_graphs(const std::string& path) {
    std::vector<bool> filled(into_.graphs.size(), false);
    for (const int64_t graph : into_.graph_of_node) filled[graph] = true;
    for (int64_t g = 0; g < into_.graphs.size(); ++g) {
      if (filled[g]) continue;
      problems_.add({path, 0, 0,
                     fmt::format("graph '{}' (row {} of the table) has no node in {}",
                                 shown(into_.graphs[g]), g + 1, csv_.nodes),
                     "add its nodes, or remove the line"});
    }
  }

 private:
  // Unlabelled data is fine for prediction.
  void find_item_columns(const CsvFile& file) {
    const bool training = purpose_ == Purpose::training;
    if (d_.target == Target::classes) {
      label_ = training ? file.need(csv_.label, "[csv] label") : file.find(csv_.label);
    }
    for (const std::string& name : target_columns(d_)) {
      targets_.push_back(training
                             ? file.need(name, csv_.targets.empty() ? "[csv] label" : "targets")
                             : file.find(name));
    }
    into_.tasks = static_cast<int64_t>(targets_.size());
    if (training && d_.split != Split::none) {
      split_ = file.find(d_.split == Split::masks ? csv_.split : csv_.time);
    }
    into_.labels->file = file.path();
    into_.labels->column = label_ + 1;
    if (shared_) domain_ = file.need(csv_.domain, "domain");
  }

  void add_item(const io::CsvRow& row) {
    LabelTexts& labels = *into_.labels;
    const std::string_view label = label_ < 0 ? "" : trimmed(row.columns[label_]);
    if (is_missing(label)) {
      labels.codes.push_back(-1);
    } else {
      labels.codes.push_back(static_cast<int32_t>(labels.texts.add(label)));
      if (labels.texts.size() > static_cast<int64_t>(labels.first_line.size())) {
        labels.first_line.push_back(row.line);
      }
    }
    for (const int64_t position : targets_) into_.targets.push_back(target_at(row, position));
    if (split_ >= 0) into_.role_of_item.push_back(role_at(row));
    const std::string_view domain = domain_ < 0 ? "" : trimmed(row.columns[domain_]);
    if (domain_ >= 0 && is_missing(domain)) {
      problems_.add({row.path, row.line, domain_ + 1,
                     fmt::format("column '{}': no domain is named", csv_.domain),
                     "name one, or remove the row"});
    }
    into_.domain_of_item.push_back(static_cast<int32_t>(into_.domains.add(domain)));
  }

  // NaN where nothing is known.
  float target_at(const io::CsvRow& row, int64_t position) {
    const std::string_view cell = position < 0 ? "" : trimmed(row.columns[position]);
    if (is_missing(cell)) return std::numeric_limits<float>::quiet_NaN();
    double value = 0.0;
    const bool number = read_number(cell, value) == Number::ok;
    if (number && (d_.target == Target::regression || value == 0.0 || value == 1.0)) {
      return static_cast<float>(value);
    }
    if (!number && d_.target == Target::multi_label) {
      if (cell == "yes" || cell == "true" || cell == "True") return 1.0F;
      if (cell == "no" || cell == "false" || cell == "False") return 0.0F;
    }
    const bool yes_no = d_.target == Target::multi_label;
    problems_.add({row.path, row.line, position + 1,
                   fmt::format("the target '{}' is {}", shown(cell),
                               yes_no ? "neither 0 nor 1" : "not a number that can be used"),
                   yes_no ? "write 0 or 1 (no or yes), or nothing where it is not known"
                          : "write a number, or nothing where it is not known"});
    return std::numeric_limits<float>::quiet_NaN();
  }

  // What an item is for: the word of its split, or what its time says.
  int64_t role_at(const io::CsvRow& row) {
    const std::string_view cell = trimmed(row.columns[split_]);
    if (is_missing(cell)) return -1;
    if (d_.split == Split::time) {
      if (d_.until.size() != 2) return -1;  // told
      return static_cast<int64_t>(role_of_time(cell, d_.until));
    }
    if (cell == "train") return static_cast<int64_t>(Role::train);
    if (cell == "val" || cell == "validation") return static_cast<int64_t>(Role::validation);
    if (cell == "test") return static_cast<int64_t>(Role::test);
    problems_.add({row.path, row.line, split_ + 1,
                   fmt::format("the split '{}' is unknown", shown(cell)),
                   "write train, val or test, or nothing where the item counts for none"});
    return -1;
  }

  // False unless the id is new.
  bool add_id(Names& ids, const io::CsvRow& row, int64_t position, std::string_view key,
              std::string_view id) {
    if (id.empty()) {
      problems_.add({row.path, row.line, position + 1, "the id is empty", "give it one"});
      return false;
    }
    if (const int64_t before = ids.find(key); before >= 0) {
      problems_.add(
          {row.path, row.line, position + 1,
           fmt::format("the id '{}' came before, in row {} of the table", shown(id), before + 1),
           "ids are unique: remove the row, or rename it"});
      return false;
    }
    ids.add(key);
    return true;
  }

  // Without a table of graphs, as prediction may be, nodes alone say which graphs there are.
  int64_t graph_of(const io::CsvRow& row, int64_t position, bool has_graphs) {
    const std::string_view name = trimmed(row.columns[position]);
    const int64_t graph = into_.graphs.find(name);
    if (graph >= 0) return graph;
    if (!has_graphs && !name.empty()) {
      into_.labels->codes.push_back(-1);
      into_.targets.insert(into_.targets.end(), targets_.size(),
                           std::numeric_limits<float>::quiet_NaN());
      into_.domain_of_item.push_back(static_cast<int32_t>(into_.domains.add("")));
      return into_.graphs.add(name);
    }
    problems_.add({row.path, row.line, position + 1,
                   fmt::format("graph '{}' is not in {}", shown(name), csv_.graphs),
                   "add the graph there, or correct the name here"});
    return -1;
  }

  const Description& d_;
  const CsvNames& csv_;
  Purpose purpose_;
  Problems& problems_;
  NodeTables& into_;
  bool shared_;
  int64_t label_ = -1, domain_ = -1, split_ = -1;
  std::vector<int64_t> targets_;  // positions
};

}  // namespace

std::vector<std::string> special_of_nodes(const Description& d) {
  std::vector<std::string> names = {d.csv.id};
  if (d.level == Level::graph) {
    names.push_back(d.csv.graph);
  } else {
    names.push_back(d.csv.label);
    if (!d.csv.domain.empty()) names.push_back(d.csv.domain);
    for (const std::string& target : d.csv.targets) names.push_back(target);
    if (d.split == Split::masks) names.push_back(d.csv.split);
    if (d.split == Split::time) names.push_back(d.csv.time);
  }
  return names;
}

void read_graphs(const ReadContext& context, const std::string& graphs, NodeTables& tables) {
  NodeReader(context, tables).graphs(graphs);
}

void read_nodes(const ReadContext& context, const CsvFile& file, const Plan& plan, bool has_graphs,
                NodeTables& tables) {
  NodeReader reader(context, tables);
  reader.nodes(file, plan, context.d, has_graphs);
  if (has_graphs && tables.complete) reader.empty_graphs(tables.labels->file);
}

}  // namespace grm::own
