#pragma once

#include <cstdint>
#include <vector>

namespace grm::report {

/// A line between two nodes of a drawing.
struct Link {
  int64_t a = 0, b = 0;
};

/// Places of nodes in the unit square: a circle, relaxed by a fixed number of steps in which nodes
/// repel each other and edges pull. The same graph gives the same places.
struct Place {
  double x = 0.0, y = 0.0;
};
std::vector<Place> place_nodes(int64_t nodes, const std::vector<Link>& edges);

/// How far to the side the middle of the line a - b goes so that no third node is closer to it than
/// `room`: 0 where the straight line is free, and the best of a few bends where none is.
double bend_of(const std::vector<Place>& places, int64_t a, int64_t b, double room);
/// The point of such a line, from a at t = 0 to b at t = 1.
Place on_line(const Place& a, const Place& b, double bend, double t);

}  // namespace grm::report
