#pragma once

#include <utility>
#include <vector>

#include "data/good/laws.h"

namespace grm::good {

constexpr int64_t kCbasNodes = 700;

/// GOOD-CBAS: 80 houses on a graph of preferential attachment, whose nodes have colours.
struct Cbas {
  std::vector<std::pair<int64_t, int64_t>> edges;  // u < v, ascending
  std::vector<int64_t> label;                      // base 0; middle, bottom and top of a house
  std::vector<std::array<float, 4>> features;      // by node
  Split split;
};
Cbas draw_cbas(Shift shift);

}  // namespace grm::good
