#pragma once

#include "data/own/raw_domain.h"

namespace grm::own {

/// The tables of nodes and graphs in one folder. They hold one domain, or all domains told apart by
/// a column. Items are nodes or, at graph level, graphs.
struct NodeTables {
  Names ids;     // of nodes, by row
  Names graphs;  // graph level
  Names domains;
  std::shared_ptr<Columns> columns = std::make_shared<Columns>();
  std::shared_ptr<LabelTexts> labels = std::make_shared<LabelTexts>();
  std::vector<float> targets;           // of the items, one after the other: [items, tasks]
  int64_t tasks = 0;                    // 0: the labels are classes
  std::vector<int64_t> role_of_item;    // where domains are split
  std::vector<int32_t> domain_of_item;  // number of `domains`
  std::vector<int64_t> graph_of_node;   // graph level
  bool by_graph = false;
  bool local_ids = false;  // ids of nodes are unique inside a graph only; `ids` holds key_of()
  bool complete = true;    // no row was left out as broken

  std::vector<std::string> wanted;
  std::vector<int64_t> chosen;  // by number of `domains`: index in `wanted`, -1: left out

  int64_t domain_of_node(int64_t node) const {
    return domain_of_item[by_graph ? graph_of_node[node] : node];
  }
  static std::string key_of(std::string_view graph, std::string_view id) {
    std::string key(graph);
    key += '\0';
    return key.append(id);
  }
};

struct EdgeTable {
  std::vector<int64_t> source, target;  // rows of nodes
  std::vector<float> weights;           // by edge, where has_weights
  bool has_weights = false;
  std::shared_ptr<Columns> columns = std::make_shared<Columns>();
};

/// Names of columns that are not features.
std::vector<std::string> special_of_nodes(const Description& d);
std::vector<std::string> special_of_edges(const Description& d);

/// `graphs` is "" where there is no such table. Fills all but `wanted` and `chosen`.
void read_graphs(const ReadContext& context, const std::string& graphs, NodeTables& tables);
void read_nodes(const ReadContext& context, const CsvFile& file, const Plan& plan, bool has_graphs,
                NodeTables& tables);
EdgeTable read_edges(const ReadContext& context, const CsvFile& file, const Plan& plan,
                     const NodeTables& tables);

/// The wanted domains. Items keep the order of their table; nodes of a graph follow each other in
/// theirs.
std::vector<RawDomain> split_tables(const NodeTables& tables, const EdgeTable& edges,
                                    const std::string& file);

}  // namespace grm::own
