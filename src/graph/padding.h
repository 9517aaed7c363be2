#pragma once

#include <cstdint>

namespace grm::kernels {

#ifdef __CUDACC__
#define GRM_BOTH __host__ __device__
#else
#define GRM_BOTH
#endif

/// Spreads the padding of a batch evenly: `entries` entries behind the last pair over `rows` > 0
/// rows behind the last node.
struct Padding {
  int64_t rows, entries;
  /// Entries before row k of them.
  GRM_BOTH int64_t before(int64_t k) const { return entries * k / rows; }
  /// The row of entry q of them.
  GRM_BOTH int64_t row_of(int64_t q) const { return ((q + 1) * rows - 1) / entries; }
};

#undef GRM_BOTH

}  // namespace grm::kernels
