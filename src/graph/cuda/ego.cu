// Draws ego-nets: one block a target. The first warp draws members in the order of the CPU (the
// order decides which numbers of the stream they use), then all threads look for pairs.
#include "core/cuda/philox.cuh"
#include "graph/kernels.h"

namespace grm::cuda {
namespace {

constexpr int kThreads = 128;

/// First position in ascending row[0 .. length) whose value is not below `value`.
__device__ inline int64_t lower_bound(const int32_t* row, int64_t length, int32_t value) {
  int64_t low = 0;
  while (length > 0) {
    const int64_t half = length / 2;
    if (row[low + half] < value) {
      low += half + 1;
      length -= half + 1;
    } else {
      length = half;
    }
  }
  return low;
}

struct Row {  // the in-neighbours of a node, itself left out
  const int32_t* index;
  int64_t self;  // where the node itself stands; the end if it does not
  int64_t count;
  __device__ int32_t neighbour(int64_t k) const { return index[k < self ? k : k + 1]; }
};

__device__ inline Row row_of(const int64_t* offset, const int32_t* index, int32_t node) {
  const int64_t begin = offset[node], degree = offset[node + 1] - begin;
  Row row{index + begin, 0, degree};
  row.self = lower_bound(row.index, degree, node);
  if (row.self < degree && row.index[row.self] == node) {
    row.count = degree - 1;
  } else {
    row.self = degree;
  }
  return row;
}

template <class T>
__device__ inline T from_lane(T value, int lane) {
  return __shfl_sync(kAllLanes, value, lane);
}

__device__ inline const int32_t* from_lane(const int32_t* p, int lane) {
  return reinterpret_cast<const int32_t*>(
      __shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(p), lane));
}

/// Members in shared memory, kept by one warp.
struct Members {
  int32_t* node;
  int count;

  /// Adds one candidate for each lane, in the order of the lanes, unless it is a member already.
  /// Candidates of one call differ from each other.
  __device__ void add(bool some, int32_t candidate, int lane) {
    bool fresh = some;
    for (int m = 0; m < count; ++m) fresh = fresh && node[m] != candidate;
    const unsigned all = __ballot_sync(kAllLanes, fresh);
    if (fresh) node[count + __popc(all & ((1u << lane) - 1))] = candidate;
    count += __popc(all);
    __syncwarp();
  }
};

/// Floyd's choice of `most` < count positions: the lanes hold numbers lane and lane + 32 of it.
__device__ void choose(int64_t count, int most, uint64_t key, uint64_t& used, int lane,
                       int64_t (&chosen)[2]) {
  const int64_t start = count - most;
  int64_t drawn[2] = {};
  bool refused = false;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = half * kWarp + lane;
    if (i >= most) continue;
    const uint64_t n = static_cast<uint64_t>(start + i) + 1;
    const uint64_t x = number(key, used + i);
    refused = refused || x >= UINT64_MAX - UINT64_MAX % n;
    drawn[half] = static_cast<int64_t>(x % n);
  }
  if (!__any_sync(kAllLanes, refused)) {
    used += most;
  } else {  // once in 10^15 draws: number after number, as the CPU does it
    for (int i = 0; i < most; ++i) {
      const uint64_t n = static_cast<uint64_t>(start + i) + 1;
      uint64_t x = number(key, used++);
      while (x >= UINT64_MAX - UINT64_MAX % n) x = number(key, used++);
      if (i % kWarp == lane) drawn[i / kWarp] = static_cast<int64_t>(x % n);
    }
  }
  chosen[0] = chosen[1] = -1;
  for (int i = 0; i < most; ++i) {
    const int64_t pick = from_lane(i < kWarp ? drawn[0] : drawn[1], i % kWarp);
    const bool taken = __any_sync(kAllLanes, chosen[0] == pick || chosen[1] == pick);
    if (i % kWarp == lane) chosen[i / kWarp] = taken ? start + i : pick;
  }
}

__device__ void draw(const Row& row, int most, uint64_t key, uint64_t& used, int lane,
                     Members& members) {
  int64_t chosen[2] = {lane, lane + kWarp};
  int taken = static_cast<int>(row.count < most ? row.count : most);
  if (row.count > most) choose(row.count, most, key, used, lane, chosen);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool some = half * kWarp + lane < taken;
    members.add(some, some ? row.neighbour(chosen[half]) : -1, lane);
  }
}

/// All members of the net of `target`, ascending after the first.
__device__ int collect(const int64_t* offset, const int32_t* index, int32_t target,
                       const EgoFanout& fanout, uint64_t key, int lane, int32_t* found,
                       int32_t* sorted) {
  if (lane == 0) found[0] = target;
  __syncwarp();
  Members members{found, 1};
  uint64_t used = 0;
  int begin = 0;
  for (int hop = 0; hop < fanout.hops && fanout.most[hop] > 0; ++hop) {
    const int end = members.count;
    for (int base = begin; base < end; base += kWarp) {
      // The rows of 32 members are looked up at once, their draws follow one another.
      Row mine{};
      if (base + lane < end) mine = row_of(offset, index, found[base + lane]);
      const int here = end - base < kWarp ? end - base : kWarp;
      for (int k = 0; k < here; ++k) {
        const Row row{from_lane(mine.index, k), from_lane(mine.self, k), from_lane(mine.count, k)};
        draw(row, fanout.most[hop], key, used, lane, members);
      }
    }
    begin = end;
  }
  for (int a = lane; a < members.count; a += kWarp) {
    int rank = a > 0 ? 1 : 0;
    for (int b = 1; a > 0 && b < members.count; ++b) rank += found[b] < found[a];
    sorted[rank] = found[a];
  }
  return members.count;
}

__global__ void __launch_bounds__(kThreads)
    sample_kernel(const int64_t* offset, const int32_t* index, const int64_t* targets,
                  const EgoFanout fanout, StreamKey draws, const EgoNets nets) {
  __shared__ int32_t found[kMaxEgoNodes], member[kMaxEgoNodes];
  __shared__ unsigned long long mask[kMaxEgoNodes];
  __shared__ int64_t begin[kMaxEgoNodes], degree[kMaxEgoNodes];
  __shared__ int size;
  const int64_t g = blockIdx.x;
  if (threadIdx.x < kWarp) {
    const int64_t target = targets[g];
    const uint64_t key = mix(read_key(draws), static_cast<uint64_t>(target));
    const int count = collect(offset, index, static_cast<int32_t>(target), fanout, key, threadIdx.x,
                              found, member);
    if (threadIdx.x == 0) size = count;
  }
  __syncthreads();
  const int n = size;
  for (int a = threadIdx.x; a < n; a += kThreads) {
    mask[a] = 0;
    begin[a] = offset[member[a]];
    degree[a] = offset[member[a] + 1] - begin[a];
  }
  __syncthreads();
  for (int pair = threadIdx.x; pair < n * n; pair += kThreads) {
    const int a = pair / n, b = pair % n;
    const int32_t* row = index + begin[a];
    const int64_t at = lower_bound(row, degree[a], member[b]);
    if (at < degree[a] && row[at] == member[b]) atomicOr(&mask[a], 1ull << b);
  }
  __syncthreads();
  const int64_t first = g * nets.capacity;
  for (int a = threadIdx.x; a < n; a += kThreads) {
    nets.nodes[first + a] = member[a];
    nets.mask[first + a] = mask[a];
  }
  if (threadIdx.x > 0) return;
  int64_t edges = 0, loops = 0;
  for (int a = 0; a < n; ++a) {
    edges += __popcll(mask[a]);
    loops += __popcll(mask[a] | 1ull << a);
  }
  nets.node_offset[g + 1] = n;
  nets.edge_offset[g + 1] = edges;
  nets.loop_offset[g + 1] = loops;
}

/// Sums from the left over [1 .. count], three arrays at once, by one block.
__global__ void __launch_bounds__(1024) scan_kernel(const EgoNets nets) {
  __shared__ int64_t part[1024];
  int64_t* arrays[3] = {nets.node_offset, nets.edge_offset, nets.loop_offset};
  const int64_t each = (nets.graphs + 1023) / 1024;
  const int64_t first = threadIdx.x * each;
  const int64_t last = first + each < nets.graphs ? first + each : nets.graphs;
  for (int64_t* array : arrays) {
    int64_t sum = 0;
    for (int64_t g = first; g < last; ++g) sum += array[g + 1];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
      const int64_t before = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
      __syncthreads();
      part[threadIdx.x] += before;
      __syncthreads();
    }
    int64_t at = threadIdx.x > 0 ? part[threadIdx.x - 1] : 0;
    for (int64_t g = first; g < last; ++g) array[g + 1] = at += array[g + 1];
    if (threadIdx.x == 0) array[0] = 0;
    __syncthreads();
  }
}

}  // namespace

void ego_sample(const Queue& queue, const int64_t* offset, const int32_t* index,
                const int64_t* target, const EgoFanout& fanout, StreamKey key,
                const EgoNets& nets) {
  if (nets.graphs > 0) {
    sample_kernel<<<blocks_for(nets.graphs, 1), kThreads, 0, stream_of(queue)>>>(
        offset, index, target, fanout, key, nets);
    check_launch("ego_sample");
  }
  scan_kernel<<<1, 1024, 0, stream_of(queue)>>>(nets);
  check_launch("ego_sample, offsets");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL_OF(kernels::ego_sample, ego_sample)
