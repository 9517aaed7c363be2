#pragma once

#include <cstdint>

#include "graph/kernels.h"

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

/// Whether an entry of a batch is kept.
GRM_BOTH inline bool is_kept(const CutBatch& batch, int64_t entry) {
  return batch.keep[entry] && entry < batch.in_offset[*batch.counted];
}

/// Whether a row touches a kept entry, once the entries before each one are counted.
GRM_BOTH inline bool is_touched(const CutBatch& batch, const CutPart& part, int64_t row) {
  return part.before[batch.in_offset[row + 1]] > part.before[batch.in_offset[row]] ||
         part.out_before[batch.out_offset[row + 1]] > part.out_before[batch.out_offset[row]];
}

/// Where entry `at` and row `at` of the batch went, once rows are counted, too. Places behind the last
/// kept one name the last row and the last entry.
GRM_BOTH inline void place_part(const CutBatch& batch, const CutPart& part, int64_t at) {
  if (at < batch.entries) {
    const bool kept = is_kept(batch, at);
    part.edge_place[at] = kept ? part.before[at] : -1;
    if (kept) part.edge_ids[part.before[at]] = at;
    if (at >= part.before[batch.entries]) part.edge_ids[at] = batch.entries - 1;
    if (is_kept(batch, batch.out_edge[at])) part.out_ids[part.out_before[at]] = at;
  }
  if (at < batch.rows) {
    const bool touched = is_touched(batch, part, at);
    part.row_place[at] = touched ? part.new_row[at] : -1;
    if (touched) part.nodes[part.new_row[at]] = at;
    if (at >= part.new_row[batch.rows]) part.nodes[at] = batch.rows - 1;
  }
}

/// Entry and row number `at` of the part's pattern, once they have their places.
GRM_BOTH inline void fill_part(const CutBatch& batch, const CutPart& part, int64_t at) {
  const int64_t counted = part.new_row[batch.rows], used = part.before[batch.entries];
  const Padding padding{batch.rows - counted, batch.entries - used};
  if (at < counted) {
    part.in_offset[at] = part.before[batch.in_offset[part.nodes[at]]];
    part.out_offset[at] = part.out_before[batch.out_offset[part.nodes[at]]];
  } else if (at <= batch.rows) {
    part.in_offset[at] = part.out_offset[at] = used + padding.before(at - counted);
  }
  if (at < used) {
    const int64_t out = part.out_ids[at];
    part.in_index[at] = static_cast<int32_t>(part.new_row[batch.in_index[part.edge_ids[at]]]);
    part.out_index[at] = static_cast<int32_t>(part.new_row[batch.out_index[out]]);
    part.out_edge[at] = part.before[batch.out_edge[out]];
  } else if (at < batch.entries) {
    part.in_index[at] = part.out_index[at] =
        static_cast<int32_t>(counted + padding.row_of(at - used));
    part.out_edge[at] = at;
  }
}

#undef GRM_BOTH

}  // namespace grm::kernels
