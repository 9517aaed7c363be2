#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "report/explain_files.h"
#include "report/graphviz.h"

namespace grm::report {
namespace graphviz {

std::string dot_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      out += c == '\n' ? "\\n" : " ";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string with_opacity(const char* colour, bool clear) {
  return fmt::format("{}{}", colour, clear ? "FF" : "66");
}

double pen_of(const ItemExplanation& e, double share) {
  return e.nodes.size() <= kFewNodes ? 0.5 + 3.5 * share : 0.4 + 1.8 * share;
}

std::string text_line(const std::string& id, const std::string& text, const Place& at, double width,
                      double size, const std::string& more) {
  return fmt::format(
      "  {} [shape=plaintext, style=\"\", width={:.3f}, height={:.3f}, margin=0, label={}, "
      "tooltip=\" \", pos=\"{:.1f},{:.1f}\", fontsize={:.1f}{}];\n",
      id, width / 72, 1.3 * size / 72, text, at.x, at.y, size, more);
}

double Canvas::bend(const ExplainedEdge& edge) const {
  // Lines with an arrow head are cut off at nodes by Graphviz, which it does to straight ones.
  const bool free = places.size() <= kFewNodes && edge.forward == edge.backward;
  return free ? bend_of(places, edge.source, edge.target, 0.7 * node) : 0.0;
}

}  // namespace graphviz

namespace {

using namespace graphviz;

constexpr double kMargin = 26.0;  // around each graph
constexpr double kHead = 26.0;    // for the title of a graph
constexpr size_t kFewEdges = 40;  // up to here they have numbers
constexpr double kLabelWidth = 19.0, kLabelHeight = 9.0;

Canvas make_canvas(const ItemExplanation& e, size_t legend_rows) {
  std::vector<Link> springs;
  for (const ExplainedEdge& edge : e.edges) {
    if (edge.observed()) springs.push_back({edge.source, edge.target});
  }
  const double span = std::max(260.0, 55.0 * std::sqrt(static_cast<double>(e.nodes.size())));
  Canvas canvas;
  canvas.places = place_nodes(static_cast<int64_t>(e.nodes.size()), springs);
  canvas.node = e.nodes.size() <= 20 ? 25.0 : 16.0;
  canvas.base = kLegendRow * static_cast<double>(legend_rows) + 10.0;
  // No side is narrower than its title.
  Place low{0.5, 0.5}, high{0.5, 0.5};
  for (const Place& p : canvas.places) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const double wide = std::max(290.0, span * (high.x - low.x)), tall = span * (high.y - low.y);
  for (Place& p : canvas.places) {
    p = {kMargin + wide / 2 + span * (p.x - 0.5 * (low.x + high.x)),
         canvas.base + kMargin + span * (p.y - low.y)};
  }
  canvas.width = wide + 2 * kMargin;
  canvas.height = tall + 2 * kMargin;
  canvas.shift = canvas.width + kGap;
  return canvas;
}

// What fits into a node; the whole name is in the tooltip.
std::string fitting(const std::string& name) {
  return name.size() <= 4 ? name : "";
}

// White where z is nearest to h, purple where it is farthest.
std::string fill_of(const std::optional<Scale>& scale, double distance) {
  if (!scale || scale->flat() || !std::isfinite(distance)) return "#FFFFFF";
  const double share = (*scale)(distance);
  const auto mix = [&](int colour) { return static_cast<int>(255 - share * (255 - colour)); };
  return fmt::format("#{:02X}{:02X}{:02X}", mix(0xCC), mix(0x79), mix(0xA7));
}

// A generated node that is not in the kept subgraph.
constexpr const char* kLeftOut = ", style=\"filled,dotted\", fontcolor=\"#999999\"";

std::string node_line(const ItemExplanation& e, const Canvas& canvas, size_t k, bool generated) {
  const ExplainedNode& node = e.nodes[k];
  const bool centre = static_cast<int64_t>(k) == e.centre;
  std::string tip = (centre ? "explained: " : "") + node.name;
  if (generated && std::isfinite(node.distance))
    tip += fmt::format(", |z-h| {:.4g}", node.distance);
  if (generated && std::isfinite(node.presence)) {
    tip += fmt::format(", presence {:.3f}", node.presence);
  }
  const Place at = {canvas.places[k].x + (generated ? canvas.shift : 0.0), canvas.places[k].y};
  std::string out =
      fmt::format("    {}{} [label={}, tooltip={}, pos=\"{:.1f},{:.1f}\", fillcolor=\"{}\"{}{}];\n",
                  generated ? "g" : "o", k, dot_text(fitting(node.name)), dot_text(tip), at.x, at.y,
                  generated ? fill_of(distance_scale(e), node.distance) : "#FFFFFF",
                  centre ? ", shape=doublecircle, penwidth=1.5, color=\"#000000\"" : "",
                  generated && !node.kept() ? kLeftOut : "");
  // Long names stand below their nodes, on the side that has fewer lines.
  if (!generated && fitting(node.name).empty() && e.nodes.size() <= 20) {
    out += text_line(fmt::format("n{}", k), dot_text(shortened(node.name, 14)),
                     {at.x, at.y - canvas.node / 2 - (centre ? 10.0 : 6.0)}, 70.0, 7.0);
  }
  return out;
}

// An arrow head only where one direction alone is observed.
const char* heads_of(const ExplainedEdge& edge) {
  return edge.forward == edge.backward ? "none" : edge.forward ? "forward" : "back";
}

// The course of a line that goes around a node, as Graphviz takes it: a cubic curve.
std::string course_of(const Canvas& canvas, const ExplainedEdge& edge, double shift) {
  const double bend = canvas.bend(edge);
  if (bend == 0.0) return "";
  const Place a = canvas.places[edge.source], b = canvas.places[edge.target];
  const Place q = on_line(a, b, 2 * bend, 0.5);  // of the quadratic curve
  const auto mix = [&](const Place& end) {
    return fmt::format("{:.1f},{:.1f}", shift + end.x + 2 * (q.x - end.x) / 3,
                       end.y + 2 * (q.y - end.y) / 3);
  };
  return fmt::format(", pos=\"{:.1f},{:.1f} {} {} {:.1f},{:.1f}\"", shift + a.x, a.y, mix(a),
                     mix(b), shift + b.x, b.y);
}

std::string observed_line(const ItemExplanation& e, const Canvas& canvas,
                          const ExplainedEdge& edge) {
  const bool makes_label = edge.truth == 1;
  return fmt::format("    o{} -> o{} [dir={}, tooltip={}, color=\"{}\", penwidth={}{}];\n",
                     edge.source, edge.target, heads_of(edge),
                     dot_text(e.nodes[edge.source].name + " - " + e.nodes[edge.target].name +
                              (makes_label ? ", makes the label" : "")),
                     makes_label ? "#000000" : kObserved, makes_label ? 2.6 : 1.2,
                     course_of(canvas, edge, 0.0));
}

const char* colour_of(EdgeFate fate) {
  return fate == EdgeFate::kept ? kKept : fate == EdgeFate::weakened ? kWeakened : kNew;
}

std::string generated_line(const ItemExplanation& e, const Canvas& canvas,
                           const ExplainedEdge& edge, double share) {
  return fmt::format(
      "    g{} -> g{} [dir={}, tooltip={}, color=\"{}\", penwidth={:.2f}, style={}{}];\n",
      edge.source, edge.target, heads_of(edge),
      dot_text(fmt::format("{} - {}: {}, {:.4g} +- {:.2g}{}", e.nodes[edge.source].name,
                           e.nodes[edge.target].name, to_string(edge.fate), edge.weight,
                           edge.spread, edge.clear ? "" : ", not told from the mean")),
      with_opacity(colour_of(edge.fate), edge.clear), pen_of(e, share),
      edge.fate == EdgeFate::weakened ? "dashed" : "solid", course_of(canvas, edge, canvas.shift));
}

// The weights beside their lines, heavy ones first; a number without room is left to the tooltip.
std::string weight_labels(const DrawnEdges& drawn, const Canvas& canvas) {
  if (drawn.edges.size() > kFewEdges || canvas.places.size() > kFewNodes) return "";
  std::vector<DrawnLine> lines;
  for (auto edge = drawn.edges.rbegin(); edge != drawn.edges.rend(); ++edge) {
    lines.push_back(
        {canvas.places[(*edge)->source], canvas.places[(*edge)->target], canvas.bend(**edge)});
  }
  const std::vector<std::optional<Place>> spots =
      label_places(lines, canvas.places, canvas.node / 2, kLabelWidth, kLabelHeight);
  std::string out;
  for (size_t k = 0; k < spots.size(); ++k) {
    if (!spots[k]) continue;
    const ExplainedEdge& edge = **(drawn.edges.rbegin() + static_cast<int64_t>(k));
    out += text_line(fmt::format("w{}", k), fmt::format("\"{:.2f}\"", edge.weight),
                     {spots[k]->x + canvas.shift, spots[k]->y}, kLabelWidth, 7.5,
                     fmt::format(", style=filled, fillcolor=\"#FFFFFFD8\", fontcolor=\"{}\", "
                                 "fixedsize=true",
                                 colour_of(edge.fate)));
  }
  return out;
}

std::string cluster_head(const char* name, const std::string& title, const Canvas& canvas,
                         double left) {
  const double top = canvas.base + canvas.height + kHead;
  return fmt::format(
      "  subgraph cluster_{} {{\n"
      "    graph [label={}, fontsize=11, color=\"#BBBBBB\", "
      "bb=\"{:.1f},{:.1f},{:.1f},{:.1f}\", lp=\"{:.1f},{:.1f}\"];\n",
      name, dot_text(title), left, canvas.base, left + canvas.width, top, left + canvas.width / 2,
      top - kHead / 2);
}

std::string title_of(const ItemExplanation& e) {
  const auto label = [&](int64_t c) { return e.labels.empty() ? std::to_string(c) : e.labels[c]; };
  return fmt::format("{} {} of {}: predicted {} with probability {:.2f}{}", to_string(e.level),
                     e.name, e.domain, label(e.predicted), e.probabilities[e.predicted],
                     e.label < 0 ? "" : ", true class " + label(e.label));
}

}  // namespace

std::string explanation_dot(const ItemExplanation& e) {
  const DrawnEdges drawn = drawn_edges(e);
  const std::vector<LegendItem> legend = legend_of(e, drawn);
  const Canvas canvas = make_canvas(e, (legend.size() + kLegendColumns - 1) / kLegendColumns);
  const Scale scale = weight_scale(e);
  const double width = 2 * canvas.width + kGap, height = canvas.base + canvas.height + 2 * kHead;
  std::string out =
      "// neato -n2 -Tsvg explanation.dot -o explanation.svg\n"
      "digraph explanation {\n";
  out += fmt::format(
      "  graph [label={}, labelloc=t, lp=\"{:.1f},{:.1f}\", bb=\"0,0,{:.1f},{:.1f}\", "
      "splines=line, outputorder=edgesfirst, fontname=\"Helvetica\", fontsize=13];\n",
      dot_text(title_of(e)), width / 2, height - kHead / 2, width, height);
  out += fmt::format(
      "  node [shape=circle, fixedsize=true, width={:.3f}, style=filled, color=\"#555555\", "
      "fontname=\"Helvetica\", fontsize={:.1f}];\n  edge [arrowsize=0.5];\n",
      canvas.node / 72, canvas.node > 20 ? 8.5 : 6.5);
  const int64_t kept = e.count(EdgeFate::kept), weakened = e.count(EdgeFate::weakened);
  out += cluster_head("observed",
                      fmt::format("observed: {} nodes, {} edges", e.nodes.size(), kept + weakened),
                      canvas, 0.0);
  for (size_t k = 0; k < e.nodes.size(); ++k) out += node_line(e, canvas, k, false);
  for (const ExplainedEdge& edge : e.edges) {
    if (edge.observed()) out += observed_line(e, canvas, edge);
  }
  out += "  }\n";
  std::string title =
      fmt::format("{}: {} kept, {} weakened", e.generated ? "generated" : "scored", kept, weakened);
  if (e.generated) title += fmt::format(", {} new", drawn.fresh);
  if (!e.differ)
    title = fmt::format("{}: the weights do not differ", e.generated ? "generated" : "scored");
  out += cluster_head("generated", title, canvas, canvas.shift);
  for (size_t k = 0; k < e.nodes.size(); ++k) out += node_line(e, canvas, k, true);
  for (const ExplainedEdge* edge : drawn.edges) {
    out += generated_line(e, canvas, *edge, scale(edge->weight));
  }
  return out + "  }\n" + weight_labels(drawn, canvas) + legend_lines(e, legend, canvas) + "}\n";
}

}  // namespace grm::report
