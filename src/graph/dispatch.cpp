#include "dispatch.h"

#ifdef GRM_CUDA
#include "../core/cuda/cuda_kernels.h"
#include "cuda/cuda_kernels.h"
#endif

namespace grm::graph_dispatch {

using kernels::NeighbourLists;
using kernels::PathLimits;

#ifdef GRM_CUDA

void philox_uniform(const Place& place, float* out, int64_t n, const Stream& stream, float low,
                    float high) {
  cuda::philox_uniform(out, n, {stream.key(), stream.place()}, 0, low, high, place.stream);
}
void philox_uniform(const Place& place, double* out, int64_t n, const Stream& stream, double low,
                    double high) {
  cuda::philox_uniform(out, n, {stream.key(), stream.place()}, 0, low, high, place.stream);
}
void philox_normal(const Place& place, float* out, int64_t n, const Stream& stream) {
  cuda::philox_normal(out, n, {stream.key(), stream.place()}, 0, place.stream);
}
void philox_normal(const Place& place, double* out, int64_t n, const Stream& stream) {
  cuda::philox_normal(out, n, {stream.key(), stream.place()}, 0, place.stream);
}

template <class Count>
size_t path_workspace_bytes(int64_t nodes, int64_t blocks) {
  return cuda::path_workspace_bytes<Count>(nodes, blocks);
}
template <class Count>
void path_search(const Place& place, const NeighbourLists& graph, int64_t first, int64_t blocks,
                 int depth, void* work, int32_t* inexact) {
  cuda::path_search<Count>(graph, first, blocks, depth, work, inexact, place.stream);
}
template <class Count>
void path_judge(const Place& place, const NeighbourLists& members, int64_t graph_nodes,
                int64_t blocks, const PathLimits& limits, const void* work, uint64_t* sure,
                uint64_t* unsure, int64_t stride) {
  cuda::path_judge<Count>(members, graph_nodes, blocks, limits, work, sure, unsure, stride,
                          place.stream);
}
template <class Count>
void path_counts(const Place& place, int64_t graph_nodes, int64_t blocks, const void* work,
                 const int32_t* node, const int32_t* source, int64_t count, double* out) {
  cuda::path_counts<Count>(graph_nodes, blocks, work, node, source, count, out, place.stream);
}

#else

void philox_uniform(const Place&, float*, int64_t, const Stream&, float, float) {
  built_without_cuda();
}
void philox_uniform(const Place&, double*, int64_t, const Stream&, double, double) {
  built_without_cuda();
}
void philox_normal(const Place&, float*, int64_t, const Stream&) {
  built_without_cuda();
}
void philox_normal(const Place&, double*, int64_t, const Stream&) {
  built_without_cuda();
}
template <class Count>
size_t path_workspace_bytes(int64_t, int64_t) {
  built_without_cuda();
}
template <class Count>
void path_search(const Place&, const NeighbourLists&, int64_t, int64_t, int, void*, int32_t*) {
  built_without_cuda();
}
template <class Count>
void path_judge(const Place&, const NeighbourLists&, int64_t, int64_t, const PathLimits&,
                const void*, uint64_t*, uint64_t*, int64_t) {
  built_without_cuda();
}
template <class Count>
void path_counts(const Place&, int64_t, int64_t, const void*, const int32_t*, const int32_t*,
                 int64_t, double*) {
  built_without_cuda();
}

#endif

#define GRM_INSTANTIATE(Count)                                                                    \
  template size_t path_workspace_bytes<Count>(int64_t, int64_t);                                  \
  template void path_search<Count>(const Place&, const NeighbourLists&, int64_t, int64_t, int,    \
                                   void*, int32_t*);                                              \
  template void path_judge<Count>(const Place&, const NeighbourLists&, int64_t, int64_t,          \
                                  const PathLimits&, const void*, uint64_t*, uint64_t*, int64_t); \
  template void path_counts<Count>(const Place&, int64_t, int64_t, const void*, const int32_t*,   \
                                   const int32_t*, int64_t, double*);
GRM_INSTANTIATE(float)
GRM_INSTANTIATE(double)
#undef GRM_INSTANTIATE

}  // namespace grm::graph_dispatch
