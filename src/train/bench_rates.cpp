#include <torch/types.h>

#include "core/clock.h"
#include "grm/core/rng.h"
#include "grm/graph/device.h"
#include "train/bench.h"

namespace grm {
namespace {

// A GPU is asked often enough that waiting for it does not matter.
constexpr int kCallsOnGpu = 50;

torch::Tensor random_matrix(int64_t rows, int64_t cols, const torch::Device& device) {
  torch::Tensor x = torch::empty({rows, cols}, torch::kFloat32);
  Rng(0).stream("bench").fill_normal(x.data_ptr<float>(), x.numel());
  return x.to(device);
}

template <class Call>
double seconds_of(const Call& call, const torch::Device& device) {
  const int calls = device.is_cuda() ? kCallsOnGpu : 1;
  synchronise(device);
  const Stopwatch watch;
  for (int k = 0; k < calls; ++k) call();
  synchronise(device);
  return watch.seconds() / calls;
}

}  // namespace

double product_rate(int64_t rows, int64_t inner, int64_t cols, const torch::Device& device) {
  const at::NoGradGuard no_grad;
  const torch::Tensor a = random_matrix(rows, inner, device),
                      b = random_matrix(inner, cols, device);
  torch::Tensor c = torch::zeros({rows, cols}, a.options());
  const auto call = [&] { at::mm_out(c, a, b); };
  call();  // touches the result and wakes the threads
  const double flops =
      2.0 * static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(cols);
  return flops / seconds_of(call, device) * 1e-9;
}

double copy_rate(int64_t bytes, const torch::Device& device) {
  const at::NoGradGuard no_grad;
  const auto options = torch::dtype(torch::kFloat32).device(device);
  const torch::Tensor from = torch::zeros({bytes / 4}, options);
  torch::Tensor to = torch::zeros({bytes / 4}, options);
  const auto call = [&] { to.copy_(from); };
  call();
  return 2.0 * static_cast<double>(from.nbytes()) / seconds_of(call, device) * 1e-9;
}

}  // namespace grm
