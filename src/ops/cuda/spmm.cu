// Sparse matrix times dense matrix, and sums of consecutive rows, which are the same without an
// index.
#include "ops/cuda/rows.cuh"

namespace grm::cuda {

template <class T>
void spmm(const Queue& queue, const Pattern& a, const T* w, const T* x, int64_t d, T* y) {
  RowTask<T> t{a.rows, a.offset, a.index, a.edge, w, nullptr, x, d, y, nullptr, false, 0};
  cut_rows(t, a.entries, a.longest, queue);
  launch_rows<T, true, false>(t, "spmm", queue);
}

template <class T>
void segment_reduce(const Queue& queue, const Segments& s, const T* x, int64_t d, bool mean, T* y) {
  RowTask<T> t{s.segments, s.offset, nullptr, nullptr, nullptr, nullptr, x, d, y, nullptr, mean, 0};
  cut_rows(t, s.rows, s.longest, queue);
  launch_rows<T, true, false>(t, "segment_reduce", queue);
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(spmm)
GRM_CUDA_KERNEL(segment_reduce)
