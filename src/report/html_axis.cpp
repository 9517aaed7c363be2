#include "report/html_axis.h"

#include <fmt/core.h>

#include <algorithm>

namespace grm::report {
namespace {

// 1, 2 or 5 times a power of ten, at least `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> linear_ticks(double low, double high, int most) {
  double step = round_step((high - low) / most);
  std::vector<double> ticks;
  // Where a step leaves a single tick, half of it leaves two or more.
  for (; ticks.size() < 2; step /= 2) {
    ticks.clear();
    const double first = std::ceil(low / step - 1e-9);
    const double last = std::floor(high / step + 1e-9);
    for (double k = first; k <= last; ++k) ticks.push_back(k * step);
  }
  return ticks;
}

std::vector<double> decade_ticks(double low, double high, int most) {
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  if (last <= first) return linear_ticks(low, high, most);
  const int stride = std::max(1, (last - first + most - 1) / most);
  std::vector<double> ticks;
  for (int power = first; power <= last; power += stride) ticks.push_back(std::pow(10.0, power));
  return ticks.size() > 1 ? ticks : linear_ticks(low, high, most);
}

}  // namespace

double Axis::at(double value) const {
  const double v = std::clamp(value, low, high);
  const double share = logarithmic
                           ? (std::log(v) - std::log(low)) / (std::log(high) - std::log(low))
                           : (v - low) / (high - low);
  return from + share * (to - from);
}

std::vector<double> Axis::ticks(int most) const {
  return logarithmic ? decade_ticks(low, high, most) : linear_ticks(low, high, most);
}

Axis make_axis(double low, double high, bool logarithmic, double margin) {
  // Room for the margin below the largest number there is; records of runs may hold anything.
  constexpr double kMost = 1e300;
  low = std::clamp(low, logarithmic ? 1 / kMost : -kMost, kMost);
  high = std::clamp(high, low, kMost);
  // Numbers that differ in their last digits only have no ticks between them.
  if (high - low <= 1e-9 * std::max(std::abs(low), std::abs(high))) high = low;
  Axis axis;
  axis.logarithmic = logarithmic;
  if (logarithmic) {
    const double widen =
        high > low ? std::min(std::exp(margin * (std::log(high) - std::log(low))), 1e5) : 2.0;
    axis.low = low / widen;
    axis.high = high * widen;
    return axis;
  }
  const double range = high > low ? high - low : std::max(1.0, std::abs(high));
  const double widen = high > low ? margin * range : 0.5 * range;
  axis.low = low - widen;
  axis.high = high + widen;
  return axis;
}

std::string tick_text(double value) {
  return fmt::format("{:g}", std::abs(value) < 1e-12 ? 0.0 : value);
}

}  // namespace grm::report
