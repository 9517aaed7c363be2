#include "grm/train/explain_item.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "grm/core/error.h"
#include "grm/graph/batch.h"
#include "train/calibration.h"
#include "train/edge_removal.h"
#include "train/metrics.h"

namespace grm {
namespace {

constexpr double kSigmas = 2.0;  // what is closer than so many spreads is not told apart

// Position of the stored pair source -> target, or -1.
int64_t find_edge(const Csr& in, int64_t source, int64_t target) {
  const int32_t* begin = in.index() + in.offset()[target];
  const int32_t* end = in.index() + in.offset()[target + 1];
  const int32_t* at = std::lower_bound(begin, end, static_cast<int32_t>(source));
  return at != end && *at == source ? at - in.index() : -1;
}

// The scores of a method that weighs observed edges, in the form of a generated graph.
GeneratedGraph scored_graph(const Graph& set, int64_t item, const torch::Tensor& scores) {
  const GraphBatch batch = pick_graphs(set, torch::full({1}, item, torch::kInt64));
  GeneratedGraph g;
  g.nodes = batch.nodes;
  std::tie(g.source, g.target) = edge_list(*batch.edges);
  g.samples = scores.to(torch::kCPU, torch::kFloat64).unsqueeze(0);
  g.prior = kUnknown;
  return g;
}

// Nothing if the method has no explanation of its own.
std::optional<GeneratedGraph> own_graph(Method& method, const Graph& graph, int64_t item,
                                        bool& generated) {
  std::optional<GeneratedGraph> g = method.generated(graph, item);
  generated = g.has_value();
  if (g || graph.level() == Level::node) return g;
  const torch::Tensor scores = method.edge_scores(graph, torch::full({1}, item, torch::kInt64));
  if (scores.defined()) g = scored_graph(graph, item, scores);
  return g;
}

GeneratedGraph graph_behind(Method& method, const std::string& name, const Graph& graph,
                            int64_t item, ExplainBy by, bool& generated) {
  if (by == ExplainBy::removal) return removal_graph(method, graph, item);
  if (std::optional<GeneratedGraph> g = own_graph(method, graph, item, generated)) {
    return *std::move(g);
  }
  fail(ErrorKind::config,
       "method {} has no explanations of single {} of its own; those that have: grm (nodes and "
       "graphs), ciga, dir, gala, gil, gsat and leci (graphs); 'grm explain --by removal' explains "
       "any method",
       name, graph.level() == Level::graph ? "graphs" : "nodes");
}

// One edge for both directions of a pair, with the mean of what is there; pairs of a node with
// itself become the node's.
void tie(const GeneratedGraph& g, ItemExplanation& e) {
  const int64_t* source = g.source.data_ptr<int64_t>();
  const int64_t* target = g.target.data_ptr<int64_t>();
  const torch::Tensor all = g.samples.contiguous();
  const double* sample = all.data_ptr<double>();
  const int64_t pairs = g.source.numel(), samples = all.size(0);
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> directions;
  for (int64_t p = 0; p < pairs; ++p) {
    directions[std::minmax(source[p], target[p])].push_back(p);
  }
  e.samples.resize(samples);
  for (const auto& [ends, members] : directions) {
    std::vector<double> tied(samples, 0.0);
    double mean = 0.0, square = 0.0;
    for (int64_t s = 0; s < samples; ++s) {
      for (const int64_t p : members) tied[s] += sample[s * pairs + p];
      tied[s] /= static_cast<double>(members.size());
      mean += tied[s] / static_cast<double>(samples);
    }
    for (const double w : tied) square += (w - mean) * (w - mean) / static_cast<double>(samples);
    if (ends.first == ends.second) {
      e.nodes[ends.first].self_weight = mean;
      continue;
    }
    ExplainedEdge edge;
    edge.source = ends.first;
    edge.target = ends.second;
    edge.weight = mean;
    edge.spread = std::sqrt(square);
    e.edges.push_back(edge);
    for (int64_t s = 0; s < samples; ++s) e.samples[s].push_back(tied[s]);
  }
}

double rounding(const ItemExplanation& e) {
  return 1e-9 * std::max(1.0, std::abs(e.threshold));
}

// Mean, range and noise of the weights.
void measure(ItemExplanation& e) {
  e.threshold = e.noise = 0.0;
  const auto edges = static_cast<double>(e.edges.size());
  for (const ExplainedEdge& edge : e.edges) {
    e.threshold += edge.weight / edges;
    e.noise += edge.spread / edges;
    const bool first = &edge == &e.edges.front();
    e.low = first ? edge.weight : std::min(e.low, edge.weight);
    e.high = first ? edge.weight : std::max(e.high, edge.weight);
  }
  e.differ = e.high - e.low > std::max(kSigmas * e.noise, rounding(e));
}

// Compares the edges with the observed ones and with each other.
void judge(const Domain& domain, const int64_t* nodes, ItemExplanation& e) {
  const Csr& in = domain.graph.edges->in;
  const torch::Tensor& truth = domain.labels.edge_truth;
  measure(e);
  // Equal weights are all at the mean, whatever the rounding of the sum; and so are those that
  // differ by less than chance makes them.
  const double line = e.differ ? e.threshold - rounding(e) : e.low;
  for (ExplainedEdge& edge : e.edges) {
    edge.clear = e.differ && std::abs(edge.weight - e.threshold) > kSigmas * edge.spread;
    const int64_t there = find_edge(in, nodes[edge.source], nodes[edge.target]);
    const int64_t back = find_edge(in, nodes[edge.target], nodes[edge.source]);
    edge.forward = there >= 0;
    edge.backward = back >= 0;
    const bool heavy = edge.weight >= line;
    if (edge.observed()) {
      edge.fate = heavy ? EdgeFate::kept : EdgeFate::weakened;
      if (truth.defined()) {
        const uint8_t* is_true = truth.data_ptr<uint8_t>();
        edge.truth = (there >= 0 && is_true[there] != 0) || (back >= 0 && is_true[back] != 0);
      }
    } else {
      edge.fate = heavy ? EdgeFate::created : EdgeFate::absent;
    }
  }
}

void take_presence(const GeneratedGraph& g, ItemExplanation& e) {
  e.presence_prior = g.presence_prior;
  const torch::Tensor all = g.presence.contiguous();  // [S, k]
  const torch::Tensor mean = all.mean(0), spread = (all - mean).square().mean(0).sqrt();
  for (size_t k = 0; k < e.nodes.size(); ++k) {
    e.nodes[k].presence = mean[static_cast<int64_t>(k)].item<double>();
    e.nodes[k].presence_spread = spread[static_cast<int64_t>(k)].item<double>();
  }
  for (int64_t s = 0; s < all.size(0); ++s) {
    const double* row = all.data_ptr<double>() + s * all.size(1);
    e.presence_samples.emplace_back(row, row + all.size(1));
  }
}

}  // namespace

std::string to_string(EdgeFate fate) {
  switch (fate) {
    case EdgeFate::kept:
      return "kept";
    case EdgeFate::weakened:
      return "weakened";
    case EdgeFate::created:
      return "new";
    case EdgeFate::absent:
      return "absent";
  }
  throw InternalError("an edge without a fate");
}

int64_t ItemExplanation::count(EdgeFate fate) const {
  return std::count_if(edges.begin(), edges.end(),
                       [&](const ExplainedEdge& edge) { return edge.fate == fate; });
}

bool ItemExplanation::in_kept_subgraph(const ExplainedEdge& edge) const {
  return edge.fate != EdgeFate::absent && nodes[edge.source].kept() && nodes[edge.target].kept();
}

int64_t ItemExplanation::kept_nodes() const {
  return std::count_if(nodes.begin(), nodes.end(),
                       [](const ExplainedNode& node) { return node.kept(); });
}

int64_t ItemExplanation::kept_edges() const {
  return std::count_if(edges.begin(), edges.end(),
                       [&](const ExplainedEdge& edge) { return in_kept_subgraph(edge); });
}

int64_t ItemExplanation::unclear() const {
  return std::count_if(edges.begin(), edges.end(),
                       [](const ExplainedEdge& edge) { return !edge.clear; });
}

std::string no_difference(const ItemExplanation& e) {
  if (e.differ || e.edges.size() < 2) return "";
  if (e.high - e.low <= rounding(e)) {
    return "The weights do not differ: all of them are equal, so the model does not tell these "
           "edges apart.";
  }
  return fmt::format(
      "The weights do not differ: they span {:.2g} (from {:.4f} to {:.4f}), while a weight varies "
      "by {:.2g} from sample to sample.",
      e.high - e.low, e.low, e.high, e.noise);
}

bool has_own_explanation(Method& method, const Graph& graph, int64_t item) {
  bool generated = false;
  return own_graph(method, graph, item, generated).has_value();
}

ItemExplanation explain_item(Method& method, const std::string& name, const Domain& domain,
                             int64_t item, double temperature, ExplainBy by) {
  const Graph& graph = domain.graph;
  ensure(item >= 0 && item < graph.items(), "explain_item: an item of the domain");
  ItemExplanation e;
  e.by = by;
  const GeneratedGraph g = graph_behind(method, name, graph, item, by, e.generated);
  const bool set = graph.level() == Level::graph;
  const auto called = [&](int64_t id) {
    return domain.item_names.empty() ? std::to_string(id) : domain.item_names[id];
  };
  e.method = name;
  e.level = graph.level();
  e.domain = domain.name;
  e.item = item;
  e.name = called(item);
  const torch::Tensor logits = method.logits(graph, torch::full({1}, item, torch::kInt64)).cpu();
  const torch::Tensor p =
      tempered_probabilities(logits.detach(), temperature).to(torch::kFloat64).contiguous();
  const bool present = !g.presence.defined() || torch::isfinite(g.presence).all().item<bool>();
  if (!torch::isfinite(p).all().item<bool>() || !torch::isfinite(g.samples).all().item<bool>() ||
      !present) {
    fail(ErrorKind::data,
         "the prediction for {} of {} is not a number: weights or features are too large", e.name,
         e.domain);
  }
  e.probabilities.assign(p.data_ptr<double>(), p.data_ptr<double>() + p.numel());
  e.predicted = predicted_class(logits.detach()).item<int64_t>();
  if (domain.labels.y.defined() && domain.labels.y.dim() == 1)
    e.label = domain.labels.y[item].item<int64_t>();
  e.centre = g.centre;
  e.prior = g.prior;
  const torch::Tensor nodes = g.nodes.contiguous();
  const int64_t* id = nodes.data_ptr<int64_t>();
  const int64_t first = set ? graph.parts[item].item<int64_t>() : 0;
  for (int64_t k = 0; k < nodes.numel(); ++k) {
    ExplainedNode node;
    node.id = id[k] - first;
    node.name = set ? std::to_string(node.id) : called(node.id);
    if (g.distance.defined()) node.distance = g.distance[k].item<double>();
    e.nodes.push_back(node);
  }
  tie(g, e);
  judge(domain, id, e);
  if (g.presence.defined()) take_presence(g, e);
  return e;
}

}  // namespace grm
