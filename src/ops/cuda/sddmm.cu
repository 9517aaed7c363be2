// Inner products over a sparse pattern, alone or with the sparse product that reads the same rows.
#include "ops/cuda/rows.cuh"

namespace grm::cuda {
namespace {

template <class T>
void zero(T* s, int64_t entries, const Queue& queue) {
  if (entries == 0) return;
  check(cudaMemsetAsync(s, 0, entries * sizeof(T), stream_of(queue)), "sddmm of no columns");
}

}  // namespace

template <class T>
void sddmm(const Queue& queue, const Pattern& a, const T* p, const T* q, int64_t d, T* s) {
  if (d == 0) return zero(s, a.entries, queue);
  RowTask<T> t{a.rows, a.offset, a.index, a.edge, nullptr, p, q, d, nullptr, s, false, 0};
  t.cuts = cuts_of(a.entries);  // pieces have nothing to add up here
  launch_rows<T, false, true>(t, "sddmm", queue);
}

template <class T>
void spmm_sddmm(const Queue& queue, const Pattern& a, const T* w, const T* p, const T* x, int64_t d,
                T* y, T* s) {
  if (d == 0) return zero(s, a.entries, queue);
  RowTask<T> t{a.rows, a.offset, a.index, a.edge, w, p, x, d, y, s, false, 0};
  cut_rows(t, a.entries, a.longest, queue);
  launch_rows<T, true, true>(t, "spmm_sddmm", queue);
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(sddmm)
GRM_CUDA_KERNEL(spmm_sddmm)
