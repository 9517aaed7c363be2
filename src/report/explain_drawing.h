#pragma once

#include <optional>

#include "grm/train/explain_item.h"
#include "report/graph_places.h"

// What the pictures of an explanation have in common, of Graphviz.
namespace grm::report {

/// The edges of the generated graph that are drawn: all observed ones and the heaviest of the new
/// ones, as many as there are observed edges, at least 10 and at most 30. In the order of drawing:
/// new ones lie below observed ones, and light ones below heavy ones.
struct DrawnEdges {
  std::vector<const ExplainedEdge*> edges;
  int64_t shown = 0;  // of the new edges
  int64_t fresh = 0;  // all of the new edges
};
DrawnEdges drawn_edges(const ItemExplanation& e);

/// The place of a number between two others: 0 to 1.
struct Scale {
  double low = 0.0, high = 0.0;
  bool flat() const { return !(high > low); }
  double operator()(double value) const { return flat() ? 0.5 : (value - low) / (high - low); }
};
/// By which weights are drawn: 0 to 1 for generated ones, the same for every item. Scores of other
/// methods have no scale of their own, so theirs is that of the item, or flat where they do not
/// differ.
Scale weight_scale(const ItemExplanation& e);
/// Of |z - h|; nothing where no node has one.
std::optional<Scale> distance_scale(const ItemExplanation& e);

/// A line of a picture, and where its number may stand.
struct DrawnLine {
  Place from, to;
  double bend = 0.0;
};
/// A place on each line where a text of this size covers neither a node nor the text of an earlier
/// line, as far from other lines as it gets; nothing where there is none.
std::vector<std::optional<Place>> label_places(const std::vector<DrawnLine>& lines,
                                               const std::vector<Place>& nodes, double radius,
                                               double width, double height);

}  // namespace grm::report
