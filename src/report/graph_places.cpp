// Where the nodes of a small graph are drawn, and lines that go around them.
#include <algorithm>
#include <cmath>

#include "grm/core/error.h"
#include "report/graph_places.h"

namespace grm::report {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kSteps = 200;
constexpr int kTried = 24;  // stretches of a line whose ends are compared with the nodes

using Edge = Link;

// Fills the unit square, both axes by the same factor where the graph is not flat.
void fill_square(std::vector<Place>& places) {
  Place low{1e300, 1e300}, high{-1e300, -1e300};
  for (const Place& p : places) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const double size = std::max({high.x - low.x, high.y - low.y, 1e-9});
  for (Place& p : places) {
    p.x = 0.5 + (p.x - 0.5 * (low.x + high.x)) / size;
    p.y = 0.5 + (p.y - 0.5 * (low.y + high.y)) / size;
  }
}

// Distance of the nearest node that is no end of the line.
double nearest(const std::vector<Place>& places, size_t a, size_t b, double bend) {
  double least = 1e300;
  for (int s = 1; s < kTried; ++s) {
    const Place at = on_line(places[a], places[b], bend, static_cast<double>(s) / kTried);
    for (size_t c = 0; c < places.size(); ++c) {
      if (c == a || c == b) continue;
      least = std::min(least, std::hypot(at.x - places[c].x, at.y - places[c].y));
    }
  }
  return least;
}

}  // namespace

std::vector<Place> place_nodes(int64_t nodes, const std::vector<Edge>& edges) {
  std::vector<Place> places(static_cast<size_t>(nodes));
  if (nodes == 0) return places;
  for (int64_t k = 0; k < nodes; ++k) {
    const double angle = 2 * kPi * static_cast<double>(k) / static_cast<double>(nodes);
    places[static_cast<size_t>(k)] = {0.5 + 0.5 * std::sin(angle), 0.5 - 0.5 * std::cos(angle)};
  }
  // Fruchterman and Reingold: nodes repel with k^2 / d, edges pull with d^2 / k, and no node moves
  // farther than a temperature that falls to zero.
  const double ideal = std::sqrt(1.0 / static_cast<double>(nodes));
  std::vector<Place> push(places.size());
  for (int step = 0; step < kSteps; ++step) {
    std::fill(push.begin(), push.end(), Place{});
    const auto act = [&](size_t a, size_t b, auto&& force) {
      double dx = places[a].x - places[b].x, dy = places[a].y - places[b].y;
      double distance = std::hypot(dx, dy);
      if (distance < 1e-6) {  // on top of each other: part them along one direction
        dx = 1e-6;
        dy = 0.0;
        distance = 1e-6;
      }
      const double f = force(distance) / distance;
      push[a].x += f * dx;
      push[a].y += f * dy;
      push[b].x -= f * dx;
      push[b].y -= f * dy;
    };
    for (size_t a = 0; a < places.size(); ++a) {
      for (size_t b = a + 1; b < places.size(); ++b) {
        act(a, b, [&](double d) { return ideal * ideal / d; });
      }
    }
    for (const Edge& edge : edges) {
      ensure(edge.a >= 0 && edge.a < nodes && edge.b >= 0 && edge.b < nodes,
             "place_nodes: an edge ends outside of the graph");
      if (edge.a == edge.b) continue;
      act(static_cast<size_t>(edge.a), static_cast<size_t>(edge.b),
          [&](double d) { return -d * d / ideal; });
    }
    const double temperature = 0.1 * (1.0 - static_cast<double>(step) / kSteps);
    for (size_t k = 0; k < places.size(); ++k) {
      // A weak pull to the middle keeps parts that hang together with nothing in sight.
      push[k].x -= 0.3 * (places[k].x - 0.5);
      push[k].y -= 0.3 * (places[k].y - 0.5);
      const double length = std::hypot(push[k].x, push[k].y);
      if (length < 1e-12) continue;
      const double move = std::min(length, temperature) / length;
      places[k].x += move * push[k].x;
      places[k].y += move * push[k].y;
    }
  }
  fill_square(places);
  return places;
}

Place on_line(const Place& a, const Place& b, double bend, double t) {
  const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-12);
  // A parabola that starts in a, ends in b and is `bend` to the side half way.
  const double aside = 4 * bend * t * (1 - t) / length;
  return {a.x + t * (b.x - a.x) - aside * (b.y - a.y), a.y + t * (b.y - a.y) + aside * (b.x - a.x)};
}

double bend_of(const std::vector<Place>& places, int64_t a, int64_t b, double room) {
  const auto from = static_cast<size_t>(a), to = static_cast<size_t>(b);
  double best = 0.0, widest = nearest(places, from, to, 0.0);
  for (const double bend : {1.6, -1.6, 2.6, -2.6, 4.0, -4.0}) {
    if (widest >= room) break;
    const double distance = nearest(places, from, to, bend * room);
    if (distance > widest) {
      widest = distance;
      best = bend * room;
    }
  }
  return best;
}

}  // namespace grm::report
