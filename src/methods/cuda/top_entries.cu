// The best entries of each graph: a block takes a graph, and every entry counts those before it.
#include "core/cuda/launch.cuh"
#include "methods/kernels.h"

namespace grm::cuda {
namespace {

constexpr double kRounding = 1e-9;  // 0.1 * 30 counts as 3, whatever the last bit says

template <class T>
__global__ void __launch_bounds__(kBlock)
    top_kernel(const T* score, const int64_t* offset, int64_t graphs, int64_t entries, double share,
               bool round_up, int64_t least, bool* keep) {
  const int64_t graph = blockIdx.x;
  if (graph == graphs) {  // behind the last graph
    for (int64_t e = offset[graphs] + threadIdx.x; e < entries; e += blockDim.x) keep[e] = false;
    return;
  }
  const int64_t begin = offset[graph], end = offset[graph + 1], count = end - begin;
  const double exact = share * static_cast<double>(count);
  int64_t k = static_cast<int64_t>(round_up ? ceil(exact - kRounding) : floor(exact + kRounding));
  k = k < least ? least : k;
  const auto value = [&](int64_t e) {
    return isnan(score[e]) ? -static_cast<T>(INFINITY) : score[e];
  };
  for (int64_t e = begin + threadIdx.x; e < end; e += blockDim.x) {
    const T own = value(e);
    int64_t before = 0;
    for (int64_t other = begin; other < end; ++other) {
      const T theirs = value(other);
      before += theirs > own || (theirs == own && other < e);
    }
    keep[e] = before < k;
  }
}

}  // namespace

template <class T>
void top_entries(const Queue& queue, const T* score, const int64_t* offset, int64_t graphs,
                 int64_t entries, double share, bool round_up, int64_t least, bool* keep) {
  if (entries == 0) return;
  top_kernel<T><<<blocks_for(graphs + 1, 1), kBlock, 0, stream_of(queue)>>>(
      score, offset, graphs, entries, share, round_up, least, keep);
  check_launch("top_entries");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(top_entries)
