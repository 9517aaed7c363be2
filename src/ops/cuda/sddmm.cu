// Inner products over a sparse pattern, alone or with the sparse product that reads the same rows.
#include "rows.cuh"

namespace grm::cuda {
namespace {

template <class T>
void zero(T* s, int64_t entries, void* stream) {
  if (entries == 0) return;
  check(cudaMemsetAsync(s, 0, entries * sizeof(T), as_stream(stream)), "sddmm of no columns");
}

}  // namespace

template <class T>
void sddmm(const Pattern& a, int64_t entries, const T* p, const T* q, int64_t d, T* s,
           void* stream) {
  if (d == 0) return zero(s, entries, stream);
  RowTask<T> t{a.rows, a.offset, a.index, a.edge, nullptr, p, q, d, nullptr, s, false, 0};
  t.cuts = cuts_of(entries);  // pieces have nothing to add up here
  launch_rows<T, false, true>(t, "sddmm", stream);
}

template <class T>
void spmm_sddmm(const Pattern& a, int64_t entries, const T* w, const T* p, const T* x, int64_t d,
                T* y, T* s, const RowWorkspace& work, void* stream) {
  if (d == 0) return zero(s, entries, stream);
  RowTask<T> t{a.rows, a.offset, a.index, a.edge, w, p, x, d, y, s, false, 0};
  set_workspace(t, work);
  launch_rows<T, true, true>(t, "spmm_sddmm", stream);
}

#define INSTANTIATE(T)                                                                             \
  template void sddmm(const Pattern&, int64_t, const T*, const T*, int64_t, T*, void*);            \
  template void spmm_sddmm(const Pattern&, int64_t, const T*, const T*, const T*, int64_t, T*, T*, \
                           const RowWorkspace&, void*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace grm::cuda
