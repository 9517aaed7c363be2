// Packs drawn ego-nets: rows of nodes, and their pairs as a block-diagonal pattern.
#include "core/cuda/launch.cuh"
#include "graph/kernels.h"

namespace grm::cuda {
namespace {

/// The packed row of place a of net g; places without a node are the rows behind the last one.
__device__ inline int64_t packed_row(const EgoNets& nets, int64_t g, int64_t a) {
  const int64_t first = nets.node_offset[g], size = nets.node_offset[g + 1] - first;
  if (a < size) return first + a;
  const int64_t empty_before = g * nets.capacity - first;
  return nets.node_offset[nets.graphs] + empty_before + a - size;
}

__global__ void __launch_bounds__(kBlock)
    rows_kernel(const EgoNets nets, int64_t* nodes, int64_t* graph_of_node) {
  const int64_t place = global_thread();
  if (place >= nets.graphs * nets.capacity) return;
  const int64_t g = place / nets.capacity, a = place % nets.capacity;
  const bool some = a < nets.node_offset[g + 1] - nets.node_offset[g];
  const int64_t row = packed_row(nets, g, a);
  nodes[row] = some ? nets.nodes[place] : 0;
  graph_of_node[row] = some ? g : nets.graphs;
}

/// One block a net, one thread a node: its row, and its row of the transpose.
template <class T>
__global__ void __launch_bounds__(kMaxEgoNodes)
    pattern_kernel(const EgoNets nets, bool loops, const EgoPattern out, T* kipf) {
  __shared__ unsigned long long into[kMaxEgoNodes], from[kMaxEgoNodes];
  const int64_t g = blockIdx.x;
  const int a = threadIdx.x;
  const int64_t first = nets.node_offset[g];
  const int n = static_cast<int>(nets.node_offset[g + 1] - first);
  const int64_t* edge_offset = loops ? nets.loop_offset : nets.edge_offset;
  if (a < n) into[a] = nets.mask[g * nets.capacity + a] | (loops ? 1ull << a : 0ull);
  __syncthreads();
  if (g == 0 && a == 0) out.in_offset[0] = out.out_offset[0] = 0;
  if (a < n) {
    unsigned long long column = 0;
    for (int i = 0; i < n; ++i) column |= (into[i] >> a & 1ull) << i;
    from[a] = column;
  }
  __syncthreads();
  if (a >= n) {
    if (a >= nets.capacity) return;
    const int64_t row = packed_row(nets, g, a), end = edge_offset[nets.graphs];
    out.in_offset[row + 1] = end;
    out.out_offset[row + 1] = end;
    return;
  }
  const int64_t start = edge_offset[g];
  int64_t at = start, back = start;
  for (int b = 0; b < a; ++b) {
    at += __popcll(into[b]);
    back += __popcll(from[b]);
  }
  const T own = T{1} / sqrt(static_cast<T>(__popcll(into[a])));
  for (unsigned long long left = into[a]; left != 0; left &= left - 1) {
    const int b = __ffsll(static_cast<long long>(left)) - 1;
    out.in_index[at] = static_cast<int32_t>(first + b);
    if (kipf) kipf[at] = own * (T{1} / sqrt(static_cast<T>(__popcll(into[b]))));
    ++at;
  }
  out.in_offset[first + a + 1] = at;
  for (unsigned long long left = from[a]; left != 0; left &= left - 1) {
    const int i = __ffsll(static_cast<long long>(left)) - 1;
    int64_t edge = start;
    for (int b = 0; b < i; ++b) edge += __popcll(into[b]);
    out.out_index[back] = static_cast<int32_t>(first + i);
    out.out_edge[back] = edge + __popcll(into[i] & ((1ull << a) - 1));
    ++back;
  }
  out.out_offset[first + a + 1] = back;
}

}  // namespace

void ego_rows(const Queue& queue, const EgoNets& nets, int64_t* nodes, int64_t* graph_of_node) {
  if (nets.graphs == 0) return;
  rows_kernel<<<blocks_for(nets.graphs * nets.capacity, kBlock), kBlock, 0, stream_of(queue)>>>(
      nets, nodes, graph_of_node);
  check_launch("ego_rows");
}

template <class T>
void ego_pattern(const Queue& queue, const EgoNets& nets, bool loops, const EgoPattern& pattern,
                 T* kipf) {
  if (nets.graphs == 0) return;
  pattern_kernel<T>
      <<<blocks_for(nets.graphs, 1), static_cast<unsigned>(kMaxEgoNodes), 0, stream_of(queue)>>>(
          nets, loops, pattern, kipf);
  check_launch("ego_pattern");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL_OF(kernels::ego_rows, ego_rows)
GRM_CUDA_KERNEL(ego_pattern)
