#include "train/edge_removal.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "core/stop.h"
#include "data/graph_sets.h"
#include "graph/ball.h"
#include "grm/core/error.h"
#include "grm/graph/batch.h"
#include "train/metrics.h"

namespace grm {
namespace {

using Pair = std::pair<int64_t, int64_t>;  // the smaller end first

// Pairs of different nodes in a graph or, around one node, those nearest to it, in the order in
// which they are reached.
std::vector<Pair> pairs_of(const Adjacency& edges, int64_t centre, int64_t most) {
  std::map<Pair, bool> seen;
  std::vector<Pair> pairs;
  const auto add = [&](int64_t a, int64_t b) {
    if (a != b && seen.emplace(std::minmax(a, b), true).second) {
      pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
  };
  if (centre < 0) {
    for (int64_t i = 0; i < edges.rows(); ++i) {
      for (int64_t e = edges.in.offset()[i]; e < edges.in.offset()[i + 1]; ++e) {
        add(i, edges.in.index()[e]);
      }
    }
    return pairs;
  }
  std::vector<int64_t> reached = {centre};
  std::map<int64_t, bool> known = {{centre, true}};
  for (size_t k = 0; k < reached.size(); ++k) {
    for (const Csr* csr : {&edges.in, &edges.out}) {
      for (int64_t e = csr->offset()[reached[k]]; e < csr->offset()[reached[k] + 1]; ++e) {
        if (static_cast<int64_t>(pairs.size()) >= most) return pairs;
        const int64_t other = csr->index()[e];
        add(reached[k], other);
        if (known.emplace(other, true).second) reached.push_back(other);
      }
    }
  }
  return pairs;
}

// Which edges stay when a pair is left out: [nnz] bool.
torch::Tensor without(const torch::Tensor& source, const torch::Tensor& target, const Pair& pair) {
  const auto one_way = [&](int64_t a, int64_t b) { return source.eq(a).logical_and(target.eq(b)); };
  return one_way(pair.first, pair.second)
      .logical_or(one_way(pair.second, pair.first))
      .logical_not();
}

// The graph with some of its edges, and what they carry.
Graph with_edges(const Graph& graph, const torch::Tensor& source, const torch::Tensor& target,
                 const torch::Tensor& kept) {
  Graph less = graph;
  const torch::Tensor ids = torch::nonzero(kept).reshape({-1});
  less.edges = make_adjacency(graph.nodes(), graph.nodes(), source.index_select(0, ids),
                              target.index_select(0, ids));  // in edge order, as before
  if (graph.edge_weights.defined()) less.edge_weights = graph.edge_weights.index_select(0, ids);
  if (graph.edge_x.sparse || graph.edge_x.dense.defined()) {
    less.edge_x = pick_rows(graph.edge_x, ids);
  }
  return less;
}

torch::Tensor logits_of(Method& method, const Graph& graph, int64_t item) {
  return method.logits(graph, torch::full({1}, item, torch::kInt64)).detach().cpu();
}

double odds_of(Method& method, const Graph& graph, int64_t item, const torch::Tensor& predicted) {
  return log_odds(logits_of(method, graph, item), predicted).item<double>();
}

// The smallest ball around a node in which it gets the same answer as in the whole graph: one pass
// for each edge over millions of nodes would take hours. Methods that look at the whole graph (a
// context, a sample drawn by node) get all of it, where the ball would be half of it or more, too.
Ball surroundings(Method& method, const Graph& graph, int64_t item, double base,
                  const torch::Tensor& predicted) {
  constexpr int64_t kFewestHops = 3;
  constexpr double kSame = 1e-5;
  for (int64_t hops = kFewestHops;; ++hops) {
    Ball ball = ball_around(graph, item, hops);
    if (2 * ball.graph.nodes() > graph.nodes()) break;
    const double odds = odds_of(method, ball.graph, ball.centre, predicted);
    method.forget_graphs();
    if (std::abs(odds - base) <= kSame * std::max(1.0, std::abs(base))) return ball;
    // It has grown to all that is connected with the node.
    if (ball_around(graph, item, hops + 1).graph.nodes() == ball.graph.nodes()) break;
  }
  return {graph, torch::arange(graph.nodes()), item};
}

}  // namespace

torch::Tensor log_odds(const torch::Tensor& logits, const torch::Tensor& classes) {
  const torch::Tensor wide = logits.to(torch::kFloat64);
  if (wide.size(1) == 1) return wide.select(1, 0);
  const torch::Tensor at = classes.unsqueeze(1);
  const torch::Tensor others =
      wide.scatter(1, at, -std::numeric_limits<double>::infinity()).logsumexp(1);
  return wide.gather(1, at).squeeze(1) - others;
}

GeneratedGraph removal_graph(Method& method, const Graph& graph, int64_t item, int64_t most) {
  const bool set = graph.level() == Level::graph;
  // A graph of a set alone: nothing but it is computed again and again.
  Ball part = {graph, {}, item};
  if (set) {
    const int64_t first = graph.parts[item].item<int64_t>();
    part = {pick_set(graph, torch::full({1}, item, torch::kInt64), graph.name), {}, 0};
    part.nodes = torch::arange(first, first + part.graph.nodes());
  }
  const torch::Tensor logits = logits_of(method, part.graph, part.centre);
  const torch::Tensor predicted = predicted_class(logits);
  const double base = log_odds(logits, predicted).item<double>();
  method.forget_graphs();
  if (!set) part = surroundings(method, graph, item, base, predicted);

  const auto [source, target] = edge_list(*part.graph.edges);
  const std::vector<Pair> pairs = pairs_of(*part.graph.edges, set ? -1 : part.centre, most);
  const int64_t* ids = part.nodes.data_ptr<int64_t>();
  std::map<int64_t, int64_t> row_of;  // of nodes in the explanation
  std::vector<int64_t> nodes, from, to;
  std::vector<double> loss;
  const auto row = [&](int64_t node) {
    const auto [found, fresh] = row_of.emplace(node, static_cast<int64_t>(nodes.size()));
    if (fresh) nodes.push_back(ids[node]);
    return found->second;
  };
  if (!set) row(part.centre);
  for (int64_t i = 0; set && i < part.graph.nodes(); ++i) row(i);
  for (const Pair& pair : pairs) {
    check_stop();
    const Graph less = with_edges(part.graph, source, target, without(source, target, pair));
    from.push_back(row(pair.first));
    to.push_back(row(pair.second));
    loss.push_back(base - odds_of(method, less, part.centre, predicted));
    method.forget_graphs();
  }
  GeneratedGraph g;
  g.nodes = torch::tensor(nodes, torch::kInt64);
  g.centre = set ? -1 : 0;
  g.source = torch::tensor(from, torch::kInt64);
  g.target = torch::tensor(to, torch::kInt64);
  g.samples = torch::tensor(loss, torch::kFloat64).reshape({1, static_cast<int64_t>(loss.size())});
  g.prior = std::numeric_limits<double>::quiet_NaN();
  return g;
}

}  // namespace grm
