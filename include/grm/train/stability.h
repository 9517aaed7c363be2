#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace grm {

/// Rank correlation with mean ranks for ties, in -1 .. 1. NaN if either side is constant or has
/// fewer than two numbers.
double spearman(const std::vector<double>& a, const std::vector<double>& b);

/// Shared part of the positions of the k largest numbers of a and of b: |A and B| / |A or B|. Of
/// equal numbers the earlier ones are taken.
double top_jaccard(const std::vector<double>& a, const std::vector<double>& b, int64_t k);

/// How well several weightings of the same edges agree, as means over all pairs of weightings. A
/// weighting that is the same for all edges does not count; NaN if no pair is left.
struct Stability {
  std::string over;     // "seeds" or "samples"
  int64_t members = 0;  // weightings compared; below two there is nothing to say
  int64_t edges = 0;    // that all of them have
  int64_t top = 0;      // k, at most half of the edges
  double spearman = std::numeric_limits<double>::quiet_NaN();
  double jaccard = std::numeric_limits<double>::quiet_NaN();
};
Stability stability_of(const std::string& over, const std::vector<std::vector<double>>& weights,
                       int64_t top);

}  // namespace grm
