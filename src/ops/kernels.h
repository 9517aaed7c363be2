#pragma once

#include <cstdint>

#include "core/kernel.h"

// The kernels of this station, for float and double; core/kernel.h says how they are called.
// Matrices are dense and row-major. Outputs are written whole and do not overlap inputs. Every
// output element is written by one thread that adds in a fixed order, so that results do not depend
// on the number of threads.
namespace grm::kernels {

/// Rows of a sparse pattern. Values live in edge order: entry k has its value at edge[k], or at k
/// itself where `edge` is null (the pattern is stored in edge order).
struct Pattern {
  int64_t rows;
  const int64_t* offset;  // [rows + 1]
  const int32_t* index;   // [nnz]
  const int64_t* edge;    // [nnz] or null
  // What a GPU wants to know, since it cannot look.
  int64_t entries = 0;   // offset[rows], or more
  int64_t longest = -1;  // entries of the longest row; -1: not known
};

/// Consecutive rows: those of segment i are offset[i] .. offset[i + 1).
struct Segments {
  const int64_t* offset;  // [segments + 1]
  int64_t segments;
  int64_t rows;  // offset[segments], or more: the gradient of the rows behind the last segment is 0
  int64_t longest = -1;  // rows of the longest segment; -1: not known
};

/// y_i = sum over entries k of row i of w[edge k] x[index k].   w null: all ones.
template <class T>
struct spmm : Kernel<void(const Pattern& a, const T* w, const T* x, int64_t d, T* y)> {};
/// y = spmm + bias in every row, and 0 for what is negative if `relu`.
template <class T>
struct spmm_bias : CpuKernel<void(const Pattern& a, const T* w, const T* x, int64_t d,
                                  const T* bias, bool relu, T* y)> {};

/// s[edge k] = <p_i, q[index k]> for every entry k of row i.
template <class T>
struct sddmm : Kernel<void(const Pattern& a, const T* p, const T* q, int64_t d, T* s)> {};

/// Both at once, reading every row of x once: y = spmm(a, w, x) and s = sddmm(a, p, x).
template <class T>
struct spmm_sddmm
    : Kernel<void(const Pattern& a, const T* w, const T* p, const T* x, int64_t d, T* y, T* s)> {};

/// s_i = sum of w over row i.   w null: all ones.
template <class T>
struct row_sum : Kernel<void(const Pattern& a, const T* w, T* s)> {};

/// w[k] = s_i for every entry k of row i.
template <class T>
struct row_spread : Kernel<void(const Pattern& a, const T* s, T* w)> {};

/// scale_i = deg_i^-1/2, or 0 where deg_i is not positive; y_ji = w_ji scale_i scale_j.
template <class T>
struct normalise : Kernel<void(const Pattern& in, const T* w, T* scale, T* y)> {};

/// dw of normalise() for the gradient dy of y. `out` is the transpose of `in`.
template <class T>
struct normalise_backward : Kernel<void(const Pattern& in, const Pattern& out, const T* w,
                                        const T* scale, const T* dy, T* dw)> {};

/// Softmax over the entries of each row, for every column of s apart.   s, y: [nnz, heads].
template <class T>
struct row_softmax : Kernel<void(const Pattern& a, const T* s, int64_t heads, T* y)> {};
template <class T>
struct row_softmax_backward
    : Kernel<void(const Pattern& a, const T* y, const T* dy, int64_t heads, T* ds)> {};

/// y_i = sum of the rows of x in segment i, divided by their number if `mean`.
template <class T>
struct segment_reduce : Kernel<void(const Segments& s, const T* x, int64_t d, bool mean, T* y)> {};
template <class T>
struct segment_reduce_backward
    : Kernel<void(const Segments& s, const T* dy, int64_t d, bool mean, T* dx)> {};

/// sum[c] = sum over rows of x[r, c], kept in double.
template <class T>
struct bias_sums : CudaKernel<void(const T* x, int64_t rows, int64_t cols, T* sum)> {};

/// y[k] = x[index[k]], rows of d numbers; zeros where index[k] < 0.
template <class T>
struct gather_rows
    : Kernel<void(const T* x, const int64_t* index, int64_t count, int64_t d, T* y)> {};

/// The positions of index[0 .. count) by value: those of value v, ascending, are
/// position[offset[v] .. offset[v + 1]).   offset: [values + 1], position: [count]. On a GPU at
/// most 2^31 - 1 positions and values.
struct positions_by_value : Kernel<void(const int64_t* index, int64_t count, int64_t values,
                                        int64_t* offset, int32_t* position)> {};

/// e = sigmoid(s) and kl = KL(Bernoulli(e) || Bernoulli(theta)); either output may be null.
template <class T>
struct bernoulli_forward : Kernel<void(const T* s, int64_t n, double theta, T* e, T* kl)> {};
/// ds for the gradients of both outputs; either gradient may be null.
template <class T>
struct bernoulli_backward
    : Kernel<void(const T* s, const T* de, const T* dkl, int64_t n, double theta, T* ds)> {};

/// kl_i = sum over the d columns of (sigma^2 + mu^2 - 1) / 2 - log sigma.
template <class T>
struct gaussian_forward
    : Kernel<void(const T* mu, const T* log_sigma, int64_t rows, int64_t d, T* kl)> {};
/// Gradients; either output may be null.
template <class T>
struct gaussian_backward : Kernel<void(const T* mu, const T* log_sigma, const T* dkl, int64_t rows,
                                       int64_t d, T* dmu, T* dlog_sigma)> {};

// --- messages along edges: ops/messages.h ---

/// y_i = sum over entries k of row i of w[k] relu(x[index k] + e[k]).   w null: all ones. The
/// pattern is in edge order.
template <class T>
struct relu_messages
    : Kernel<void(const Pattern& in, const T* w, const T* x, const T* e, int64_t d, T* y)> {};

/// dx, and where they are not null de and dw, in one pass over the transpose.
template <class T>
struct relu_messages_backward : Kernel<void(const Pattern& out, const T* w, const T* x, const T* e,
                                            const T* dy, int64_t d, T* dx, T* de, T* dw)> {};

/// s[k] = <v, relu(other[index k] + own_i)> for every entry k of row i.
template <class T>
struct pair_scores
    : Kernel<void(const Pattern& in, const T* own, const T* other, const T* v, int64_t d, T* s)> {};

/// For the rows of a pattern or of its transpose, with g = ds[edge k] and m = other[index k] +
/// own_i:  down_i = sum of g v 1[m > 0],  and where not null  dv_i = sum of g relu(m).
template <class T>
struct pair_scores_backward : Kernel<void(const Pattern& a, const T* own, const T* other,
                                          const T* v, const T* ds, int64_t d, T* down, T* dv)> {};

/// y[i, c] and the row that holds it (-1 where the segment is empty), the first of equal ones.
template <class T>
struct segment_max : Kernel<void(const int64_t* offset, int64_t segments, const T* x, int64_t d,
                                 T* y, int64_t* row)> {};

// --- generated graphs: ops/generated.h ---

/// A batch of small graphs: the nodes of graph g are the rows offset[g] .. offset[g + 1).
struct GeneratorBatch {
  int64_t graphs;
  const int64_t* offset;  // [graphs + 1]
  int64_t max_nodes;      // of one graph
  int64_t edge_width;     // columns of f
  int64_t width;          // columns of x and y
  double theta;
  bool normalised;  // y = D^-1/2 E D^-1/2 x with D the degrees of E, else y = E x
  bool mean_kl;     // kl is the mean over the ordered pairs of a graph, else the sum
};

/// With e_ij = sigmoid(<f_i, f_j>) for all ordered pairs of a graph: y as above, and kl[g] = sum or
/// mean of KL(Bernoulli(e) || Bernoulli(theta)). x and y may both be null, and kl.
template <class T>
struct generate_forward
    : Kernel<void(const GeneratorBatch& batch, const T* f, const T* x, T* y, T* kl)> {};

/// Gradients for dy (null: y is not used; x and dx are then ignored) and dkl (null likewise).
/// df and dx may be null.
template <class T>
struct generate_backward : Kernel<void(const GeneratorBatch& batch, const T* f, const T* x,
                                       const T* dy, const T* dkl, T* df, T* dx)> {};

/// Most nodes of a graph for the kernels of a GPU: the largest max_nodes of a batch. A graph of more
/// than max_nodes gets results that are NaN.
constexpr int64_t kMaxGeneratedNodes = 64;

// --- on the host alone: ops/latent.h and ops/propagate.h ---

/// Bounds and shift of log sigma.
struct LogSigma {
  double shift, low, high;
};

/// z [n, k] and kl [n] from heads [n, 2k] and eps [n, k]; eps null: z = mu. kl may be null.
template <class T>
struct latent_forward : CpuKernel<void(const T* heads, const T* eps, int64_t n, int64_t k,
                                       const LogSigma& rule, T* z, T* kl)> {};
/// dheads for the gradients of z and kl; either may be null.
template <class T>
struct latent_backward : CpuKernel<void(const T* heads, const T* eps, const T* dz, const T* dkl,
                                        int64_t n, int64_t k, const LogSigma& rule, T* dheads)> {};

/// d_i = sqrt(|| h_j - z_i ||^2 + tiny), j = index[i]; index null: j = i.
template <class T>
struct distance_forward : CpuKernel<void(const T* h, const T* z, const int64_t* index, int64_t n,
                                         int64_t k, T tiny, T* d)> {};
/// dz_i = dd_i (z_i - h_j) / d_i.
template <class T>
struct distance_backward : CpuKernel<void(const T* h, const T* z, const int64_t* index, const T* d,
                                          const T* dd, int64_t n, int64_t k, T* dz)> {};

/// sums[c] = sum over rows of dy[r, c] where y[r, c] > 0, and g = dy there and 0 elsewhere.
/// y and g null: all of dy.
template <class T>
struct bias_gradient
    : CpuKernel<void(const T* y, const T* dy, int64_t rows, int64_t cols, T* g, T* sums)> {};

}  // namespace grm::kernels
