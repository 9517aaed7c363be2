#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace grm::report {

/// A scale from numbers to places on a picture.
struct Axis {
  double low = 0.0, high = 1.0;  // numbers at the ends, low < high
  bool logarithmic = false;      // then both are positive
  double from = 0.0, to = 1.0;   // places of the ends

  /// Numbers beyond the ends are placed at the ends.
  double at(double value) const;
  /// At least two round numbers between the ends, ascending, not more than about `most`.
  std::vector<double> ticks(int most) const;
};

/// An axis for numbers between low and high, which may be equal: widened by `margin` of the range
/// on both sides.
Axis make_axis(double low, double high, bool logarithmic, double margin);

/// "0.001", "25", "1e+06".
std::string tick_text(double value);

}  // namespace grm::report
