// Elementwise parts of the generator's losses, from t = exp(-|s|) as in cpu/generate.cpp.
#include "ops/cuda/bernoulli.cuh"
#include "ops/kernels.h"

namespace grm::cuda {
namespace {

template <class T>
__global__ void bernoulli_kernel(const T* s, int64_t n, LogTheta<T> prior, T* e, T* kl) {
  const int64_t k = global_thread();
  if (k >= n) return;
  const T x = kl ? finite(s[k]) : s[k];
  const Bernoulli<T> b(x);
  if (e) e[k] = b.on;
  if (kl) kl[k] = b.divergence(x, prior);
}

template <class T>
__global__ void bernoulli_backward_kernel(const T* s, const T* de, const T* dkl, int64_t n,
                                          T logit_theta, T* ds) {
  const int64_t k = global_thread();
  if (k >= n) return;
  const T x = dkl ? finite(s[k]) : s[k];
  T gradient = de ? de[k] : T{0};
  if (dkl) gradient += (x - logit_theta) * dkl[k];
  ds[k] = Bernoulli<T>(x).slope() * gradient;
}

template <class T>
__global__ void gaussian_kernel(const T* mu, const T* log_sigma, int64_t rows, int64_t d, T* kl) {
  const int lane = threadIdx.x % kWarp;
  const int64_t row = global_warp();
  if (row >= rows) return;
  T sum = T{0};
#pragma unroll 4
  for (int64_t c = row * d + lane; c < (row + 1) * d; c += kWarp) {
    const T m = mu[c], l = log_sigma[c];
    sum += T(0.5) * (exp(T{2} * l) + m * m - T{1}) - l;
  }
  sum = warp_sum(sum);
  if (lane == 0) kl[row] = sum;
}

template <class T>
__global__ void gaussian_backward_kernel(const T* mu, const T* log_sigma, const T* dkl, int64_t n,
                                         int64_t d, T* dmu, T* dlog_sigma) {
  const int64_t k = global_thread();
  if (k >= n) return;
  const T g = dkl[k / d];
  if (dmu) dmu[k] = g * mu[k];
  if (dlog_sigma) dlog_sigma[k] = g * (exp(T{2} * log_sigma[k]) - T{1});
}

}  // namespace

template <class T>
void bernoulli_forward(const Queue& queue, const T* s, int64_t n, double theta, T* e, T* kl) {
  if (n == 0 || (!e && !kl)) return;
  bernoulli_kernel<T>
      <<<blocks_for(n, kBlock), kBlock, 0, stream_of(queue)>>>(s, n, LogTheta<T>(theta), e, kl);
  check_launch("bernoulli_forward");
}

template <class T>
void bernoulli_backward(const Queue& queue, const T* s, const T* de, const T* dkl, int64_t n,
                        double theta, T* ds) {
  if (n == 0) return;
  bernoulli_backward_kernel<T><<<blocks_for(n, kBlock), kBlock, 0, stream_of(queue)>>>(
      s, de, dkl, n, LogTheta<T>(theta).logit, ds);
  check_launch("bernoulli_backward");
}

template <class T>
void gaussian_forward(const Queue& queue, const T* mu, const T* log_sigma, int64_t rows, int64_t d,
                      T* kl) {
  if (rows == 0) return;
  gaussian_kernel<T><<<blocks_for(rows, kBlock / kWarp), kBlock, 0, stream_of(queue)>>>(
      mu, log_sigma, rows, d, kl);
  check_launch("gaussian_forward");
}

template <class T>
void gaussian_backward(const Queue& queue, const T* mu, const T* log_sigma, const T* dkl,
                       int64_t rows, int64_t d, T* dmu, T* dlog_sigma) {
  const int64_t n = rows * d;
  if (n == 0 || (!dmu && !dlog_sigma)) return;
  gaussian_backward_kernel<T><<<blocks_for(n, kBlock), kBlock, 0, stream_of(queue)>>>(
      mu, log_sigma, dkl, n, d, dmu, dlog_sigma);
  check_launch("gaussian_backward");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(bernoulli_forward)
GRM_CUDA_KERNEL(bernoulli_backward)
GRM_CUDA_KERNEL(gaussian_forward)
GRM_CUDA_KERNEL(gaussian_backward)
