// Graphs of a set cut out as a batch with room for more: a small kernel counts, and a thread for each
// row and entry finds its graph by a search.
#include "core/cuda/launch.cuh"
#include "graph/kernels.h"
#include "graph/padding.h"

namespace grm::cuda {
namespace {

/// The last graph that begins at or before place `at`: its own, since graphs without anything begin
/// where the next one does, and the last one behind all of them.
__device__ inline int64_t graph_at(const int64_t* offset, int64_t graphs, int64_t at) {
  int64_t low = 0, high = graphs;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    if (offset[middle] <= at) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// offset[b]: what the graphs before b have, nodes or (row != null) entries of rows. One block.
__global__ void __launch_bounds__(kBlock)
    count_kernel(const ChosenGraphs chosen, const int64_t* row, int64_t* offset) {
  __shared__ int64_t sums[kBlock];
  const int64_t share = (chosen.graphs + kBlock - 1) / kBlock;
  const int64_t begin = threadIdx.x * share;
  const int64_t end = begin + share < chosen.graphs ? begin + share : chosen.graphs;
  const auto size = [&](int64_t b) {
    const int64_t first = chosen.part[chosen.id[b]], last = chosen.part[chosen.id[b] + 1];
    return row ? row[last] - row[first] : last - first;
  };
  int64_t own = 0;
  for (int64_t b = begin; b < end; ++b) own += size(b);
  sums[threadIdx.x] = own;
  __syncthreads();
  for (int step = 1; step < kBlock; step *= 2) {
    const int64_t before = static_cast<int>(threadIdx.x) >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  int64_t at = sums[threadIdx.x] - own;
  for (int64_t b = begin; b < end; ++b) {
    offset[b] = at;
    at += size(b);
  }
  if (threadIdx.x == kBlock - 1) offset[chosen.graphs] = sums[threadIdx.x];
}

__global__ void __launch_bounds__(kBlock)
    rows_kernel(const ChosenGraphs chosen, const int64_t* node_offset, int64_t* nodes,
                int64_t* graph_of_node) {
  const int64_t row = global_thread();
  if (row >= chosen.rows) return;
  const int64_t b = graph_at(node_offset, chosen.graphs, row);
  const bool counts = row < node_offset[chosen.graphs];
  graph_of_node[row] = counts ? b : chosen.graphs - 1;
  nodes[row] = counts ? chosen.part[chosen.id[b]] + row - node_offset[b] : 0;
}

__global__ void __launch_bounds__(kBlock)
    pattern_kernel(const ChosenGraphs chosen, const int64_t* node_offset, const int64_t* nodes,
                   const int64_t* graph_of_node, const WholePattern whole,
                   const int64_t* entry_offset, const PaddedPattern block) {
  const int64_t at = global_thread();
  const int64_t counted = node_offset[chosen.graphs], used = entry_offset[chosen.graphs];
  const Padding padding{chosen.rows - counted, block.entries - used};
  if (at < counted) {
    const int64_t b = graph_of_node[at];
    const int64_t moved = entry_offset[b] - whole.in_offset[chosen.part[chosen.id[b]]];
    block.in_offset[at] = whole.in_offset[nodes[at]] + moved;
    block.out_offset[at] = whole.out_offset[nodes[at]] + moved;
  } else if (at <= chosen.rows) {
    block.in_offset[at] = block.out_offset[at] = used + padding.before(at - counted);
  }
  if (at < used) {
    const int64_t b = graph_at(entry_offset, chosen.graphs, at);
    const int64_t first = chosen.part[chosen.id[b]], from = whole.in_offset[first];
    const int64_t old = from + at - entry_offset[b], moved = node_offset[b] - first;
    block.edge_id[at] = old;
    block.in_index[at] = static_cast<int32_t>(whole.in_index[old] + moved);
    block.out_index[at] = static_cast<int32_t>(whole.out_index[old] + moved);
    block.out_edge[at] = whole.out_edge[old] - from + entry_offset[b];
  } else if (at < block.entries) {
    block.edge_id[at] = 0;
    block.out_edge[at] = at;
    block.in_index[at] = block.out_index[at] =
        static_cast<int32_t>(counted + padding.row_of(at - used));
  }
}

constexpr int kCutThreads = 1024;

/// sums[k] = what items 0 .. k - 1 count, sums[n] in all. One block, every thread takes consecutive ones.
template <class Counts>
__device__ inline void running_count(int64_t n, const Counts& counts, int64_t* sums) {
  __shared__ int64_t of_warp[kCutThreads / kWarp];
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int64_t share = (n + kCutThreads - 1) / kCutThreads, begin = threadIdx.x * share;
  const int64_t end = begin + share < n ? begin + share : n;
  int64_t own = 0;
  for (int64_t k = begin; k < end; ++k) own += counts(k) ? 1 : 0;
  int64_t through = own;
  for (int offset = 1; offset < kWarp; offset *= 2) {
    const int64_t other = __shfl_up_sync(kAllLanes, through, offset);
    if (lane >= offset) through += other;
  }
  __syncthreads();
  if (lane == kWarp - 1) of_warp[warp] = through;
  __syncthreads();
  int64_t at = through - own;
  for (int w = 0; w < warp; ++w) at += of_warp[w];
  if (threadIdx.x == kCutThreads - 1) sums[n] = at + own;
  for (int64_t k = begin; k < end; ++k) {
    sums[k] = at;
    at += counts(k) ? 1 : 0;
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kCutThreads)
    cut_count_kernel(const CutBatch batch, const CutPart part) {
  running_count(
      batch.entries, [&](int64_t e) { return is_kept(batch, e); }, part.before);
  running_count(
      batch.entries, [&](int64_t e) { return is_kept(batch, batch.out_edge[e]); }, part.out_before);
  running_count(
      batch.rows, [&](int64_t r) { return is_touched(batch, part, r); }, part.new_row);
}

__global__ void __launch_bounds__(kBlock)
    cut_place_kernel(const CutBatch batch, const CutPart part) {
  place_part(batch, part, global_thread());
}

__global__ void __launch_bounds__(kBlock)
    cut_fill_kernel(const CutBatch batch, const CutPart part) {
  fill_part(batch, part, global_thread());
}

}  // namespace

void padded_rows(const Queue& queue, const ChosenGraphs& chosen, int64_t* node_offset,
                 int64_t* nodes, int64_t* graph_of_node) {
  count_kernel<<<1, kBlock, 0, stream_of(queue)>>>(chosen, nullptr, node_offset);
  check_launch("padded_rows");
  rows_kernel<<<blocks_for(chosen.rows, kBlock), kBlock, 0, stream_of(queue)>>>(
      chosen, node_offset, nodes, graph_of_node);
  check_launch("padded_rows");
}

void padded_pattern(const Queue& queue, const ChosenGraphs& chosen, const int64_t* node_offset,
                    const int64_t* nodes, const int64_t* graph_of_node, const WholePattern& whole,
                    int64_t* entry_offset, const PaddedPattern& block) {
  count_kernel<<<1, kBlock, 0, stream_of(queue)>>>(chosen, whole.in_offset, entry_offset);
  check_launch("padded_pattern");
  const int64_t threads = chosen.rows + 1 > block.entries ? chosen.rows + 1 : block.entries;
  pattern_kernel<<<blocks_for(threads, kBlock), kBlock, 0, stream_of(queue)>>>(
      chosen, node_offset, nodes, graph_of_node, whole, entry_offset, block);
  check_launch("padded_pattern");
}

void padded_cut(const Queue& queue, const CutBatch& batch, const CutPart& part) {
  const cudaStream_t stream = stream_of(queue);
  cut_count_kernel<<<1, kCutThreads, 0, stream>>>(batch, part);
  check_launch("padded_cut, counts");
  const int64_t threads = batch.rows + 1 > batch.entries ? batch.rows + 1 : batch.entries;
  cut_place_kernel<<<blocks_for(threads, kBlock), kBlock, 0, stream>>>(batch, part);
  check_launch("padded_cut, places");
  cut_fill_kernel<<<blocks_for(threads, kBlock), kBlock, 0, stream>>>(batch, part);
  check_launch("padded_cut");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL_OF(kernels::padded_rows, padded_rows)
GRM_CUDA_KERNEL_OF(kernels::padded_pattern, padded_pattern)
GRM_CUDA_KERNEL_OF(kernels::padded_cut, padded_cut)
