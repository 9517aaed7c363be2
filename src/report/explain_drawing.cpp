#include "report/explain_drawing.h"

#include <algorithm>
#include <cmath>

namespace grm::report {
namespace {

constexpr size_t kFewestNew = 10, kMostNew = 30;
constexpr double kSpots[] = {0.5, 0.43, 0.57, 0.36, 0.64, 0.3, 0.7, 0.25, 0.75};
constexpr int kLookedAt = 24;  // stretches of a line

bool heavier(const ExplainedEdge* a, const ExplainedEdge* b) {
  return a->weight > b->weight;
}

void widen(std::optional<Scale>& scale, double value) {
  if (!std::isfinite(value)) return;
  scale = scale ? Scale{std::min(scale->low, value), std::max(scale->high, value)}
                : Scale{value, value};
}

// How near the closest other line comes to a place.
double free_room(const std::vector<DrawnLine>& lines, size_t mine, const Place& place) {
  double least = 1e300;
  for (size_t k = 0; k < lines.size(); ++k) {
    if (k == mine) continue;
    for (int s = 0; s <= kLookedAt; ++s) {
      const Place at =
          on_line(lines[k].from, lines[k].to, lines[k].bend, static_cast<double>(s) / kLookedAt);
      least = std::min(least, std::hypot(at.x - place.x, at.y - place.y));
    }
  }
  return least;
}

}  // namespace

DrawnEdges drawn_edges(const ItemExplanation& e) {
  std::vector<const ExplainedEdge*> observed, fresh;
  for (const ExplainedEdge& edge : e.edges) {
    if (edge.observed()) observed.push_back(&edge);
    if (edge.fate == EdgeFate::created) fresh.push_back(&edge);
  }
  std::stable_sort(observed.begin(), observed.end(), heavier);
  std::stable_sort(fresh.begin(), fresh.end(), heavier);
  DrawnEdges drawn;
  drawn.fresh = static_cast<int64_t>(fresh.size());
  fresh.resize(std::min(fresh.size(), std::clamp(observed.size(), kFewestNew, kMostNew)));
  drawn.shown = static_cast<int64_t>(fresh.size());
  drawn.edges.assign(fresh.rbegin(), fresh.rend());
  drawn.edges.insert(drawn.edges.end(), observed.rbegin(), observed.rend());
  return drawn;
}

Scale weight_scale(const ItemExplanation& e) {
  if (e.generated) return {0.0, 1.0};
  return e.differ ? Scale{e.low, e.high} : Scale{e.threshold, e.threshold};
}

std::optional<Scale> distance_scale(const ItemExplanation& e) {
  std::optional<Scale> scale;
  for (const ExplainedNode& node : e.nodes) widen(scale, node.distance);
  return scale;
}

std::vector<std::optional<Place>> label_places(const std::vector<DrawnLine>& lines,
                                               const std::vector<Place>& nodes, double radius,
                                               double width, double height) {
  std::vector<std::optional<Place>> places(lines.size());
  const auto covers = [&](const Place& a, const Place& b, double dx, double dy) {
    return std::abs(a.x - b.x) < dx && std::abs(a.y - b.y) < dy;
  };
  for (size_t k = 0; k < lines.size(); ++k) {
    double best = -1.0;
    for (const double t : kSpots) {
      const Place at = on_line(lines[k].from, lines[k].to, lines[k].bend, t);
      const bool taken =
          std::any_of(nodes.begin(), nodes.end(),
                      [&](const Place& node) {
                        return covers(at, node, radius + width / 2, radius + height / 2);
                      }) ||
          std::any_of(places.begin(), places.end(), [&](const std::optional<Place>& other) {
            return other && covers(at, *other, width, height);
          });
      if (taken) continue;
      // Room beyond the text itself is no gain: then the middle of the line is better.
      const double room = std::min(free_room(lines, k, at), width);
      if (room > best + 1e-9) {
        best = room;
        places[k] = at;
      }
    }
  }
  return places;
}

}  // namespace grm::report
