#include "graph/ball.h"

#include <torch/types.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace grm {
namespace {

// Row of every node in the ball, by its id.
std::unordered_map<int64_t, int64_t> reached(const Adjacency& edges, int64_t node, int64_t hops) {
  std::unordered_map<int64_t, int64_t> rows = {{node, 0}};
  std::vector<int64_t> last = {node};
  for (int64_t hop = 0; hop < hops && !last.empty(); ++hop) {
    std::vector<int64_t> next;
    for (const int64_t at : last) {
      for (const Csr* csr : {&edges.in, &edges.out}) {
        for (int64_t e = csr->offset()[at]; e < csr->offset()[at + 1]; ++e) {
          if (rows.emplace(csr->index()[e], 0).second) next.push_back(csr->index()[e]);
        }
      }
    }
    last = std::move(next);
  }
  return rows;
}

}  // namespace

Ball ball_around(const Graph& graph, int64_t node, int64_t hops) {
  const Csr& in = graph.edges->in;
  std::unordered_map<int64_t, int64_t> rows = reached(*graph.edges, node, hops);
  std::vector<int64_t> nodes;
  for (const auto& [id, row] : rows) nodes.push_back(id);
  std::sort(nodes.begin(), nodes.end());
  for (size_t k = 0; k < nodes.size(); ++k) rows[nodes[k]] = static_cast<int64_t>(k);

  std::vector<int64_t> source, target, kept;
  for (size_t k = 0; k < nodes.size(); ++k) {
    for (int64_t e = in.offset()[nodes[k]]; e < in.offset()[nodes[k] + 1]; ++e) {
      const auto other = rows.find(in.index()[e]);
      if (other == rows.end()) continue;
      source.push_back(other->second);
      target.push_back(static_cast<int64_t>(k));
      kept.push_back(e);
    }
  }
  const auto n = static_cast<int64_t>(nodes.size());
  const torch::Tensor ids = torch::tensor(kept, torch::kInt64);
  Ball ball;
  ball.nodes = torch::tensor(nodes, torch::kInt64);
  ball.centre = rows.at(node);
  ball.graph.name = graph.name;
  ball.graph.edges = make_adjacency(n, n, torch::tensor(source, torch::kInt64),
                                    torch::tensor(target, torch::kInt64));
  ball.graph.x = pick_rows(graph.x, ball.nodes);
  if (graph.edge_weights.defined()) {
    ball.graph.edge_weights = graph.edge_weights.index_select(0, ids);
  }
  if (graph.edge_x.sparse || graph.edge_x.dense.defined()) {
    ball.graph.edge_x = pick_rows(graph.edge_x, ids);
  }
  return ball;
}

}  // namespace grm
