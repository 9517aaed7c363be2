#pragma once

#include <cstdint>

// Kernels of ops/latent.h and ops/propagate.h. The same rules as in kernels.h.
namespace grm::kernels {

/// Bounds and shift of log sigma.
struct LogSigma {
  double shift, low, high;
};

/// z [n, k] and kl [n] from heads [n, 2k] and eps [n, k]; eps null: z = mu. kl may be null.
template <class T>
void latent_forward(const T* heads, const T* eps, int64_t n, int64_t k, const LogSigma& rule, T* z,
                    T* kl);
/// dheads for the gradients of z and kl; either may be null.
template <class T>
void latent_backward(const T* heads, const T* eps, const T* dz, const T* dkl, int64_t n, int64_t k,
                     const LogSigma& rule, T* dheads);

/// d_i = sqrt(|| h_j - z_i ||^2 + tiny), j = index[i]; index null: j = i.
template <class T>
void distance_forward(const T* h, const T* z, const int64_t* index, int64_t n, int64_t k, T tiny,
                      T* d);
/// dz_i = dd_i (z_i - h_j) / d_i.
template <class T>
void distance_backward(const T* h, const T* z, const int64_t* index, const T* d, const T* dd,
                       int64_t n, int64_t k, T* dz);

/// sums[c] = sum over rows of dy[r, c] where y[r, c] > 0, and g = dy there and 0 elsewhere.
/// y and g null: all of dy.
template <class T>
void bias_gradient(const T* y, const T* dy, int64_t rows, int64_t cols, T* g, T* sums);

}  // namespace grm::kernels
