// Small graphs as inline SVG: places of the nodes, edges by weight and kind.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "grm/core/error.h"
#include "report/html.h"

namespace grm::report {
namespace {

constexpr double kSize = 300, kFrame = 18;
constexpr size_t kNamedNodes = 40;  // more names than that cover each other
constexpr size_t kNameLength = 4;   // inside of a node
constexpr size_t kCaptioned = 20;   // nodes whose longer names stand below them

using Edge = GraphPicture::Edge;
using Kind = GraphPicture::Kind;

const char* style_of(Kind kind) {
  switch (kind) {
    case Kind::truth:
      return "truth";
    case Kind::kept:
      return "kept";
    case Kind::weakened:
      return "weakened";
    case Kind::added:
      return "added";
    case Kind::plain:
      break;
  }
  return "plain";
}

double on_picture(double share) {
  return kFrame + share * (kSize - 2 * kFrame);
}

std::string short_enough(const std::string& text) {
  return text.size() <= kNameLength ? text : "";
}

// Names inside of nodes fit up to four characters; longer ones are left to titles and numbers.
double radius_of(const GraphPicture& picture) {
  if (picture.nodes.size() > kNamedNodes) return 4.5;
  size_t longest = 0;
  for (const std::string& name : picture.nodes)
    longest = std::max(longest, short_enough(name).size());
  return longest > 2 ? 11.5 : 8.5;
}

double width_of(double weight) {
  return 0.5 + 4.0 * std::clamp(weight, 0.0, 1.0);
}

std::string draw_line(const char* kind, const Place& a, const Place& b, double bend,
                      const std::string& look) {
  if (bend == 0.0) {
    return fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
        "{}</line>\n",
        kind, a.x, a.y, b.x, b.y, look);
  }
  // The control point of the parabola lies twice as far out as its middle.
  const Place control = on_line(a, b, 2 * bend, 0.5);
  return fmt::format(
      "<path class=\"{} bent\" d=\"M{:.1f},{:.1f}Q{:.1f},{:.1f} {:.1f},{:.1f}\" {}</path>\n", kind,
      a.x, a.y, control.x, control.y, b.x, b.y, look);
}

// Width is the weight, a light band around it the weight with its spread.
std::string draw_edge(const GraphPicture& picture, const Edge& edge,
                      const std::vector<Place>& places, double radius) {
  const Place a = places[static_cast<size_t>(edge.a)], b = places[static_cast<size_t>(edge.b)];
  const double bend = places.size() <= kNamedNodes ? bend_of(places, edge.a, edge.b, radius) : 0.0;
  std::string out;
  if (width_of(edge.reach) - width_of(edge.weight) > 0.05) {
    out += draw_line(fmt::format("{} doubt", style_of(edge.kind)).c_str(), a, b, bend,
                     fmt::format("stroke-width=\"{:.1f}\">", width_of(edge.reach)));
  }
  const std::string spread = edge.spread > 0 ? fmt::format(" ± {:.2g}", edge.spread) : "";
  return out +
         draw_line(style_of(edge.kind), a, b, bend,
                   fmt::format("stroke-width=\"{:.1f}\" stroke-opacity=\"{}\"><title>{} – {}: "
                               "{:.3g}{}{}</title>",
                               width_of(edge.weight), edge.clear ? "0.9" : "0.4",
                               html_escape(picture.nodes[static_cast<size_t>(edge.a)]),
                               html_escape(picture.nodes[static_cast<size_t>(edge.b)]), edge.value,
                               spread, edge.clear ? "" : ", not told from the mean"));
}

std::string draw_node(const GraphPicture& picture, size_t k, const Place& at, double radius,
                      bool shaded) {
  const bool target = static_cast<int64_t>(k) == picture.target;
  std::string tip = (target ? "explained: " : "") + picture.nodes[k];
  if (shaded && k < picture.tips.size()) tip += picture.tips[k];
  std::string out = fmt::format(
      "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}</title></circle>\n",
      target ? "target" : "node", at.x, at.y, radius, html_escape(tip));
  if (shaded && !target && k < picture.shades.size() && picture.shades[k] > 0) {
    out += fmt::format(
        "<circle class=\"shade\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" "
        "fill-opacity=\"{:.2f}\"/>\n",
        at.x, at.y, radius - 0.6, 0.5 * picture.shades[k]);
  }
  if (picture.nodes.size() <= kNamedNodes && !target && !short_enough(picture.nodes[k]).empty()) {
    out += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", at.x, at.y + 3,
                       html_escape(picture.nodes[k]));
  }
  return out;
}

// A long name below its node, on the first side, which has fewer lines. It stays in the frame.
std::string long_name(const GraphPicture& picture, size_t k, const Place& at, double radius) {
  const std::string& name = picture.nodes[k];
  if (picture.nodes.size() > kCaptioned || !short_enough(name).empty()) return "";
  const char* anchor = at.x < 0.15 * kSize ? "start" : at.x > 0.85 * kSize ? "end" : "middle";
  const double x = at.x < 0.15 * kSize ? at.x - radius : at.x > 0.85 * kSize ? at.x + radius : at.x;
  return fmt::format("<text class=\"name {}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", anchor, x,
                     at.y + radius + 9, html_escape(shortened(name, 14)));
}

std::string draw_side(const GraphPicture& picture, const GraphPicture::Side& side,
                      const std::vector<Place>& places, double height, bool shaded) {
  const double radius = radius_of(picture);
  std::string out =
      fmt::format("<div>\n<p>{}</p>\n<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                  html_escape(side.title), kSize, std::ceil(height),
                  html_escape(fmt::format("{}: {} nodes, {} edges", side.title,
                                          picture.nodes.size(), side.edges.size())));
  for (const Edge& edge : side.edges) {
    if (edge.a != edge.b) out += draw_edge(picture, edge, places, radius);
  }
  for (size_t k = 0; k < places.size(); ++k) {
    out += draw_node(picture, k, places[k], radius, shaded);
    if (!shaded) out += long_name(picture, k, places[k], radius);
  }
  return out + "</svg>\n</div>\n";
}

}  // namespace

std::string html_graph(const GraphPicture& picture) {
  ensure(!picture.sides.empty(), "html_graph: nothing to draw");
  std::vector<Place> places =
      place_nodes(static_cast<int64_t>(picture.nodes.size()), picture.sides.front().edges);
  double low = kSize, high = 0.0;
  for (Place& p : places) {
    p = {on_picture(p.x), on_picture(p.y)};
    low = std::min(low, p.y);
    high = std::max(high, p.y);
  }
  // A flat graph does not need a square.
  for (Place& p : places) p.y += kFrame - low;
  const double height = std::max(0.0, high - low) + 2 * kFrame + 6;
  std::string out = "<figure>\n<figcaption>" + html_escape(picture.caption);
  for (const std::string& fact : picture.facts) {
    out += "<span class=\"sub\">" + html_escape(fact) + "</span>";
  }
  out += "</figcaption>\n<div class=\"sides\">\n";
  for (size_t s = 0; s < picture.sides.size(); ++s) {
    out += draw_side(picture, picture.sides[s], places, height,
                     s > 0 && s + 1 == picture.sides.size());
  }
  out += "</div>\n";
  if (!picture.numbers.rows.empty()) out += html_details("Numbers", html_table(picture.numbers));
  return out + "</figure>\n";
}

}  // namespace grm::report
