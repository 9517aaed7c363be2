#include "grm/train/stability.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grm/core/error.h"

namespace grm {
namespace {

// Positions by descending value, equal ones in order.
std::vector<int64_t> descending(const std::vector<double>& values) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return values[a] > values[b]; });
  return order;
}

std::vector<double> ranks(const std::vector<double>& values) {
  const std::vector<int64_t> order = descending(values);
  std::vector<double> rank(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;  // also past what does not equal itself
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double middle = 0.5 * static_cast<double>(begin + 1 + end);  // of ranks begin+1 .. end
    for (size_t k = begin; k < end; ++k) rank[order[k]] = middle;
    begin = end;
  }
  return rank;
}

}  // namespace

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  ensure(a.size() == b.size(), "spearman: as many numbers on both sides");
  const std::vector<double> ra = ranks(a), rb = ranks(b);
  const double mean = 0.5 * static_cast<double>(a.size() + 1);
  double ab = 0, aa = 0, bb = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    ab += (ra[k] - mean) * (rb[k] - mean);
    aa += (ra[k] - mean) * (ra[k] - mean);
    bb += (rb[k] - mean) * (rb[k] - mean);
  }
  if (aa == 0 || bb == 0) return std::numeric_limits<double>::quiet_NaN();
  return ab / std::sqrt(aa * bb);
}

double top_jaccard(const std::vector<double>& a, const std::vector<double>& b, int64_t k) {
  ensure(a.size() == b.size() && k >= 1 && k <= static_cast<int64_t>(a.size()),
         "top_jaccard: k of as many numbers on both sides");
  std::vector<int64_t> top_a = descending(a), top_b = descending(b), both;
  top_a.resize(k);
  top_b.resize(k);
  std::sort(top_a.begin(), top_a.end());
  std::sort(top_b.begin(), top_b.end());
  std::set_intersection(top_a.begin(), top_a.end(), top_b.begin(), top_b.end(),
                        std::back_inserter(both));
  const auto shared = static_cast<double>(both.size());
  return shared / (2.0 * static_cast<double>(k) - shared);
}

Stability stability_of(const std::string& over, const std::vector<std::vector<double>>& weights,
                       int64_t top) {
  Stability result;
  result.over = over;
  result.members = static_cast<int64_t>(weights.size());
  result.edges = weights.empty() ? 0 : static_cast<int64_t>(weights.front().size());
  result.top = std::min(top, result.edges / 2);
  if (result.members < 2 || result.top < 1) return result;
  double correlation = 0, overlap = 0;
  int64_t pairs = 0;
  for (size_t a = 0; a < weights.size(); ++a) {
    for (size_t b = a + 1; b < weights.size(); ++b) {
      const double rho = spearman(weights[a], weights[b]);
      if (std::isnan(rho)) continue;  // equal weights have neither ranks nor a top
      correlation += rho;
      overlap += top_jaccard(weights[a], weights[b], result.top);
      ++pairs;
    }
  }
  if (pairs == 0) return result;
  result.spearman = correlation / static_cast<double>(pairs);
  result.jaccard = overlap / static_cast<double>(pairs);
  return result;
}

}  // namespace grm
