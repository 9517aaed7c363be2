// Breadth-first search with path counting from 64 sources at once. One warp works on one node of
// one block of sources; lane l holds the sources l and l + 32. Counts are whole numbers in their
// exact range, so that sums do not depend on their order.
#include "core/cuda/launch.cuh"
#include "graph/kernels.h"

namespace grm::cuda {
namespace {

constexpr int kSources = kPathLanes;

/// What PathBlock keeps for every node, with the block of sources as the first index.
template <class Count>
struct State {
  uint64_t *seen, *front[2];
  Count *wave[2], *count;
  uint16_t* log;
  uint8_t* length;
};

template <class Count>
State<Count> state_in(void* work, int64_t nodes, int64_t blocks) {
  const int64_t n = nodes * blocks;
  State<Count> s;
  s.seen = static_cast<uint64_t*>(work);
  s.front[0] = s.seen + n;
  s.front[1] = s.front[0] + n;
  s.wave[0] = reinterpret_cast<Count*>(s.front[1] + n);
  s.wave[1] = s.wave[0] + n * kSources;
  s.count = s.wave[1] + n * kSources;
  s.log = reinterpret_cast<uint16_t*>(s.count + n * kSources);
  s.length = reinterpret_cast<uint8_t*>(s.log + n * kSources);
  return s;
}

template <class Count>
__global__ void start_search(State<Count> s, int64_t nodes, int64_t first, int32_t* inexact) {
  const int64_t v = global_warp(), block = blockIdx.y, at = block * nodes + v;
  if (v >= nodes) return;
  const int lane = threadIdx.x % kWarp;
  const int64_t own = v - first - block * kSources;  // its number among the sources
  const bool source = own >= 0 && own < kSources;
  if (lane == 0) {
    s.seen[at] = s.front[0][at] = source ? uint64_t{1} << own : 0;
    if (v == 0) inexact[block] = 0;
  }
  for (int k = lane; k < kSources; k += kWarp) {
    s.wave[0][at * kSources + k] = s.count[at * kSources + k] = Count(source && own == k ? 1 : 0);
    s.log[at * kSources + k] = 0;
    s.length[at * kSources + k] = 0;
  }
}

template <class Count>
__device__ inline uint16_t fixed_log2(Count count) {
  const double log = fmin(log2(static_cast<double>(count)), 2047.0);
  return static_cast<uint16_t>(llround(ldexp(log, kPathFractionBits<Count>)));
}

template <class Count>
__global__ void __launch_bounds__(kBlock)
    step_search(NeighbourLists graph, State<Count> s, int64_t first, int length, int from, int to,
                int32_t* inexact) {
  const int64_t v = global_warp(), block = blockIdx.y, base = block * graph.nodes;
  if (v >= graph.nodes) return;
  const int lane = threadIdx.x % kWarp;
  const int64_t left = graph.nodes - first - block * kSources;
  const uint64_t all = left >= kSources ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  const uint64_t open = all & ~s.seen[base + v];
  const int64_t begin = graph.offset[v], end = graph.offset[v + 1];
  uint64_t reached = 0;
  for (int64_t k = begin; open != 0 && k < end && reached != open; k += kWarp) {
    const uint64_t mine = k + lane < end ? s.front[from][base + graph.index[k + lane]] & open : 0;
    reached |= __reduce_or_sync(kAllLanes, static_cast<uint32_t>(mine));
    reached |= static_cast<uint64_t>(__reduce_or_sync(kAllLanes, static_cast<uint32_t>(mine >> 32)))
               << 32;
  }
  if (lane == 0) s.front[to][base + v] = reached;
  if (reached == 0) return;
  Count sum[2] = {};
  for (int64_t k = begin; k < end; k += kWarp) {
    const int32_t u = k + lane < end ? graph.index[k + lane] : 0;
    const bool hit = k + lane < end && (s.front[from][base + u] & reached) != 0;
    unsigned hits = __ballot_sync(kAllLanes, hit);
    while (hits != 0) {  // four at a time, so that their loads overlap
      Count part[4][2] = {};
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        if (hits == 0) continue;
        const int bit = __ffs(hits) - 1;
        hits &= hits - 1;
        const int64_t at = (base + __shfl_sync(kAllLanes, u, bit)) * kSources + lane;
        part[t][0] = s.wave[from][at];
        part[t][1] = s.wave[from][at + kWarp];
      }
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        sum[0] += part[t][0];
        sum[1] += part[t][1];
      }
    }
  }
  constexpr Count kExact = sizeof(Count) == 4 ? Count(1 << 24) : Count(0x1p53);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int k = lane + h * kWarp;
    const int64_t at = (base + v) * kSources + k;
    const bool chosen = (reached >> k & 1) != 0;
    s.wave[to][at] = chosen ? sum[h] : Count(0);
    if (!chosen) continue;
    s.count[at] = sum[h];
    s.length[at] = static_cast<uint8_t>(length);
    s.log[at] = fixed_log2<Count>(sum[h]);
    if (sum[h] >= kExact) inexact[block] = 1;
  }
  if (lane == 0) s.seen[base + v] |= reached;
}

// The largest sum of `n` lengths whose mean, rounded to double, is at most `limit`.
__device__ inline double largest_sum(double limit, double n) {
  double sum = floor(__dmul_rn(limit, n)) + 1.0;
  while (sum > 0.0 && __ddiv_rn(sum, n) > limit) sum -= 1.0;
  return sum;
}

template <class Count>
__global__ void __launch_bounds__(kBlock)
    judge_kernel(NeighbourLists members, int64_t graph_nodes, PathLimits limits, State<Count> s,
                 uint64_t* sure, uint64_t* unsure, int64_t stride) {
  const int64_t i = global_warp(), block = blockIdx.y, base = block * graph_nodes;
  if (i >= members.nodes) return;
  const int lane = threadIdx.x % kWarp;
  const int64_t begin = members.offset[i], end = members.offset[i + 1];
  uint64_t reach = begin < end ? ~uint64_t{0} : 0;
  uint64_t lengths[2] = {}, logs[2] = {};
#pragma unroll 4
  for (int64_t m = begin; m < end; ++m) {
    const int64_t at = base + members.index[m];
    reach &= s.seen[at];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      lengths[h] += s.length[at * kSources + lane + h * kWarp];
      logs[h] += s.log[at * kSources + lane + h * kWarp];
    }
  }
  // Each logarithm is off by at most half a unit (and a trifle from log2 itself), so is the mean.
  const double n = static_cast<double>(end - begin);
  const double target = ldexp(limits.min_log2_paths, kPathFractionBits<Count>) * n;
  const bool always = limits.min_log2_paths <= 0.0;
  const double upper = always ? 0.0 : ceil(fmin(target + 0.501 * n, 1e18));
  const double lower = always ? 0.0 : floor(fmax(fmin(target - 0.501 * n, 1e18), 0.0));
  const double longest = reach != 0 ? largest_sum(limits.max_length, n) : 0.0;
  uint64_t certain = 0, possible = 0;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const bool near = lengths[h] <= static_cast<uint64_t>(longest);
    const unsigned yes = __ballot_sync(kAllLanes, near && logs[h] >= static_cast<uint64_t>(upper));
    const unsigned perhaps =
        __ballot_sync(kAllLanes, near && logs[h] >= static_cast<uint64_t>(lower));
    certain |= static_cast<uint64_t>(yes) << (h * kWarp);
    possible |= static_cast<uint64_t>(perhaps) << (h * kWarp);
  }
  if (lane > 0) return;
  sure[i * stride + block] = certain & reach;
  unsure[i * stride + block] = possible & ~certain & reach;
}

template <class Count>
__global__ void counts_kernel(int64_t nodes, State<Count> s, const int32_t* node,
                              const int32_t* source, int64_t count, double* out) {
  const int64_t k = global_thread();
  if (k >= count) return;
  const int64_t at = source[k] / kSources * nodes + node[k];
  out[k] = static_cast<double>(s.count[at * kSources + source[k] % kSources]);
}

dim3 grid_for(int64_t rows, int64_t blocks) {
  return dim3(blocks_for(rows, kBlock / kWarp), blocks_for(blocks, 1));
}

}  // namespace

template <class Count>
void path_search(const Queue& queue, const NeighbourLists& graph, int64_t first, int64_t blocks,
                 int depth, void* work, int32_t* inexact) {
  if (graph.nodes == 0 || blocks == 0) return;
  const State<Count> s = state_in<Count>(work, graph.nodes, blocks);
  const dim3 grid = grid_for(graph.nodes, blocks);
  start_search<Count><<<grid, kBlock, 0, stream_of(queue)>>>(s, graph.nodes, first, inexact);
  check_launch("path_search");
  for (int length = 1; length <= depth; ++length) {
    step_search<Count><<<grid, kBlock, 0, stream_of(queue)>>>(
        graph, s, first, length, (length - 1) % 2, length % 2, inexact);
    check_launch("path_search, step");
  }
}

template <class Count>
void path_judge(const Queue& queue, const NeighbourLists& members, int64_t graph_nodes,
                int64_t blocks, const PathLimits& limits, const void* work, uint64_t* sure,
                uint64_t* unsure, int64_t stride) {
  if (members.nodes == 0 || blocks == 0) return;
  const State<Count> s = state_in<Count>(const_cast<void*>(work), graph_nodes, blocks);
  judge_kernel<Count><<<grid_for(members.nodes, blocks), kBlock, 0, stream_of(queue)>>>(
      members, graph_nodes, limits, s, sure, unsure, stride);
  check_launch("path_judge");
}

template <class Count>
void path_counts(const Queue& queue, int64_t graph_nodes, int64_t blocks, const void* work,
                 const int32_t* node, const int32_t* source, int64_t count, double* out) {
  if (count == 0) return;
  const State<Count> s = state_in<Count>(const_cast<void*>(work), graph_nodes, blocks);
  counts_kernel<Count><<<blocks_for(count, kBlock), kBlock, 0, stream_of(queue)>>>(
      graph_nodes, s, node, source, count, out);
  check_launch("path_counts");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(path_search)
GRM_CUDA_KERNEL(path_judge)
GRM_CUDA_KERNEL(path_counts)
