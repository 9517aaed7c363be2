#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "methods/editors.h"

namespace grm {
namespace {

constexpr int64_t kRows = 256;  // rows that one thread handles at a time

// Calls visit(j) for the sources of the flipped row, ascending: the symmetric difference.
template <class Visit>
void merge_row(const int32_t* row, const int32_t* row_end, const int32_t* flip,
               const int32_t* flip_end, Visit visit) {
  while (row != row_end && flip != flip_end) {
    if (*row < *flip) {
      visit(*row++);
    } else if (*flip < *row) {
      visit(*flip++);
    } else {
      ++row;
      ++flip;
    }
  }
  for (; row != row_end; ++row) visit(*row);
  for (; flip != flip_end; ++flip) visit(*flip);
}

}  // namespace

torch::Tensor random_flips(int64_t nodes, int64_t edits, const Stream& draws) {
  if (edits > nodes) {
    fail(ErrorKind::config, "{} edits per node were asked for on a graph of {} nodes", edits,
         nodes);
  }
  torch::Tensor flips = torch::empty({nodes, edits}, torch::kInt32);
  int32_t* out = flips.data_ptr<int32_t>();
  parallel_chunks(nodes, kRows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Stream stream(mix64(draws.key(), static_cast<uint64_t>(i)));
      int32_t* chosen = out + i * edits;
      for (int64_t k = 0; k < edits;) {
        const auto j = static_cast<int32_t>(stream.below(static_cast<uint64_t>(nodes)));
        if (std::find(chosen, chosen + k, j) == chosen + k) chosen[k++] = j;
      }
      std::sort(chosen, chosen + edits);
    }
  });
  return flips;
}

AdjacencyPtr flipped(const Adjacency& edges, const torch::Tensor& flips) {
  const int64_t n = edges.rows();
  ensure(edges.cols() == n && flips.dim() == 2 && flips.size(0) == n &&
             flips.scalar_type() == torch::kInt32 && flips.is_contiguous(),
         "flipped: the flips do not belong to the graph");
  const int64_t s = flips.size(1);
  const int32_t* flip = flips.data_ptr<int32_t>();
  const int64_t* old_offset = edges.in.offset();
  const int32_t* old_index = edges.in.index();
  const auto row = [&](int64_t i, const auto& visit) {
    merge_row(old_index + old_offset[i], old_index + old_offset[i + 1], flip + i * s,
              flip + (i + 1) * s, visit);
  };
  Csr in;
  in.rows = in.cols = n;
  in.offsets = torch::zeros({n + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  parallel_chunks(n, kRows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t stored = 0;  // flips of pairs that are there
      const int32_t* first = old_index + old_offset[i];
      const int32_t* last = old_index + old_offset[i + 1];
      for (int64_t k = 0; k < s; ++k) stored += std::binary_search(first, last, flip[i * s + k]);
      offset[i + 1] = last - first + s - 2 * stored;
    }
  });
  for (int64_t i = 0; i < n; ++i) offset[i + 1] += offset[i];
  in.indices = torch::empty({offset[n]}, torch::kInt32);
  int32_t* index = in.indices.data_ptr<int32_t>();
  parallel_chunks(n, kRows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int32_t* out = index + offset[i];
      row(i, [&](int32_t j) { *out++ = j; });
    }
  });
  return with_transpose(std::move(in));
}

}  // namespace grm
