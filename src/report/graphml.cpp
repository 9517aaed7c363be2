#include <fmt/core.h>

#include <cmath>

#include "core/text.h"
#include "report/explain_files.h"

namespace grm::report {
namespace {

struct Key {
  const char* id;
  const char* of;  // node, edge or graph
  const char* name;
  const char* type;
};

constexpr Key kKeys[] = {{"name", "node", "name", "string"},
                         {"id", "node", "id", "long"},
                         {"centre", "node", "centre", "boolean"},
                         {"distance", "node", "distance", "double"},
                         {"self", "node", "self_weight", "double"},
                         {"presence", "node", "presence", "double"},
                         {"weight", "edge", "weight", "double"},
                         {"spread", "edge", "spread", "double"},
                         {"observed", "edge", "observed", "boolean"},
                         {"fate", "edge", "fate", "string"},
                         {"clear", "edge", "clear", "boolean"},
                         {"direction", "edge", "direction", "string"},
                         {"truth", "edge", "truth", "boolean"},
                         {"item", "graph", "item", "string"},
                         {"domain", "graph", "domain", "string"},
                         {"method", "graph", "method", "string"},
                         {"predicted", "graph", "predicted", "string"},
                         {"probability", "graph", "probability", "double"},
                         {"threshold", "graph", "threshold", "double"},
                         {"noise", "graph", "noise", "double"},
                         {"differ", "graph", "differ", "boolean"}};

std::string data(const char* key, const std::string& value) {
  return fmt::format("<data key=\"{}\">{}</data>", key, html_escape(value));
}
// Nothing for what is not known: readers take a missing value as just that.
std::string data(const char* key, double value) {
  return std::isfinite(value) ? fmt::format("<data key=\"{}\">{}</data>", key, value) : "";
}
std::string data(const char* key, bool value) {
  return fmt::format("<data key=\"{}\">{}</data>", key, value);
}

}  // namespace

std::string explanation_graphml(const ItemExplanation& e) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns "
      "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n";
  for (const Key& key : kKeys) {
    out += fmt::format("  <key id=\"{}.{}\" for=\"{}\" attr.name=\"{}\" attr.type=\"{}\"/>\n",
                       key.of, key.id, key.of, key.name, key.type);
  }
  out += "  <graph id=\"explanation\" edgedefault=\"undirected\">\n    ";
  out += data("graph.item", e.name) + data("graph.domain", e.domain) +
         data("graph.method", e.method) +
         data("graph.predicted",
              e.labels.empty() ? std::to_string(e.predicted) : e.labels[e.predicted]) +
         data("graph.probability", e.probabilities[e.predicted]) +
         data("graph.threshold", e.threshold) + data("graph.noise", e.noise) +
         data("graph.differ", e.differ) + "\n";
  for (size_t k = 0; k < e.nodes.size(); ++k) {
    const ExplainedNode& node = e.nodes[k];
    out += fmt::format("    <node id=\"n{}\">", node.id) + data("node.name", node.name) +
           fmt::format("<data key=\"node.id\">{}</data>", node.id) +
           data("node.centre", static_cast<int64_t>(k) == e.centre) +
           data("node.distance", node.distance) + data("node.self", node.self_weight) +
           data("node.presence", node.presence) + "</node>\n";
  }
  for (const ExplainedEdge& edge : e.edges) {
    out += fmt::format("    <edge source=\"n{}\" target=\"n{}\">", e.nodes[edge.source].id,
                       e.nodes[edge.target].id) +
           data("edge.weight", edge.weight) + data("edge.spread", edge.spread) +
           data("edge.observed", edge.observed()) + data("edge.fate", to_string(edge.fate)) +
           data("edge.clear", edge.clear);
    if (edge.observed()) {
      out += data("edge.direction", std::string(edge.forward && edge.backward ? "both"
                                                : edge.forward                ? "forward"
                                                                              : "back"));
    }
    if (edge.truth >= 0) out += data("edge.truth", edge.truth == 1);
    out += "</edge>\n";
  }
  return out + "  </graph>\n</graphml>\n";
}

}  // namespace grm::report
