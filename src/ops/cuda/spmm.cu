// Sparse matrix times dense matrix, and sums of consecutive rows, which are the same without an
// index.
#include "rows.cuh"

namespace grm::cuda {

template <class T>
size_t row_workspace_bytes(int64_t entries, int64_t d) {
  const int64_t cuts = cuts_of(entries);
  if (cuts == 0) return 0;
  return static_cast<size_t>(pieces_start(cuts) + cuts * d * static_cast<int64_t>(sizeof(T)));
}

template <class T>
void spmm(const Pattern& a, const T* w, const T* x, int64_t d, T* y, const RowWorkspace& work,
          void* stream) {
  RowTask<T> t{a.rows, a.offset, a.index, a.edge, w, nullptr, x, d, y, nullptr, false, 0};
  set_workspace(t, work);
  launch_rows<T, true, false>(t, "spmm", stream);
}

template <class T>
void segment_reduce(const int64_t* offset, int64_t segments, const T* x, int64_t d, bool mean, T* y,
                    const RowWorkspace& work, void* stream) {
  RowTask<T> t{segments, offset, nullptr, nullptr, nullptr, nullptr, x, d, y, nullptr, mean, 0};
  set_workspace(t, work);
  launch_rows<T, true, false>(t, "segment_reduce", stream);
}

#define INSTANTIATE(T)                                                                             \
  template size_t row_workspace_bytes<T>(int64_t, int64_t);                                        \
  template void spmm(const Pattern&, const T*, const T*, int64_t, T*, const RowWorkspace&, void*); \
  template void segment_reduce(const int64_t*, int64_t, const T*, int64_t, bool, T*,               \
                               const RowWorkspace&, void*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace grm::cuda
