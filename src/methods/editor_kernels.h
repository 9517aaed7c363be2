#pragma once

#include <cstdint>

// Inner loops of the graph editors on raw arrays.
namespace grm::editor_kernels {

constexpr int kNodes = 8;  // Chebyshev nodes and polynomials

/// The numbers of one AdamW step that do not depend on the entry.
struct Step {
  double keep;          // 1 - lr * decay
  double step_size;     // lr / (1 - beta1^t)
  double second_scale;  // 1 / sqrt(1 - beta2^t)
};
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;

/// One AdamW step of every entry along the gradient pull * exp(value).
void step_entries(float* value, float* first, float* second, int64_t n, double pull,
                  const Step& step);

/// out = exp(value); relative error below 2e-7, values are cut to [-87, 88].
void exponentials(const float* value, int64_t n, float* out);

/// Sum and largest of exp(value), as exponentials() gives them.
struct Mass {
  double sum = 0.0;
  float top = 0.0f;
};
Mass mass(const float* value, int64_t n);

/// sum[k] = sum over i of T_k(2 x[i] - 1).
void chebyshev_sums(const float* x, int64_t n, double* sum);

/// Position of `wanted`, or -1.
int64_t find(const int32_t* values, int64_t n, int32_t wanted);

}  // namespace grm::editor_kernels
