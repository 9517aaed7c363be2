// An explanation of one item, as two graphs side by side.
#include <algorithm>
#include <cmath>

#include "report/explain_drawing.h"
#include "report/html_data.h"

namespace grm::report {
namespace {

using Kind = GraphPicture::Kind;

constexpr size_t kListedEdges = 10;

std::string class_name(const ItemExplanation& e, int64_t c) {
  return static_cast<size_t>(c) < e.labels.size() ? e.labels[static_cast<size_t>(c)]
                                                  : std::to_string(c);
}

// Nothing prints as -0.00.
double plain_zero(double value) {
  return std::abs(value) < 0.005 ? 0.0 : value;
}

std::vector<std::string> facts_of(const ItemExplanation& e, const Stability& stability) {
  std::vector<std::string> facts;
  std::string verdict =
      fmt::format("Predicted {} with probability {:.2f}", class_name(e, e.predicted),
                  e.probabilities[static_cast<size_t>(e.predicted)]);
  if (e.label >= 0) {
    verdict += e.label == e.predicted ? ", which is right"
                                      : fmt::format("; the truth is {}", class_name(e, e.label));
  }
  facts.push_back(verdict + ".");
  const int64_t kept = e.count(EdgeFate::kept), weakened = e.count(EdgeFate::weakened);
  if (e.edges.empty()) {
    facts.push_back("There are no edges to weigh.");
  } else if (const std::string flat = no_difference(e); !flat.empty()) {
    facts.push_back(flat);
  } else {
    std::string edges =
        fmt::format("Of {} observed edges {} kept, {} weakened", kept + weakened, kept, weakened);
    if (e.generated) edges += fmt::format("; {} new", e.count(EdgeFate::created));
    facts.push_back(edges + fmt::format(" (line: the mean weight {:.3g}).", e.threshold));
    facts.push_back(fmt::format("Weights {:.3f} to {:.3f}.", e.low, e.high));
    if (e.samples.size() > 1) {
      facts.back() = fmt::format(
          "Weights {:.3f} to {:.3f}, spread over samples {:.3f}; {} of {} edges are not told from "
          "the mean.",
          e.low, e.high, e.noise, e.unclear(), e.edges.size());
    }
  }
  double distance = 0.0;
  for (const ExplainedNode& node : e.nodes) distance += node.distance;
  distance /= static_cast<double>(e.nodes.size());
  if (std::isfinite(distance)) {
    std::string text = fmt::format("Distance between z and h: {:.2f} on average", distance);
    if (e.centre >= 0) {
      text += fmt::format(", {:.2f} at the node itself",
                          e.nodes[static_cast<size_t>(e.centre)].distance);
    }
    facts.push_back(text + ".");
  }
  if (stability.members > 1 && std::isfinite(stability.spearman)) {
    const std::string top = stability.top == 1
                                ? "the heaviest edge"
                                : fmt::format("the {} heaviest edges", stability.top);
    facts.push_back(fmt::format(
        "Agreement over {} {}: rank correlation {:.2f}, overlap of {} {:.2f}.", stability.members,
        stability.over, plain_zero(stability.spearman), top, stability.jaccard));
  }
  return facts;
}

// The heaviest edges of both kinds, by name.
Table heaviest(const ItemExplanation& e, const DrawnEdges& drawn) {
  std::vector<const ExplainedEdge*> order = drawn.edges;
  std::stable_sort(order.begin(), order.end(), [](const ExplainedEdge* a, const ExplainedEdge* b) {
    return a->weight > b->weight;
  });
  Table layout;
  if (order.empty()) return layout;
  const bool all = order.size() <= kListedEdges;
  order.resize(std::min(order.size(), kListedEdges));
  layout.title = all ? "Edges" : fmt::format("The {} heaviest edges", order.size());
  layout.head = {"edge", e.generated ? "weight" : "score", "spread", "fate"};
  for (const ExplainedEdge* edge : order) {
    layout.rows.push_back({{e.nodes[edge->source].name + " – " + e.nodes[edge->target].name},
                           {fmt::format("{:.3f}", edge->weight)},
                           {fmt::format("{:.3f}", edge->spread)},
                           {to_string(edge->fate)}});
  }
  layout.notes = {
      fmt::format("Spread: deviation over the {} samples of z. 'grm explain' writes all edges.",
                  e.samples.size())};
  if (e.samples.size() < 2) {
    for (auto& row : layout.rows) row.erase(row.begin() + 2);
    layout.head.erase(layout.head.begin() + 2);
    layout.notes = {"'grm explain' writes all edges."};
  }
  return layout;
}

void add_distances(const ItemExplanation& e, GraphPicture& picture) {
  const std::optional<Scale> scale = distance_scale(e);
  if (!scale) return;
  for (const ExplainedNode& node : e.nodes) {
    const bool known = std::isfinite(node.distance);
    picture.shades.push_back(known && !scale->flat() ? (*scale)(node.distance) : 0.0);
    picture.tips.push_back(known ? fmt::format(", distance {:.3g}", node.distance) : "");
  }
}

}  // namespace

GraphPicture picture_of(const ItemExplanation& e, const Stability& stability) {
  GraphPicture picture;
  picture.caption =
      fmt::format("{} {} of {}", e.level == Level::graph ? "Graph" : "Node", e.name, e.domain);
  picture.facts = facts_of(e, stability);
  picture.target = e.centre;
  for (const ExplainedNode& node : e.nodes) picture.nodes.push_back(node.name);
  GraphPicture::Side observed{"observed", {}};
  GraphPicture::Side generated{e.generated ? "generated" : "weighed by the method", {}};
  for (const ExplainedEdge& edge : e.edges) {
    if (!edge.observed()) continue;
    observed.edges.push_back(
        {edge.source, edge.target, 0.25, 1.0, edge.truth == 1 ? Kind::truth : Kind::plain});
  }
  const Scale scale = weight_scale(e);
  const DrawnEdges drawn = drawn_edges(e);
  for (const ExplainedEdge* edge : drawn.edges) {
    generated.edges.push_back({edge->source, edge->target, scale(edge->weight), edge->weight,
                               edge->fate == EdgeFate::kept       ? Kind::kept
                               : edge->fate == EdgeFate::weakened ? Kind::weakened
                                                                  : Kind::added,
                               edge->spread, scale(edge->weight + edge->spread), edge->clear});
  }
  if (drawn.shown < drawn.fresh) {
    picture.facts.push_back(
        fmt::format("The {} heaviest of the {} new edges are drawn.", drawn.shown, drawn.fresh));
  }
  add_distances(e, picture);
  picture.numbers = heaviest(e, drawn);
  picture.sides = {std::move(observed), std::move(generated)};
  return picture;
}

}  // namespace grm::report
