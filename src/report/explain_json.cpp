#include <cmath>

#include "core/json.h"
#include "report/explain_files.h"

namespace grm::report {
namespace {

using nlohmann::ordered_json;

// JSON has no NaN.
ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json label_json(const ItemExplanation& e, int64_t c) {
  if (c < 0) return nullptr;
  return {{"class", c}, {"label", e.labels.empty() ? std::to_string(c) : e.labels[c]}};
}

ordered_json predicted_json(const ItemExplanation& e) {
  ordered_json out = label_json(e, e.predicted);
  out["probability"] = e.probabilities[e.predicted];
  return out;
}

ordered_json node_json(const ItemExplanation& e, const ExplainedNode& node) {
  ordered_json out = {{"id", node.id},
                      {"name", node.name},
                      {"distance", number(node.distance)},
                      {"self_weight", number(node.self_weight)}};
  if (e.generates_nodes()) {
    out["presence"] = number(node.presence);
    out["presence_spread"] = number(node.presence_spread);
    out["kept"] = node.kept();
  }
  return out;
}

ordered_json stability_json(const Stability& s, const char* counted) {
  return {{"over", s.over}, {"members", s.members},           {counted, s.edges},
          {"top", s.top},   {"spearman", number(s.spearman)}, {"jaccard", number(s.jaccard)}};
}

ordered_json edge_json(const ItemExplanation& e, const ExplainedEdge& edge) {
  ordered_json out = {{"source", e.nodes[edge.source].id},
                      {"target", e.nodes[edge.target].id},
                      {"weight", edge.weight},
                      {"spread", edge.spread},
                      {"observed", edge.observed()},
                      {"fate", to_string(edge.fate)},
                      {"clear", edge.clear}};
  if (edge.observed()) {
    out["direction"] = edge.forward && edge.backward ? "both" : edge.forward ? "forward" : "back";
  }
  if (edge.truth >= 0) out["truth"] = edge.truth == 1;
  if (e.generates_nodes()) {
    out["presence"] = e.nodes[edge.source].presence * e.nodes[edge.target].presence;
    out["in_kept_subgraph"] = e.in_kept_subgraph(edge);
  }
  return out;
}

}  // namespace

std::string explanation_json(const ExplainedRuns& explained) {
  const ItemExplanation& e = explained.runs.front();
  ordered_json probabilities = ordered_json::array(), nodes = ordered_json::array(),
               edges = ordered_json::array(), runs = ordered_json::array();
  for (const double p : e.probabilities) probabilities.push_back(p);
  for (const ExplainedNode& node : e.nodes) nodes.push_back(node_json(e, node));
  for (const ExplainedEdge& edge : e.edges) edges.push_back(edge_json(e, edge));
  for (const ItemExplanation& run : explained.runs) {
    runs.push_back({{"run", run.run}, {"seed", run.seed}, {"predicted", predicted_json(run)}});
  }
  const int64_t kept = e.count(EdgeFate::kept), weakened = e.count(EdgeFate::weakened);
  ordered_json out = {
      {"format", 1},
      {"run", e.run},
      {"dataset", e.dataset},
      {"method", e.method},
      {"preset", e.preset},
      {"seed", e.seed},
      {"level", to_string(e.level)},
      {"domain", e.domain},
      {"item", e.item},
      {"name", e.name},
      {"predicted", predicted_json(e)},
      {"true", label_json(e, e.label)},
      {"labels", e.labels},
      {"probabilities", probabilities},
      {"generated", e.generated},
      {"by", to_string(e.by)},
      {"samples", e.samples.size()},
      {"centre", e.centre < 0 ? ordered_json(nullptr) : ordered_json(e.nodes[e.centre].id)},
      {"prior", number(e.prior)},
      {"threshold", e.threshold},
      {"range", {e.low, e.high}},
      {"noise", e.noise},
      {"differ", e.differ},
      {"counts",
       {{"nodes", e.nodes.size()},
        {"edges", e.edges.size()},
        {"observed", kept + weakened},
        {"kept", kept},
        {"weakened", weakened},
        {"new", e.count(EdgeFate::created)},
        {"unclear", e.unclear()}}},
      {"stability", stability_json(explained.stability, "edges")},
      {"runs", runs},
      {"nodes", nodes},
      {"edges", edges}};
  if (e.generates_nodes()) {
    out["presence"] = {{"threshold", kKeptPresence},
                       {"prior", number(e.presence_prior)},
                       {"kept_nodes", e.kept_nodes()},
                       {"kept_edges", e.kept_edges()},
                       {"stability", stability_json(explained.presence_stability, "nodes")}};
  }
  return json_text(out, 2) + "\n";
}

}  // namespace grm::report
