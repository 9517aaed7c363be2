#pragma once

#include <torch/types.h>

#include <cstdint>

#include "../graph/place.h"
#include "grm/graph/adjacency.h"
#include "kernels.h"
#include "message_kernels.h"
#ifdef GRM_CUDA
#include "cuda/cuda_kernels.h"
#endif

// The kernels of kernels.h and message_kernels.h where the numbers live: the same names and
// arguments after the place, with pointers of that place.
namespace grm::ops::dispatch {

/// The rows of a pattern or of its transpose, with what a GPU wants to know of them.
struct Rows : kernels::Pattern {
  int64_t entries = 0;
  int64_t longest = -1;  // entries of the longest row; -1: not known
};

inline Rows rows_of(const Csr& csr, const int64_t* edge) {
  Rows rows;
  rows.rows = csr.rows;
  rows.offset = csr.offset();
  rows.entries = csr.nnz();
  rows.index = rows.entries > 0 ? csr.index() : nullptr;
  rows.edge = rows.entries > 0 ? edge : nullptr;
  rows.longest = csr.longest;
  return rows;
}
inline Rows rows_in(const Place& place, const Adjacency& a) {
  return rows_of(a.on(place.torch_device()).in, nullptr);
}
inline Rows rows_out(const Place& place, const Adjacency& a) {
  const Adjacency& there = a.on(place.torch_device());
  return rows_of(there.out, there.nnz() > 0 ? there.out_edge.data_ptr<int64_t>() : nullptr);
}

#ifdef GRM_CUDA

/// Scratch memory for rows that are cut; none where all are short.
template <class T>
torch::Tensor row_workspace(const Place& place, int64_t entries, int64_t longest, int64_t d) {
  if (longest >= 0 && longest <= cuda::kLongRow) return {};
  return workspace(place, cuda::row_workspace_bytes<T>(entries, d));
}

// Calls the CUDA kernel where the place is a GPU, and returns.
#define GRM_ON_CUDA(call) \
  if (place.cuda) {       \
    call;                 \
    return;               \
  }

#else
#define GRM_ON_CUDA(call) (void)place;
#endif

template <class T>
void spmm(const Place& place, const Rows& a, const T* w, const T* x, int64_t d, T* y) {
#ifdef GRM_CUDA
  if (place.cuda) {
    const torch::Tensor work = row_workspace<T>(place, a.entries, a.longest, d);
    cuda::spmm<T>(a, w, x, d, y, {a.entries, workspace_data(work)}, place.stream);
    return;
  }
#endif
  (void)place;
  kernels::spmm<T>(a, w, x, d, y);
}

template <class T>
void sddmm(const Place& place, const Rows& a, const T* p, const T* q, int64_t d, T* s) {
  GRM_ON_CUDA(cuda::sddmm<T>(a, a.entries, p, q, d, s, place.stream))
  kernels::sddmm<T>(a, p, q, d, s);
}

template <class T>
void spmm_sddmm(const Place& place, const Rows& a, const T* w, const T* p, const T* x, int64_t d,
                T* y, T* s) {
#ifdef GRM_CUDA
  if (place.cuda) {
    const torch::Tensor work = row_workspace<T>(place, a.entries, a.longest, d);
    cuda::spmm_sddmm<T>(a, a.entries, w, p, x, d, y, s, {a.entries, workspace_data(work)},
                        place.stream);
    return;
  }
#endif
  (void)place;
  kernels::spmm_sddmm<T>(a, w, p, x, d, y, s);
}

template <class T>
void row_sum(const Place& place, const Rows& a, const T* w, T* s) {
  GRM_ON_CUDA(cuda::row_sum<T>(a, w, s, place.stream))
  kernels::row_sum<T>(a, w, s);
}

template <class T>
void row_spread(const Place& place, const Rows& a, const T* s, T* w) {
  GRM_ON_CUDA(cuda::row_spread<T>(a, s, w, place.stream))
  kernels::row_spread<T>(a, s, w);
}

template <class T>
void normalise(const Place& place, const Rows& in, const T* w, T* scale, T* y) {
  GRM_ON_CUDA(cuda::normalise<T>(in, w, scale, y, place.stream))
  kernels::normalise<T>(in, w, scale, y);
}

template <class T>
void normalise_backward(const Place& place, const Rows& in, const Rows& out, const T* w,
                        const T* scale, const T* dy, T* dw) {
  GRM_ON_CUDA(cuda::normalise_backward<T>(in, out, w, scale, dy, dw, place.stream))
  kernels::normalise_backward<T>(in, out, w, scale, dy, dw);
}

template <class T>
void row_softmax(const Place& place, const Rows& a, const T* s, int64_t heads, T* y) {
  GRM_ON_CUDA(cuda::row_softmax<T>(a, s, heads, y, place.stream))
  kernels::row_softmax<T>(a, s, heads, y);
}

template <class T>
void row_softmax_backward(const Place& place, const Rows& a, const T* y, const T* dy, int64_t heads,
                          T* ds) {
  GRM_ON_CUDA(cuda::row_softmax_backward<T>(a, y, dy, heads, ds, place.stream))
  kernels::row_softmax_backward<T>(a, y, dy, heads, ds);
}

/// Consecutive rows; `rows` is offset[segments], `longest` the rows of the longest segment or -1.
struct Segments {
  const int64_t* offset;
  int64_t segments;
  int64_t rows;
  int64_t longest;
};

template <class T>
void segment_reduce(const Place& place, const Segments& s, const T* x, int64_t d, bool mean, T* y) {
#ifdef GRM_CUDA
  if (place.cuda) {
    const torch::Tensor work = row_workspace<T>(place, s.rows, s.longest, d);
    cuda::segment_reduce<T>(s.offset, s.segments, x, d, mean, y, {s.rows, workspace_data(work)},
                            place.stream);
    return;
  }
#endif
  (void)place;
  kernels::segment_reduce<T>(s.offset, s.segments, x, d, mean, y);
}

template <class T>
void segment_reduce_backward(const Place& place, const Segments& s, const T* dy, int64_t d,
                             bool mean, T* dx) {
  GRM_ON_CUDA(
      cuda::segment_reduce_backward<T>(s.offset, s.segments, s.rows, dy, d, mean, dx, place.stream))
  kernels::segment_reduce_backward<T>(s.offset, s.segments, dy, d, mean, dx);
}

template <class T>
void gather_rows(const Place& place, const T* x, const int64_t* index, int64_t count, int64_t d,
                 T* y) {
  GRM_ON_CUDA(cuda::gather_rows<T>(x, index, count, d, y, place.stream))
  kernels::gather_rows<T>(x, index, count, d, y);
}

inline void positions_by_value(const Place& place, const int64_t* index, int64_t count,
                               int64_t values, int64_t* offset, int32_t* position) {
#ifdef GRM_CUDA
  if (place.cuda) {
    const torch::Tensor work = workspace(place, cuda::positions_workspace_bytes(count, values));
    cuda::positions_by_value(index, count, values, offset, position, workspace_data(work),
                             place.stream);
    return;
  }
#endif
  (void)place;
  kernels::positions_by_value(index, count, values, offset, position);
}

template <class T>
void bernoulli_forward(const Place& place, const T* s, int64_t n, double theta, T* e, T* kl) {
  GRM_ON_CUDA(cuda::bernoulli_forward<T>(s, n, theta, e, kl, place.stream))
  kernels::bernoulli_forward<T>(s, n, theta, e, kl);
}

template <class T>
void bernoulli_backward(const Place& place, const T* s, const T* de, const T* dkl, int64_t n,
                        double theta, T* ds) {
  GRM_ON_CUDA(cuda::bernoulli_backward<T>(s, de, dkl, n, theta, ds, place.stream))
  kernels::bernoulli_backward<T>(s, de, dkl, n, theta, ds);
}

template <class T>
void gaussian_forward(const Place& place, const T* mu, const T* log_sigma, int64_t rows, int64_t d,
                      T* kl) {
  GRM_ON_CUDA(cuda::gaussian_forward<T>(mu, log_sigma, rows, d, kl, place.stream))
  kernels::gaussian_forward<T>(mu, log_sigma, rows, d, kl);
}

template <class T>
void gaussian_backward(const Place& place, const T* mu, const T* log_sigma, const T* dkl,
                       int64_t rows, int64_t d, T* dmu, T* dlog_sigma) {
  GRM_ON_CUDA(
      cuda::gaussian_backward<T>(mu, log_sigma, dkl, rows, d, dmu, dlog_sigma, place.stream))
  kernels::gaussian_backward<T>(mu, log_sigma, dkl, rows, d, dmu, dlog_sigma);
}

template <class T>
void relu_messages(const Place& place, const Rows& in, const T* w, const T* x, const T* e,
                   int64_t d, T* y) {
  GRM_ON_CUDA(cuda::relu_messages<T>(in, w, x, e, d, y, place.stream))
  kernels::relu_messages<T>(in, w, x, e, d, y);
}

template <class T>
void relu_messages_backward(const Place& place, const Rows& out, const T* w, const T* x, const T* e,
                            const T* dy, int64_t d, T* dx, T* de, T* dw) {
  GRM_ON_CUDA(cuda::relu_messages_backward<T>(out, w, x, e, dy, d, dx, de, dw, place.stream))
  kernels::relu_messages_backward<T>(out, w, x, e, dy, d, dx, de, dw);
}

template <class T>
void pair_scores(const Place& place, const Rows& in, const T* own, const T* other, const T* v,
                 int64_t d, T* s) {
  GRM_ON_CUDA(cuda::pair_scores<T>(in, own, other, v, d, s, place.stream))
  kernels::pair_scores<T>(in, own, other, v, d, s);
}

template <class T>
void pair_scores_backward(const Place& place, const Rows& a, const T* own, const T* other,
                          const T* v, const T* ds, int64_t d, T* down, T* dv) {
  GRM_ON_CUDA(cuda::pair_scores_backward<T>(a, own, other, v, ds, d, down, dv, place.stream))
  kernels::pair_scores_backward<T>(a, own, other, v, ds, d, down, dv);
}

template <class T>
void segment_max(const Place& place, const int64_t* offset, int64_t segments, const T* x, int64_t d,
                 T* y, int64_t* row) {
  GRM_ON_CUDA(cuda::segment_max<T>(offset, segments, x, d, y, row, place.stream))
  kernels::segment_max<T>(offset, segments, x, d, y, row);
}

#undef GRM_ON_CUDA

}  // namespace grm::ops::dispatch
