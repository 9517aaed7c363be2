#include "dispatch.h"

#include "grm/core/error.h"

namespace grm::nn::dispatch {

#ifdef GRM_CUDA

template <class T>
void adam(const Place& place, const std::vector<AdamTensor<T>>& tensors,
          const kernels::AdamStep& step, const kernels::AdamStep* at) {
  std::vector<cuda::AdamTensor<T>> list;
  list.reserve(tensors.size());
  for (const AdamTensor<T>& t : tensors) {
    list.push_back({t.p, t.gradient, t.first, t.second, t.n});
  }
  cuda::adam<T>(list, step, at, place.stream);
}

template <class T>
void batch_norm_forward(const Place& place, const T* x, int64_t rows, int64_t cols,
                        const BatchNormState<T>& state, const int64_t* counted, T* y) {
  const torch::Tensor work = workspace(place, cuda::column_workspace_bytes(rows, cols));
  const cuda::BatchNormState<T> s{state.gamma,   state.beta,         state.mean,
                                  state.inverse, state.running_mean, state.running_variance,
                                  state.eps,     state.momentum};
  cuda::batch_norm_forward<T>(x, rows, cols, s, y, counted, workspace_data(work), place.stream);
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

namespace {

[[noreturn]] void missing() {
  throw InternalError("a kernel for GPUs is called in a program that was built without CUDA");
}

}  // namespace

template <class T>
void adam(const Place&, const std::vector<AdamTensor<T>>&, const kernels::AdamStep&,
          const kernels::AdamStep*) {
  missing();
}
template <class T>
void batch_norm_forward(const Place&, const T*, int64_t, int64_t, const BatchNormState<T>&,
                        const int64_t*, T*) {
  missing();
}
template <class T>
void batch_norm_backward(const Place&, const T*, const T*, int64_t, int64_t, const T*,
                         const double*, const double*, const int64_t*, T*, T*, T*) {
  missing();
}
template <class T>
void dropout(const Place&, const T*, int64_t, double, uint64_t, const uint64_t*, T*) {
  missing();
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
