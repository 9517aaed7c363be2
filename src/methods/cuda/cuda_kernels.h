#pragma once

#include <cstddef>
#include <cstdint>

#include "../contrast_kernels.h"

// Kernels of the methods on a GPU; the conventions of ops/cuda/cuda_kernels.h.
namespace grm::cuda {

using kernels::TileClusters;

/// graph_level::kernels::normalise for all graphs of a batch at once: the rows of graph g are
/// offset[g] .. offset[g + 1).   scale: [graphs, cols], 0 for a graph without rows.
template <class T>
void instance_norm(const int64_t* offset, int64_t graphs, const T* x, int64_t cols, double eps,
                   T* y, T* scale, void* stream);
template <class T>
void instance_norm_gradient(const int64_t* offset, int64_t graphs, const T* y, const T* dy,
                            const T* scale, int64_t cols, T* dx, void* stream);

/// The kernels of methods/contrast_kernels.h. Sums are added to, as on the CPU.
size_t tile_workspace_bytes(int64_t rows, int64_t cols);
template <class T>
void tile_sums(const T* c, int64_t rows, int64_t cols, double inverse_tau, double* row_sum,
               double* col_sum, const TileClusters& clusters, double* cluster_sum, void* work,
               void* stream);
template <class T>
void tile_weights(T* c, int64_t rows, int64_t cols, double inverse_tau, const T* row_scale,
                  const T* col_scale, const TileClusters& clusters, const T* cluster_scale,
                  void* stream);

size_t sinkhorn_workspace_bytes(int64_t n, int64_t k);
template <class T>
void sinkhorn(const T* s, int64_t n, int64_t k, double epsilon, int64_t iterations, T* q,
              void* work, void* stream);

}  // namespace grm::cuda
