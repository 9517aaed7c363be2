#pragma once

#include "report/explain_drawing.h"

// The parts of the picture that Graphviz draws. Lengths are in points, as Graphviz counts them.
namespace grm::report::graphviz {

// Distinct for colour-blind readers (Okabe and Ito).
inline constexpr const char* kKept = "#0072B2";
inline constexpr const char* kWeakened = "#D55E00";
inline constexpr const char* kNew = "#009E73";
inline constexpr const char* kObserved = "#777777";
inline constexpr const char* kFar = "#CC79A7";  // a node whose z is far from h
constexpr size_t kFewNodes = 40;                // up to here lines go around nodes and are thicker
constexpr double kGap = 24.0;                   // between the two graphs
constexpr double kLegendRow = 16.0;
constexpr size_t kLegendColumns = 3;

/// In quotes. Graphviz expands backslashes in labels; line breaks are written as one of those.
std::string dot_text(const std::string& text);

/// Faint for what the samples do not tell from the mean.
std::string with_opacity(const char* colour, bool clear);
/// Thicker for a larger share, 0 to 1.
double pen_of(const ItemExplanation& e, double share);

/// A node that is a text without a frame; its place is that of its middle. `text` is in quotes.
std::string text_line(const std::string& id, const std::string& text, const Place& at, double width,
                      double size, const std::string& more = "");

/// Where everything stands. The same places serve both graphs, `shift` apart.
struct Canvas {
  std::vector<Place> places;
  double width = 0.0, height = 0.0;  // of one graph without its title
  double shift = 0.0;
  double base = 0.0;  // height of the legend, which lies below
  double node = 0.0;  // diameter

  double bend(const ExplainedEdge& edge) const;
};

/// What the colours, widths and fills mean: a sample and a text, some in a row.
struct LegendItem {
  enum class Sample { line, widths, fills, centre, left_out } sample = Sample::line;
  std::string text;
  std::string look;  // attributes of a line
};
std::vector<LegendItem> legend_of(const ItemExplanation& e, const DrawnEdges& drawn);
std::string legend_lines(const ItemExplanation& e, const std::vector<LegendItem>& items,
                         const Canvas& canvas);

}  // namespace grm::report::graphviz
