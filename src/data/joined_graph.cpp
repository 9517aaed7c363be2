#include "data/joined_graph.h"

#include <torch/types.h>

namespace grm {

Domain joined(const std::vector<Domain>& parts, const std::string& name) {
  std::vector<torch::Tensor> source, target, node, column, labels;
  int64_t first = 0;
  for (const Domain& part : parts) {
    const auto [from, to] = edge_list(*part.graph.edges);
    source.push_back(from + first);
    target.push_back(to + first);
    const auto [feature, owner] = edge_list(*part.graph.x.sparse);
    column.push_back(feature);
    node.push_back(owner + first);
    labels.push_back(part.labels.y);
    first += part.graph.nodes();
  }
  Graph all;
  all.name = name;
  all.edges = make_adjacency(first, first, torch::cat(source), torch::cat(target));
  all.x.sparse =
      make_adjacency(first, parts.front().graph.x.width(), torch::cat(column), torch::cat(node));
  return make_domain(std::move(all), torch::cat(labels));
}

}  // namespace grm
