#include <fmt/core.h>

#include <algorithm>

#include "report/graphviz.h"

namespace grm::report::graphviz {

std::vector<LegendItem> legend_of(const ItemExplanation& e, const DrawnEdges& drawn) {
  using Sample = LegendItem::Sample;
  const auto coloured = [](const char* colour, double pen, const char* style) {
    return fmt::format("color=\"{}\", penwidth={}, style={}", colour, pen, style);
  };
  const char* number = e.generated ? "weight" : "score";
  std::vector<LegendItem> items = {
      {Sample::line, "observed edge", coloured(kObserved, 1.2, "solid")}};
  if (std::any_of(e.edges.begin(), e.edges.end(),
                  [](const ExplainedEdge& edge) { return edge.truth == 1; })) {
    items.push_back({Sample::line, "known to make the label", coloured("#000000", 2.6, "solid")});
  }
  items.push_back({Sample::line, fmt::format("kept: observed, {} >= mean", number),
                   coloured(kKept, 2.5, "solid")});
  items.push_back({Sample::line, fmt::format("weakened: observed, {} < mean", number),
                   coloured(kWeakened, 1.8, "dashed")});
  if (e.generated) {
    items.push_back({Sample::line,
                     drawn.shown == drawn.fresh ? "new: not observed, >= mean"
                                                : fmt::format("new: the {} heaviest of {} drawn",
                                                              drawn.shown, drawn.fresh),
                     coloured(kNew, 2.5, "solid")});
  }
  items.push_back({Sample::widths,
                   e.generated ? fmt::format("weight 0 to 1; here {:.3f} to {:.3f}", e.low, e.high)
                               : fmt::format("score {:.3g} to {:.3g}", e.low, e.high),
                   ""});
  if (e.unclear() > 0) {
    items.push_back({Sample::line,
                     fmt::format("faint: within 2 x spread of the mean {:.3f}", e.threshold),
                     coloured("#33333366", 2.5, "solid")});
  }
  if (const std::optional<Scale> distance = distance_scale(e)) {
    items.push_back({Sample::fills,
                     fmt::format("|z - h| {:.3g} to {:.3g}", distance->low, distance->high), ""});
  }
  if (e.generates_nodes()) {
    items.push_back({Sample::left_out, fmt::format("dotted: presence < {:g}", kKeptPresence), ""});
  }
  if (e.centre >= 0) items.push_back({Sample::centre, "the explained node", ""});
  return items;
}

std::string legend_lines(const ItemExplanation& e, const std::vector<LegendItem>& items,
                         const Canvas& canvas) {
  using Sample = LegendItem::Sample;
  const double column = (2 * canvas.width + kGap) / kLegendColumns;
  std::string out;
  const auto dot = [&](const std::string& id, double x, double y, const std::string& more) {
    out += fmt::format("  {} [label=\"\", tooltip=\" \", pos=\"{:.1f},{:.1f}\", {}];\n", id, x, y,
                       more);
  };
  for (size_t k = 0; k < items.size(); ++k) {
    const LegendItem& item = items[k];
    const double x = 4.0 + column * static_cast<double>(k % kLegendColumns);
    const double y =
        canvas.base - 6.0 - kLegendRow * (static_cast<double>(k / kLegendColumns) + 0.5);
    const auto line = [&](const std::string& part, double from, double to,
                          const std::string& look) {
      const std::string id = fmt::format("l{}{}", k, part);
      dot(id + "a", from, y, "shape=point, style=invis, width=0.01");
      dot(id + "b", to, y, "shape=point, style=invis, width=0.01");
      out += fmt::format("  {0}a -> {0}b [dir=none, {1}];\n", id, look);
    };
    if (item.sample == Sample::line) line("", x, x + 26, item.look);
    if (item.sample == Sample::widths) {
      for (int w = 0; w < 3; ++w) {
        line(std::to_string(w), x + 9 * w, x + 9 * w + 7,
             fmt::format("color=\"{}\", penwidth={:.2f}", with_opacity("#333333", true),
                         pen_of(e, 0.5 * w)));
      }
    }
    if (item.sample == Sample::fills) {
      dot(fmt::format("l{}a", k), x + 6, y, "width=0.14, fillcolor=\"#FFFFFF\"");
      dot(fmt::format("l{}b", k), x + 20, y, fmt::format("width=0.14, fillcolor=\"{}\"", kFar));
    }
    if (item.sample == Sample::left_out) {
      dot(fmt::format("l{}a", k), x + 13, y,
          "width=0.14, fillcolor=\"#FFFFFF\", style=\"filled,dotted\"");
    }
    if (item.sample == Sample::centre) {
      dot(fmt::format("l{}a", k), x + 13, y,
          "shape=doublecircle, width=0.12, fillcolor=\"#FFFFFF\", color=\"#000000\"");
    }
    // Left-justified in a box that is as wide as the column.
    const double width = column - 36;
    std::string text = dot_text(item.text);
    text.insert(text.size() - 1, "\\l");
    out += text_line(fmt::format("t{}", k), text, {x + 32 + width / 2, y}, width, 9.0,
                     ", fixedsize=true");
  }
  return out;
}

}  // namespace grm::report::graphviz
