#pragma once

#include <cstdint>

// Inner loops of the contrast on one tile of cosines c [rows, cols], float or double. Exponents are
// (c - 1) / tau, at most 0 up to rounding. A tile row with wanted[i] >= 0 also looks at the columns
// of that cluster, at temperature 1; both cluster arrays are null where there is no such term.
namespace grm::kernels {

struct TileClusters {
  const int32_t* wanted = nullptr;  // [rows]: the cluster a row looks for, -1: none
  const int32_t* column = nullptr;  // [cols]: the cluster of a column
};

/// row_sum[i] += sum_j e_ij, col_sum[j] += sum_i e_ij with e = exp((c - 1) / tau); a null col_sum
/// is left out. cluster_sum[i] += sum of exp(c - 1) over the columns of the wanted cluster.
template <class T>
void tile_sums(const T* c, int64_t rows, int64_t cols, double inverse_tau, double* row_sum,
               double* col_sum, const TileClusters& clusters, double* cluster_sum);

/// Replaces c_ij by e_ij (row_scale[i] + col_scale[j]), less cluster_scale[i] exp(c_ij - 1) for the
/// columns of the wanted cluster.
template <class T>
void tile_weights(T* c, int64_t rows, int64_t cols, double inverse_tau, const T* row_scale,
                  const T* col_scale, const TileClusters& clusters, const T* cluster_scale);

/// q = n diag(a) E diag(b), E = exp((s - max s) / epsilon), after `iterations` of
///   b_k = 1 / (k sum_i a_i E_ik),  a_i = 1 / (n sum_k E_ik b_k),  from a = 1 and b = 1.
template <class T>
void sinkhorn(const T* s, int64_t n, int64_t k, double epsilon, int64_t iterations, T* q);

}  // namespace grm::kernels
