#include "report/graph_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace grm::report {
namespace {

TEST(GraphPlaces, PlacesAreRepeatableDistinctAndInTheUnitSquare) {
  const std::vector<Link> path = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 4}};
  const std::vector<Place> places = place_nodes(6, path);  // node 5 hangs on nothing
  const std::vector<Place> again = place_nodes(6, path);
  for (size_t a = 0; a < places.size(); ++a) {
    EXPECT_EQ(places[a].x, again[a].x);
    EXPECT_EQ(places[a].y, again[a].y);
    EXPECT_GE(std::min(places[a].x, places[a].y), -1e-9);
    EXPECT_LE(std::max(places[a].x, places[a].y), 1 + 1e-9);
    for (size_t b = 0; b < a; ++b) {
      EXPECT_GT(std::hypot(places[a].x - places[b].x, places[a].y - places[b].y), 0.05);
    }
  }
  // The ends of a path lie farther apart than neighbours.
  const auto distance = [&](size_t a, size_t b) {
    return std::hypot(places[a].x - places[b].x, places[a].y - places[b].y);
  };
  EXPECT_GT(distance(0, 4), 1.5 * distance(0, 1));
}

TEST(GraphPlaces, LinesGoAroundNodesThatAreInTheirWay) {
  const std::vector<Place> places = {{0, 0}, {1, 0.05}, {2, 0}, {1, 3}};
  EXPECT_EQ(bend_of(places, 0, 1, 0.2), 0.0);  // free
  const double bend = bend_of(places, 0, 2, 0.2);
  EXPECT_NE(bend, 0.0);
  const Place middle = on_line(places[0], places[2], bend, 0.5);
  EXPECT_NEAR(std::hypot(middle.x - 1, middle.y), std::abs(bend), 1e-12);
  EXPECT_NEAR(on_line(places[0], places[2], bend, 1.0).x, 2.0, 1e-12);
  for (double t = 0; t <= 1; t += 0.01) {
    const Place at = on_line(places[0], places[2], bend, t);
    EXPECT_GE(std::hypot(at.x - 1, at.y - 0.05), 0.19) << t;
  }
}

}  // namespace
}  // namespace grm::report
