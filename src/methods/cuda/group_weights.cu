#include "core/cuda/launch.cuh"
#include "methods/kernels.h"

namespace grm::cuda {
namespace {

// A handful of groups: one thread keeps the order of the sum.
__global__ void group_weights_kernel(const double* losses, int64_t groups, double eta,
                                     double* log_q, double* q) {
  double top = log_q[0] + eta * losses[0];
  for (int64_t g = 0; g < groups; ++g) {
    log_q[g] += eta * losses[g];
    top = fmax(top, log_q[g]);
  }
  double sum = 0.0;
  for (int64_t g = 0; g < groups; ++g) sum += exp(log_q[g] - top);
  for (int64_t g = 0; g < groups; ++g) {
    log_q[g] -= top + log(sum);
    q[g] = exp(log_q[g]);
  }
}

}  // namespace

void group_weights(const Queue& queue, const double* losses, int64_t groups, double eta,
                   double* log_q, double* q) {
  group_weights_kernel<<<1, 1, 0, stream_of(queue)>>>(losses, groups, eta, log_q, q);
  check_launch("group_weights");
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL_OF(kernels::group_weights, group_weights)
