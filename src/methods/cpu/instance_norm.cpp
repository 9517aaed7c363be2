#include <algorithm>
#include <cmath>
#include <vector>

#include "grm/core/threads.h"
#include "methods/kernels.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

constexpr int64_t kGraphsAtATime = 4;  // graphs that one thread normalises at a time

// body(graph, first row, rows, 2 * cols doubles) for graphs that have rows. Each is reduced by one
// thread, so the result does not depend on their number.
template <class Body>
void each_graph(const int64_t* offset, int64_t graphs, int64_t cols, const Body& body) {
  parallel_chunks(graphs, kGraphsAtATime, [&](int64_t begin, int64_t end) {
    std::vector<double> work(2 * cols);
    for (int64_t g = begin; g < end; ++g) {
      if (offset[g] < offset[g + 1]) body(g, offset[g], offset[g + 1] - offset[g], work.data());
    }
  });
}

template <class T>
void normalise(const T* x, int64_t rows, int64_t cols, double eps, T* y, T* scale, double* work) {
  double *mean = work, *square = work + cols;
  const double share = 1.0 / static_cast<double>(rows);
  std::fill_n(work, 2 * cols, 0.0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) mean[c] += static_cast<double>(x[r * cols + c]);
  }
  for (int64_t c = 0; c < cols; ++c) mean[c] *= share;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const double d = static_cast<double>(x[r * cols + c]) - mean[c];
      square[c] += d * d;
    }
  }
  for (int64_t c = 0; c < cols; ++c) {
    square[c] = 1.0 / std::sqrt(square[c] * share + eps);
    scale[c] = static_cast<T>(square[c]);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      y[r * cols + c] =
          static_cast<T>((static_cast<double>(x[r * cols + c]) - mean[c]) * square[c]);
    }
  }
}

template <class T>
void normalise_gradient(const T* y, const T* dy, const T* scale, int64_t rows, int64_t cols, T* dx,
                        double* work) {
  double *mean = work, *dot = work + cols;
  const double share = 1.0 / static_cast<double>(rows);
  std::fill_n(work, 2 * cols, 0.0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const double g = static_cast<double>(dy[r * cols + c]);
      mean[c] += g;
      dot[c] += g * static_cast<double>(y[r * cols + c]);
    }
  }
  for (int64_t c = 0; c < 2 * cols; ++c) work[c] *= share;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t at = r * cols + c;
      dx[at] =
          static_cast<T>(static_cast<double>(scale[c]) * (static_cast<double>(dy[at]) - mean[c] -
                                                          static_cast<double>(y[at]) * dot[c]));
    }
  }
}

}  // namespace

template <class T>
void instance_norm(const int64_t* offset, int64_t graphs, const T* x, int64_t cols, double eps,
                   T* y, T* scale) {
  each_graph(offset, graphs, cols, [&](int64_t g, int64_t first, int64_t rows, double* work) {
    normalise(x + first * cols, rows, cols, eps, y + first * cols, scale + g * cols, work);
  });
}

template <class T>
void instance_norm_gradient(const int64_t* offset, int64_t graphs, const T* y, const T* dy,
                            const T* scale, int64_t cols, T* dx) {
  each_graph(offset, graphs, cols, [&](int64_t g, int64_t first, int64_t rows, double* work) {
    const int64_t at = first * cols;
    normalise_gradient(y + at, dy + at, scale + g * cols, rows, cols, dx + at, work);
  });
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(instance_norm)
GRM_CPU_KERNEL(instance_norm_gradient)
