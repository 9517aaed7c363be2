#include "dispatch.h"

namespace grm::nn::dispatch {

#ifdef GRM_CUDA

template <class T>
void adam(const Place& place, const std::vector<AdamTensor<T>>& tensors,
          const kernels::AdamStep& step, const kernels::AdamStep* at) {
  cuda::adam<T>(tensors, step, at, place.stream);
}

template <class T>
void batch_norm_forward(const Place& place, const T* x, int64_t rows, int64_t cols,
                        const BatchNormState<T>& state, const int64_t* counted, T* y) {
  const torch::Tensor work = workspace(place, cuda::column_workspace_bytes(rows, cols));
  cuda::batch_norm_forward<T>(x, rows, cols, state, y, counted, workspace_data(work), place.stream);
}

template <class T>
void batch_norm_backward(const Place& place, const T* x, const T* dy, int64_t rows, int64_t cols,
                         const T* gamma, const double* mean, const double* inverse,
                         const int64_t* counted, T* dx, T* dgamma, T* dbeta) {
  const torch::Tensor work = workspace(place, cuda::column_workspace_bytes(rows, cols));
  cuda::batch_norm_backward<T>(x, dy, rows, cols, gamma, mean, inverse, dx, dgamma, dbeta, counted,
                               workspace_data(work), place.stream);
}

template <class T>
void dropout(const Place& place, const T* x, int64_t n, double rate, uint64_t key,
             const uint64_t* key_place, T* y) {
  cuda::dropout<T>(x, n, rate, {key, key_place}, y, place.stream);
}

#else

template <class T>
void adam(const Place&, const std::vector<AdamTensor<T>>&, const kernels::AdamStep&,
          const kernels::AdamStep*) {
  built_without_cuda();
}
template <class T>
void batch_norm_forward(const Place&, const T*, int64_t, int64_t, const BatchNormState<T>&,
                        const int64_t*, T*) {
  built_without_cuda();
}
template <class T>
void batch_norm_backward(const Place&, const T*, const T*, int64_t, int64_t, const T*,
                         const double*, const double*, const int64_t*, T*, T*, T*) {
  built_without_cuda();
}
template <class T>
void dropout(const Place&, const T*, int64_t, double, uint64_t, const uint64_t*, T*) {
  built_without_cuda();
}

#endif

#define GRM_INSTANTIATE(T)                                                                        \
  template void adam(const Place&, const std::vector<AdamTensor<T>>&, const kernels::AdamStep&,   \
                     const kernels::AdamStep*);                                                   \
  template void batch_norm_forward(const Place&, const T*, int64_t, int64_t,                      \
                                   const BatchNormState<T>&, const int64_t*, T*);                 \
  template void batch_norm_backward(const Place&, const T*, const T*, int64_t, int64_t, const T*, \
                                    const double*, const double*, const int64_t*, T*, T*, T*);    \
  template void dropout(const Place&, const T*, int64_t, double, uint64_t, const uint64_t*, T*);
GRM_INSTANTIATE(float)
GRM_INSTANTIATE(double)
#undef GRM_INSTANTIATE

}  // namespace grm::nn::dispatch
