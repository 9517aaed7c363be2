#pragma once

#include <cstdint>

#include "../graph/place.h"
#include "contrast_kernels.h"

// Kernels of the methods on a GPU, with scratch memory of their own. The host's loops are in the
// files that call these.
namespace grm::dispatch {

/// Rows of graph g are offset[g] .. offset[g + 1).   scale: [graphs, cols].
template <class T>
void instance_norm(const Place& place, const int64_t* offset, int64_t graphs, const T* x,
                   int64_t cols, double eps, T* y, T* scale);
template <class T>
void instance_norm_gradient(const Place& place, const int64_t* offset, int64_t graphs, const T* y,
                            const T* dy, const T* scale, int64_t cols, T* dx);

/// The kernels of contrast_kernels.h, with pointers of the place.
template <class T>
void tile_sums(const Place& place, const T* c, int64_t rows, int64_t cols, double inverse_tau,
               double* row_sum, double* col_sum, const kernels::TileClusters& clusters,
               double* cluster_sum);
template <class T>
void tile_weights(const Place& place, T* c, int64_t rows, int64_t cols, double inverse_tau,
                  const T* row_scale, const T* col_scale, const kernels::TileClusters& clusters,
                  const T* cluster_scale);
template <class T>
void sinkhorn(const Place& place, const T* s, int64_t n, int64_t k, double epsilon,
              int64_t iterations, T* q);

}  // namespace grm::dispatch
