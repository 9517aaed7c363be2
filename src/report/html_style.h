#pragma once

namespace grm::report {

/// The style sheet of every report: light and dark, wide and narrow, screen and paper.
extern const char* const kStyle;

/// Series are drawn in the classes s0 to s8, then again from s0.
constexpr int kSeriesStyles = 9;

}  // namespace grm::report
