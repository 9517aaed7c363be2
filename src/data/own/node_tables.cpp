#include "data/own/tables.h"

namespace grm::own {
namespace {

// Reads nodes and graphs into the tables; both have ids, and one of them has labels and domains.
class NodeReader {
 public:
  NodeReader(const ReadContext& context, NodeTables& into)
      : csv_(context.d.csv),
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
    label_ = purpose_ == Purpose::training ? file.need(csv_.label, "[csv] label")
                                           : file.find(csv_.label);
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
    const std::string_view domain = domain_ < 0 ? "" : trimmed(row.columns[domain_]);
    if (domain_ >= 0 && is_missing(domain)) {
      problems_.add({row.path, row.line, domain_ + 1,
                     fmt::format("column '{}': no domain is named", csv_.domain),
                     "name one, or remove the row"});
    }
    into_.domain_of_item.push_back(static_cast<int32_t>(into_.domains.add(domain)));
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
      into_.domain_of_item.push_back(static_cast<int32_t>(into_.domains.add("")));
      return into_.graphs.add(name);
    }
    problems_.add({row.path, row.line, position + 1,
                   fmt::format("graph '{}' is not in {}", shown(name), csv_.graphs),
                   "add the graph there, or correct the name here"});
    return -1;
  }

  const CsvNames& csv_;
  Purpose purpose_;
  Problems& problems_;
  NodeTables& into_;
  bool shared_;
  int64_t label_ = -1, domain_ = -1;
};

}  // namespace

std::vector<std::string> special_of_nodes(const Description& d) {
  std::vector<std::string> names = {d.csv.id};
  if (d.level == Level::graph) {
    names.push_back(d.csv.graph);
  } else {
    names.push_back(d.csv.label);
    if (!d.csv.domain.empty()) names.push_back(d.csv.domain);
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
