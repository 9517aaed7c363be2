// Positions by value: a stable radix sort of (value, position) by bytes of the value. A byte takes
// two or three kernels: counts of each tile, where there are many tiles a running sum over (byte
// value, tile), and a scatter in which equal values keep their order. Integers only: no order of
// execution shows in the result.
#include "core/cuda/launch.cuh"
#include "ops/kernels.h"

namespace grm::cuda {
namespace {

constexpr int kDigits = 256;
constexpr int kWarps = kBlock / kWarp;
// Numbers of a tile: few, so that many blocks share a short list, or many, so that a long one has
// fewer counts to sum.
constexpr int64_t kLongList = 1 << 16;
constexpr int kFewPerLane = 4, kManyPerLane = 16;
constexpr int kScanThreads = 1024;
constexpr int64_t kFewTiles = 32;  // up to here every block finds the sums it needs by itself

struct Pair {
  int32_t value, position;
};

int64_t tile_of(int64_t count) {
  return kBlock * (count > kLongList ? kManyPerLane : kFewPerLane);
}

int64_t tiles_of(int64_t count) {
  return (count + tile_of(count) - 1) / tile_of(count);
}

int passes_for(int64_t values) {
  int passes = 1;
  while (passes < 4 && (int64_t{1} << (8 * passes)) < values) ++passes;
  return passes;
}

// A pass reads the pairs of the pass before it, the first one the index itself.
struct Source {
  const int64_t* index;
  const Pair* pairs;
};

__device__ inline Pair read(const Source& from, int64_t k) {
  if (from.pairs) return from.pairs[k];
  return {static_cast<int32_t>(from.index[k]), static_cast<int32_t>(k)};
}

template <int kPerLane>
__global__ void __launch_bounds__(kBlock)
    count_digits(Source from, int64_t count, int shift, int64_t tiles, uint32_t* counts) {
  __shared__ uint32_t sum[kDigits];
  sum[threadIdx.x] = 0;
  __syncthreads();
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kBlock * kPerLane;
  int32_t value[kPerLane];
#pragma unroll
  for (int u = 0; u < kPerLane; ++u) {
    const int64_t k = first + u * kBlock + threadIdx.x;
    value[u] = k < count ? read(from, k).value : -1;
  }
#pragma unroll
  for (int u = 0; u < kPerLane; ++u) {
    if (value[u] >= 0) atomicAdd(&sum[(value[u] >> shift) & (kDigits - 1)], 1u);
  }
  __syncthreads();
  counts[threadIdx.x * tiles + blockIdx.x] = sum[threadIdx.x];
}

// counts[0 .. n) become the sums of those before them; n is a multiple of 4. One block walks over
// them.
__global__ void __launch_bounds__(kScanThreads) running_sums(uint32_t* counts, int64_t n) {
  constexpr int kVectors = 4, kPerThread = 4 * kVectors;
  __shared__ uint32_t warp_end[kWarp];
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  uint32_t before = 0;
  for (int64_t base = 0; base < n; base += kPerThread * kScanThreads) {
    const int64_t at = base + kPerThread * static_cast<int64_t>(threadIdx.x);
    Vec<uint32_t, 4> part[kVectors];
#pragma unroll
    for (int u = 0; u < kVectors; ++u) {
      part[u] = at + 4 * u < n ? load<uint32_t, 4>(counts + at + 4 * u) : Vec<uint32_t, 4>{};
    }
    uint32_t sum = 0;
#pragma unroll
    for (int u = 0; u < kPerThread; ++u) {
      const uint32_t count = part[u / 4].at[u % 4];
      part[u / 4].at[u % 4] = sum;
      sum += count;
    }
    uint32_t through = sum;
    for (int offset = 1; offset < kWarp; offset *= 2) {
      const uint32_t other = __shfl_up_sync(kAllLanes, through, offset);
      if (lane >= offset) through += other;
    }
    if (lane == kWarp - 1) warp_end[warp] = through;
    __syncthreads();
    if (warp == 0) {
      uint32_t end = warp_end[lane];
      for (int offset = 1; offset < kWarp; offset *= 2) {
        const uint32_t other = __shfl_up_sync(kAllLanes, end, offset);
        if (lane >= offset) end += other;
      }
      warp_end[lane] = end;
    }
    __syncthreads();
    const uint32_t start = before + (warp > 0 ? warp_end[warp - 1] : 0) + through - sum;
#pragma unroll
    for (int u = 0; u < kVectors; ++u) {
#pragma unroll
      for (int v = 0; v < 4; ++v) part[u].at[v] += start;
      if (at + 4 * u < n) store<uint32_t, 4>(counts + at + 4 * u, part[u]);
    }
    before += warp_end[kWarp - 1];
    __syncthreads();
  }
}

// Where the numbers of a tile with digit threadIdx.x go, from the counts of all tiles.
__device__ inline uint32_t find_start(const uint32_t* counts, int64_t tiles, uint32_t* space) {
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  uint32_t before = 0, all = 0;
#pragma unroll 4
  for (int64_t t = 0; t < tiles; ++t) {
    const uint32_t count = counts[threadIdx.x * tiles + t];
    before += t < blockIdx.x ? count : 0;
    all += count;
  }
  uint32_t through = all;  // this digit and those below it in the warp
  for (int offset = 1; offset < kWarp; offset *= 2) {
    const uint32_t other = __shfl_up_sync(kAllLanes, through, offset);
    if (lane >= offset) through += other;
  }
  if (lane == kWarp - 1) space[warp] = through;
  __syncthreads();
  for (int w = 0; w < warp; ++w) before += space[w];
  return before + through - all;
}

// Each warp owns consecutive numbers of the tile: its place among equal digits is the start of the
// digit in this tile, plus what warps before it hold, plus what came before in the warp itself.
template <int kPerLane>
__global__ void __launch_bounds__(kBlock)
    scatter_digits(Source from, int64_t count, int shift, int64_t tiles, const uint32_t* starts,
                   bool summed, Pair* to, int32_t* position) {
  __shared__ uint32_t next[kWarps][kDigits];
  __shared__ uint32_t space[kWarps];
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (int w = 0; w < kWarps; ++w) next[w][threadIdx.x] = 0;
  __syncthreads();
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kBlock * kPerLane +
                        static_cast<int64_t>(warp) * kWarp * kPerLane;
  Pair mine[kPerLane];
  uint32_t equal[kPerLane];
#pragma unroll
  for (int u = 0; u < kPerLane; ++u) {
    const int64_t k = first + u * kWarp + lane;
    mine[u] = k < count ? read(from, k) : Pair{0, -1};
  }
#pragma unroll
  for (int u = 0; u < kPerLane; ++u) {
    const int64_t k = first + u * kWarp + lane;
    const int digit = k < count ? (mine[u].value >> shift) & (kDigits - 1) : kDigits;
    equal[u] = __match_any_sync(kAllLanes, digit);
    const bool leader = (equal[u] & ((1u << lane) - 1)) == 0;
    if (leader && digit < kDigits) next[warp][digit] += __popc(equal[u]);
    __syncwarp();
  }
  __syncthreads();
  uint32_t start =
      summed ? starts[threadIdx.x * tiles + blockIdx.x] : find_start(starts, tiles, space);
  for (int w = 0; w < kWarps; ++w) {
    const uint32_t held = next[w][threadIdx.x];
    next[w][threadIdx.x] = start;
    start += held;
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < kPerLane; ++u) {
    const bool some = first + u * kWarp + lane < count;
    const int digit = (mine[u].value >> shift) & (kDigits - 1);
    const unsigned earlier = equal[u] & ((1u << lane) - 1);
    uint32_t at = 0;
    if (some) at = next[warp][digit] + __popc(earlier);
    __syncwarp();
    if (some && earlier == 0) next[warp][digit] += __popc(equal[u]);
    __syncwarp();
    if (!some) continue;
    to[at] = mine[u];
    if (position) position[at] = mine[u].position;
  }
}

// offset[v] = how many values are below v.
__global__ void find_offsets(const Pair* sorted, int64_t count, int64_t values, int64_t* offset) {
  const int64_t v = global_thread();
  if (v > values) return;
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (sorted[middle].value < v) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  offset[v] = low;
}

int64_t padded(int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

}  // namespace

void positions_by_value(const Queue& queue, const int64_t* index, int64_t count, int64_t values,
                        int64_t* offset, int32_t* position) {
  const cudaStream_t stream = stream_of(queue);
  const int64_t tiles = tiles_of(count);
  const int64_t size = padded(count * static_cast<int64_t>(sizeof(Pair)));
  auto* memory = static_cast<char*>(
      queue.scratch(2 * size + padded(tiles * kDigits * static_cast<int64_t>(sizeof(uint32_t)))));
  Pair* pairs[2] = {reinterpret_cast<Pair*>(memory), reinterpret_cast<Pair*>(memory + size)};
  auto* counts = reinterpret_cast<uint32_t*>(memory + 2 * size);
  const int passes = passes_for(values);
  Source from{index, nullptr};
  for (int pass = 0; count > 0 && pass < passes; ++pass) {
    const auto blocks = static_cast<unsigned>(tiles);
    Pair* to = pairs[pass % 2];
    const bool long_list = count > kLongList;
    (long_list ? count_digits<kManyPerLane>
               : count_digits<kFewPerLane>)<<<blocks, kBlock, 0, stream>>>(from, count, 8 * pass,
                                                                           tiles, counts);
    check_launch("positions_by_value, counts");
    const bool summed = tiles > kFewTiles;
    if (summed) {
      running_sums<<<1, kScanThreads, 0, stream>>>(counts, tiles * kDigits);
      check_launch("positions_by_value, sums");
    }
    (long_list ? scatter_digits<kManyPerLane>
               : scatter_digits<kFewPerLane>)<<<blocks, kBlock, 0, stream>>>(
        from, count, 8 * pass, tiles, counts, summed, to, pass + 1 == passes ? position : nullptr);
    check_launch("positions_by_value, scatter");
    from = {nullptr, to};
  }
  find_offsets<<<blocks_for(values + 1, kBlock), kBlock, 0, stream>>>(from.pairs, count, values,
                                                                      offset);
  check_launch("positions_by_value, offsets");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL_OF(kernels::positions_by_value, positions_by_value)
