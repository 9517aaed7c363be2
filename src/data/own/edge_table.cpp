#include <cmath>
#include <limits>

#include "data/own/tables.h"

namespace grm::own {
namespace {

// Edges between domains or between graphs: counted, and told once.
struct Strays {
  int64_t count = 0;
  int64_t line = 0;
  std::string text;

  void add(const io::CsvRow& row, const char* of, const std::string& a, const std::string& b) {
    if (count++ > 0) return;
    line = row.line;
    text = fmt::format("the edge joins the {} '{}' and '{}'", of, shown(a), shown(b));
  }
};

class EdgeReader {
 public:
  EdgeReader(const ReadContext& context, const CsvFile& file, const NodeTables& tables)
      : context_(context), csv_(context.d.csv), file_(file), tables_(tables) {}

  EdgeTable read(const Plan& plan) {
    Problems& problems = context_.problems;
    const int64_t before = problems.count();
    const int64_t from = file_.need(csv_.source, "[csv] source");
    const int64_t to = file_.need(csv_.target, "[csv] target");
    const int64_t graph = tables_.local_ids ? file_.find(csv_.graph) : -1;
    const std::string& weight_name = context_.d.edge_columns.weight.text;
    const int64_t weight =
        weight_name.empty() ? -1 : file_.need(weight_name, "[edge_columns] weight");
    problems.stop_if_more_than(before);
    EdgeTable edges;
    edges.has_weights = weight >= 0;
    ColumnReader columns(plan, file_, special_of_edges(context_.d), problems);
    file_.each_row([&](const io::CsvRow& row) {
      const std::string_view inside = graph < 0 ? "" : trimmed(row.columns[graph]);
      const int64_t source = node_at(row, from, inside), target = node_at(row, to, inside);
      if (source < 0 || target < 0 || !stays(row, source, target)) return;
      edges.source.push_back(source);
      edges.target.push_back(target);
      if (edges.has_weights) edges.weights.push_back(weight_at(row, weight));
      columns.add(row);
    });
    *edges.columns = columns.finish();
    tell_strays();
    return edges;
  }

 private:
  int64_t node_at(const io::CsvRow& row, int64_t position, std::string_view graph) {
    const std::string_view name = trimmed(row.columns[position]);
    const int64_t node = tables_.local_ids ? tables_.ids.find(NodeTables::key_of(graph, name))
                                           : tables_.ids.find(name);
    // Where rows of nodes were broken, what looks unknown here may well be one of them.
    if (node < 0 && tables_.complete) {
      context_.problems.add({row.path, row.line, position + 1,
                             fmt::format("node '{}' is not in {}", shown(name), csv_.nodes),
                             "add the node there, or remove the edge"});
    }
    return node;
  }

  // Whether the edge is kept: inside one graph of a domain that is wanted.
  bool stays(const io::CsvRow& row, int64_t source, int64_t target) {
    const int64_t a = tables_.domain_of_node(source), b = tables_.domain_of_node(target);
    if (tables_.chosen[a] < 0 && tables_.chosen[b] < 0) return false;
    if (a != b) {
      between_domains_.add(row, "domains", tables_.domains[a], tables_.domains[b]);
      return false;
    }
    if (!tables_.by_graph) return true;
    const int64_t g = tables_.graph_of_node[source], h = tables_.graph_of_node[target];
    if (g != h) between_graphs_.add(row, "graphs", tables_.graphs[g], tables_.graphs[h]);
    return g == h;
  }

  float weight_at(const io::CsvRow& row, int64_t position) {
    const std::string_view cell = trimmed(row.columns[position]);
    double value = 1.0;
    const bool number = read_number(cell, value) == Number::ok;
    const bool negative = number && value < 0.0 && !tables_.by_graph;
    if (number && !negative) return static_cast<float>(value);
    context_.problems.add(
        {row.path, row.line, position + 1,
         fmt::format("the weight '{}' is {}", shown(cell),
                     negative ? "negative" : "not a finite number"),
         negative ? "weights of edges between nodes are 0 or more; a signed quantity is a feature: "
                    "[edge_columns] numeric"
                  : "every edge needs a weight"});
    return 1.0F;
  }

  void tell_strays() {
    const Strays& domains = between_domains_;
    if (domains.count > 0 && context_.d.between == EdgesBetween::drop) {
      context_.notes.push_back(
          fmt::format("{}: {} edges between domains are skipped", file_.path(), domains.count));
    } else if (domains.count > 0) {
      context_.problems.add({file_.path(), domains.line, 0,
                             fmt::format("{}; {} such edges in all", domains.text, domains.count),
                             "remove them, or write edges_between = \"drop\" in dataset.toml"});
    }
    if (between_graphs_.count > 0) {
      context_.problems.add(
          {file_.path(), between_graphs_.line, 0,
           fmt::format("{}; {} such edges in all", between_graphs_.text, between_graphs_.count),
           "an edge stays inside its graph: remove them, or correct the nodes' graphs"});
    }
  }

  const ReadContext& context_;
  const CsvNames& csv_;
  const CsvFile& file_;
  const NodeTables& tables_;
  Strays between_domains_, between_graphs_;
};

}  // namespace

std::vector<std::string> special_of_edges(const Description& d) {
  std::vector<std::string> names = {d.csv.source, d.csv.target, d.csv.graph};
  if (!d.edge_columns.weight.text.empty()) names.push_back(d.edge_columns.weight.text);
  return names;
}

EdgeTable read_edges(const ReadContext& context, const CsvFile& file, const Plan& plan,
                     const NodeTables& tables) {
  return EdgeReader(context, file, tables).read(plan);
}

}  // namespace grm::own
