#pragma once

#include <algorithm>
#include <numeric>

#include "harness.h"
#include "ops/kernels.h"

namespace test {

struct HostPattern {
  int64_t rows = 0, cols = 0;
  std::vector<int64_t> offset{0};
  std::vector<int32_t> index;
  std::vector<int64_t> edge;  // empty: in edge order

  int64_t entries() const { return offset.back(); }
  int64_t edge_of(int64_t k) const { return edge.empty() ? k : edge[k]; }
};

inline HostPattern make_pattern(Random& random, const std::vector<int64_t>& lengths, int64_t cols) {
  HostPattern p;
  p.rows = static_cast<int64_t>(lengths.size());
  p.cols = cols;
  for (const int64_t length : lengths) {
    p.offset.push_back(p.offset.back() + length);
    for (int64_t k = 0; k < length; ++k) p.index.push_back(static_cast<int32_t>(random() % cols));
  }
  return p;
}

inline HostPattern transposed(const HostPattern& p) {
  HostPattern t;
  t.rows = p.cols;
  t.cols = p.rows;
  t.offset.assign(t.rows + 1, 0);
  for (const int32_t j : p.index) ++t.offset[j + 1];
  std::partial_sum(t.offset.begin(), t.offset.end(), t.offset.begin());
  std::vector<int64_t> next(t.offset.begin(), t.offset.end());
  t.index.resize(p.index.size());
  t.edge.resize(p.index.size());
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t k = p.offset[i]; k < p.offset[i + 1]; ++k) {
      const int64_t at = next[p.index[k]]++;
      t.index[at] = static_cast<int32_t>(i);
      t.edge[at] = k;
    }
  }
  return t;
}

/// Rows of every kind: none, empty, about the length at which rows are cut, thousands of entries.
inline std::vector<HostPattern> all_patterns(Random& random, const Size& size) {
  std::vector<int64_t> mixed = {0, 127, 128, 129, 0, 256, 257, size.long_row(), 0};
  for (int k = 0; k < (size.small ? 20 : 200); ++k) mixed.push_back(random() % 41);
  mixed.push_back(0);
  const int64_t square = static_cast<int64_t>(mixed.size());
  std::vector<int64_t> brief;
  for (int k = 0; k < 50; ++k) brief.push_back(random() % 8);
  return {make_pattern(random, mixed, square), make_pattern(random, brief, 50),
          make_pattern(random, {}, 4), make_pattern(random, {0, 0, 0}, 3)};
}

struct DevicePattern {
  explicit DevicePattern(const HostPattern& p)
      : rows(p.rows), entries(p.entries()), offset(p.offset), index(p.index), edge(p.edge) {}
  /// `longest` as the host knows it: rows are cut where it is -1 or large.
  grm::kernels::Pattern get(int64_t longest = -1) const {
    return {rows,    offset.get(), index.get(), edge.size() > 0 ? edge.get() : nullptr,
            entries, longest};
  }
  int64_t rows, entries;
  Array<int64_t> offset;
  Array<int32_t> index;
  Array<int64_t> edge;
};

inline std::string describe(const HostPattern& p, int64_t d) {
  return "rows " + std::to_string(p.rows) + ", entries " + std::to_string(p.entries()) + ", d " +
         std::to_string(d);
}

}  // namespace test
