#include "dispatch.h"

#ifdef GRM_CUDA
#include "cuda/cuda_kernels.h"
#endif

namespace grm::dispatch {

#ifdef GRM_CUDA

template <class T>
void instance_norm(const Place& place, const int64_t* offset, int64_t graphs, const T* x,
                   int64_t cols, double eps, T* y, T* scale) {
  cuda::instance_norm<T>(offset, graphs, x, cols, eps, y, scale, place.stream);
}

template <class T>
void instance_norm_gradient(const Place& place, const int64_t* offset, int64_t graphs, const T* y,
                            const T* dy, const T* scale, int64_t cols, T* dx) {
  cuda::instance_norm_gradient<T>(offset, graphs, y, dy, scale, cols, dx, place.stream);
}

template <class T>
void tile_sums(const Place& place, const T* c, int64_t rows, int64_t cols, double inverse_tau,
               double* row_sum, double* col_sum, const kernels::TileClusters& clusters,
               double* cluster_sum) {
  const torch::Tensor work = workspace(place, cuda::tile_workspace_bytes(rows, cols));
  cuda::tile_sums<T>(c, rows, cols, inverse_tau, row_sum, col_sum, clusters, cluster_sum,
                     workspace_data(work), place.stream);
}

template <class T>
void tile_weights(const Place& place, T* c, int64_t rows, int64_t cols, double inverse_tau,
                  const T* row_scale, const T* col_scale, const kernels::TileClusters& clusters,
                  const T* cluster_scale) {
  cuda::tile_weights<T>(c, rows, cols, inverse_tau, row_scale, col_scale, clusters, cluster_scale,
                        place.stream);
}

template <class T>
void sinkhorn(const Place& place, const T* s, int64_t n, int64_t k, double epsilon,
              int64_t iterations, T* q) {
  const torch::Tensor work = workspace(place, cuda::sinkhorn_workspace_bytes(n, k));
  cuda::sinkhorn<T>(s, n, k, epsilon, iterations, q, workspace_data(work), place.stream);
}

#else

template <class T>
void instance_norm(const Place&, const int64_t*, int64_t, const T*, int64_t, double, T*, T*) {
  built_without_cuda();
}
template <class T>
void instance_norm_gradient(const Place&, const int64_t*, int64_t, const T*, const T*, const T*,
                            int64_t, T*) {
  built_without_cuda();
}
template <class T>
void tile_sums(const Place&, const T*, int64_t, int64_t, double, double*, double*,
               const kernels::TileClusters&, double*) {
  built_without_cuda();
}
template <class T>
void tile_weights(const Place&, T*, int64_t, int64_t, double, const T*, const T*,
                  const kernels::TileClusters&, const T*) {
  built_without_cuda();
}
template <class T>
void sinkhorn(const Place&, const T*, int64_t, int64_t, double, int64_t, T*) {
  built_without_cuda();
}

#endif

#define GRM_INSTANTIATE(T)                                                                        \
  template void instance_norm(const Place&, const int64_t*, int64_t, const T*, int64_t, double,   \
                              T*, T*);                                                            \
  template void instance_norm_gradient(const Place&, const int64_t*, int64_t, const T*, const T*, \
                                       const T*, int64_t, T*);                                    \
  template void tile_sums(const Place&, const T*, int64_t, int64_t, double, double*, double*,     \
                          const kernels::TileClusters&, double*);                                 \
  template void tile_weights(const Place&, T*, int64_t, int64_t, double, const T*, const T*,      \
                             const kernels::TileClusters&, const T*);                             \
  template void sinkhorn(const Place&, const T*, int64_t, int64_t, double, int64_t, T*);
GRM_INSTANTIATE(float)
GRM_INSTANTIATE(double)
#undef GRM_INSTANTIATE

}  // namespace grm::dispatch
