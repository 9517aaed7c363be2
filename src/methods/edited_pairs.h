#pragma once

#include <cstdint>

#include "methods/kernels.h"

namespace grm::kernels {

#ifdef __CUDACC__
#define GRM_BOTH __host__ __device__
#else
#define GRM_BOTH
#endif

/// Where `value` stands in ascending row[begin .. end), or -1.
GRM_BOTH inline int64_t place_in_row(const int32_t* row, int64_t begin, int64_t end,
                                     int32_t value) {
  while (begin < end) {
    const int64_t middle = (begin + end) / 2;
    if (row[middle] == value) return middle;
    if (row[middle] < value) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return -1;
}

/// How many numbers edit_pair() is called for.
GRM_BOTH inline int64_t edited_work(const UneditedPairs& pairs, const FlippedPairs& flips) {
  const int64_t flipped = pairs.nodes * flips.edits, most = pairs.nodes + 1;
  const int64_t more = pairs.entries > flipped ? pairs.entries : flipped;
  return more > most ? more : most;
}

/// What kernels::edited_pairs writes for pair, flip and node number `at`, as far as there are any.
template <class T>
GRM_BOTH inline void edit_pair(const UneditedPairs& pairs, const FlippedPairs& flips,
                               const EditedPairs<T>& to, int64_t at) {
  const int64_t s = flips.edits;
  if (at <= pairs.nodes) to.out_offset[at] = pairs.out_offset[at] + flips.offset[at];
  if (at < pairs.entries) {
    const int32_t i = pairs.in_row[at], j = pairs.in_index[at];
    const bool stays =
        (pairs.loops && i == j) || place_in_row(flips.source, i * s, (i + 1) * s, j) < 0;
    to.in_index[at + i * s] = j;
    to.weight[at + i * s] = stays ? T{1} : T{0};
    const int64_t moved = at + flips.offset[pairs.out_row[at]];
    to.out_index[moved] = pairs.out_index[at];
    to.out_edge[moved] = pairs.out_edge[at] + pairs.out_index[at] * s;
  }
  if (at < pairs.nodes * s) {
    const int64_t i = at / s;
    const int32_t j = flips.source[at];
    const int64_t begin = pairs.in_offset[i], end = pairs.in_offset[i + 1];
    to.in_index[end + at] = j;
    to.weight[end + at] = place_in_row(pairs.in_index, begin, end, j) < 0 ? T{1} : T{0};
    const int64_t p = flips.position[at], target = p / s;  // the flip that is number `at` by source
    const int64_t moved = pairs.out_offset[flips.source[p] + 1] + at;
    to.out_index[moved] = static_cast<int32_t>(target);
    to.out_edge[moved] = pairs.in_offset[target + 1] + p;
  }
}

#undef GRM_BOTH

}  // namespace grm::kernels
