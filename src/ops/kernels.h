#pragma once

#include <cstdint>

// Kernels on raw pointers; instantiated for float and double. Matrices are dense and row-major.
// Every output element is written by one thread that adds in a fixed order, so that results do not
// depend on the number of threads.
namespace grm::kernels {

/// Rows of a sparse pattern. Values live in edge order: entry k has its value at edge[k], or at k
/// itself where `edge` is null (the pattern is stored in edge order).
struct Pattern {
  int64_t rows;
  const int64_t* offset;  // [rows + 1]
  const int32_t* index;   // [nnz]
  const int64_t* edge;    // [nnz] or null
};

/// y_i = sum over entries k of row i of w[edge k] x[index k].   w null: all ones.
template <class T>
void spmm(const Pattern& a, const T* w, const T* x, int64_t d, T* y);
/// y = spmm + bias in every row, and 0 for what is negative if `relu`.
template <class T>
void spmm_bias(const Pattern& a, const T* w, const T* x, int64_t d, const T* bias, bool relu, T* y);

/// s[edge k] = <p_i, q[index k]> for every entry k of row i.
template <class T>
void sddmm(const Pattern& a, const T* p, const T* q, int64_t d, T* s);

/// Both at once, reading every row of x once: y = spmm(a, w, x) and s = sddmm(a, p, x).
template <class T>
void spmm_sddmm(const Pattern& a, const T* w, const T* p, const T* x, int64_t d, T* y, T* s);

/// s_i = sum of w over row i.   w null: all ones.
template <class T>
void row_sum(const Pattern& a, const T* w, T* s);

/// w[k] = s_i for every entry k of row i.
template <class T>
void row_spread(const Pattern& a, const T* s, T* w);

/// scale_i = deg_i^-1/2, or 0 where deg_i is not positive; y_ji = w_ji scale_i scale_j.
template <class T>
void normalise(const Pattern& in, const T* w, T* scale, T* y);

/// dw of normalise() for the gradient dy of y. `out` is the transpose of `in`.
template <class T>
void normalise_backward(const Pattern& in, const Pattern& out, const T* w, const T* scale,
                        const T* dy, T* dw);

/// Softmax over the entries of each row, for every column of s apart.   s, y: [nnz, heads].
template <class T>
void row_softmax(const Pattern& a, const T* s, int64_t heads, T* y);
template <class T>
void row_softmax_backward(const Pattern& a, const T* y, const T* dy, int64_t heads, T* ds);

/// y_i = sum of the rows offset[i] .. offset[i + 1) of x, divided by their number if `mean`.
template <class T>
void segment_reduce(const int64_t* offset, int64_t segments, const T* x, int64_t d, bool mean,
                    T* y);
template <class T>
void segment_reduce_backward(const int64_t* offset, int64_t segments, const T* dy, int64_t d,
                             bool mean, T* dx);

/// y[k] = x[index[k]], rows of d numbers.
template <class T>
void gather_rows(const T* x, const int64_t* index, int64_t count, int64_t d, T* y);

/// The positions of index[0 .. count) by value: those of value v, ascending, are
/// position[offset[v] .. offset[v + 1]).   offset: [values + 1], position: [count].
void positions_by_value(const int64_t* index, int64_t count, int64_t values, int64_t* offset,
                        int32_t* position);

/// e = sigmoid(s) and kl = KL(Bernoulli(e) || Bernoulli(theta)); either output may be null.
template <class T>
void bernoulli_forward(const T* s, int64_t n, double theta, T* e, T* kl);
/// ds for the gradients of both outputs; either gradient may be null.
template <class T>
void bernoulli_backward(const T* s, const T* de, const T* dkl, int64_t n, double theta, T* ds);

/// kl_i = sum over the d columns of (sigma^2 + mu^2 - 1) / 2 - log sigma.
template <class T>
void gaussian_forward(const T* mu, const T* log_sigma, int64_t rows, int64_t d, T* kl);
/// Gradients; either output may be null.
template <class T>
void gaussian_backward(const T* mu, const T* log_sigma, const T* dkl, int64_t rows, int64_t d,
                       T* dmu, T* dlog_sigma);

}  // namespace grm::kernels
