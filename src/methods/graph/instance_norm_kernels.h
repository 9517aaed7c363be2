#pragma once

#include <cstdint>

// Inner loops of instance normalisation over the rows of one graph; row-major, float or double.
namespace grm::graph_level::kernels {

/// y = (x - mean) / sqrt(variance + eps) per column over `rows` rows, and scale = 1 / sqrt(...).
/// The variance is biased; sums are kept in double. `work`: 2 * cols doubles.
template <class T>
void normalise(const T* x, int64_t rows, int64_t cols, double eps, T* y, T* scale, double* work);

/// dx = scale (dy - mean(dy) - y mean(dy y)) per column. `work`: 2 * cols doubles.
template <class T>
void normalise_gradient(const T* y, const T* dy, const T* scale, int64_t rows, int64_t cols, T* dx,
                        double* work);

}  // namespace grm::graph_level::kernels
