#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/nn/layers.h"
#include "kernels.h"

namespace grm::nn {
namespace {

constexpr double kEps = 1e-5;
constexpr double kMomentum = 0.1;
constexpr int64_t kRowsPerChunk = 256;

/// Sums `sums` columns over the rows: body(begin, end, out) writes the sums of a chunk of rows, and
/// chunks are added in their order, so that the result does not depend on the thread count.
torch::Tensor sum_rows(int64_t rows, int64_t sums,
                       const std::function<void(int64_t, int64_t, double*)>& body) {
  const int64_t chunks = (rows + kRowsPerChunk - 1) / kRowsPerChunk;
  const torch::Tensor partial = torch::empty({chunks, sums}, torch::kFloat64);
  double* part = partial.data_ptr<double>();
  parallel_chunks(rows, kRowsPerChunk, [&](int64_t begin, int64_t end) {
    body(begin, end, part + begin / kRowsPerChunk * sums);
  });
  torch::Tensor total = torch::zeros({sums}, torch::kFloat64);
  double* t = total.data_ptr<double>();
  for (int64_t k = 0; k < chunks; ++k) {
    for (int64_t c = 0; c < sums; ++c) t[c] += part[k * sums + c];
  }
  return total;
}

/// Mean and biased variance of each column, in double.
std::pair<torch::Tensor, torch::Tensor> column_statistics(const torch::Tensor& x) {
  const int64_t rows = x.size(0), cols = x.size(1);
  const double n = static_cast<double>(rows);
  torch::Tensor mean, variance;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "batch_norm statistics", [&] {
    const scalar_t* p = x.data_ptr<scalar_t>();
    mean = sum_rows(rows, cols, [&](int64_t begin, int64_t end, double* out) {
      kernels::column_sums(p + begin * cols, end - begin, cols, out);
    });
    mean /= n;
    const double* m = mean.data_ptr<double>();
    variance = sum_rows(rows, cols, [&](int64_t begin, int64_t end, double* out) {
      kernels::column_squares(p + begin * cols, end - begin, cols, m, out);
    });
    variance /= n;
  });
  return {mean, variance};
}

/// Normalisation with the statistics of the rows themselves.
/// With xhat = (x - m) r, r = 1/sqrt(v + eps):
///   dx = gamma r (dy - mean(dy) - xhat mean(dy xhat)).
struct BatchNormFunction : torch::autograd::Function<BatchNormFunction> {
  // x: [n, width], gamma, beta: [width], mean, inverse: [width] double
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& gamma, const torch::Tensor& beta,
                               const torch::Tensor& mean, const torch::Tensor& inverse) {
    context->save_for_backward({x, gamma, mean, inverse});
    const torch::Tensor m = mean.to(x.scalar_type());
    const torch::Tensor scale = (inverse * gamma).to(x.scalar_type());
    torch::Tensor y = torch::empty_like(x);
    const int64_t cols = x.size(1);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "batch_norm", [&] {
      parallel_chunks(x.size(0), kRowsPerChunk, [&](int64_t begin, int64_t end) {
        kernels::scale_columns(x.data_ptr<scalar_t>() + begin * cols, end - begin, cols,
                               m.data_ptr<scalar_t>(), scale.data_ptr<scalar_t>(),
                               beta.data_ptr<scalar_t>(), y.data_ptr<scalar_t>() + begin * cols);
      });
    });
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outputs) {
    ensure(!at::GradMode::is_enabled(), "BatchNorm has no second derivative");
    const auto saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &gamma = saved[1], &mean = saved[2], &inverse = saved[3];
    const torch::Tensor dy = outputs[0].contiguous();
    const int64_t rows = x.size(0), cols = x.size(1);
    const double n = static_cast<double>(rows);
    const auto type = x.scalar_type();
    torch::Tensor dx = torch::empty_like(x);
    torch::Tensor dbeta, dgamma;
    AT_DISPATCH_FLOATING_TYPES(type, "batch_norm gradient", [&] {
      const scalar_t *xp = x.data_ptr<scalar_t>(), *dyp = dy.data_ptr<scalar_t>();
      const double* m = mean.data_ptr<double>();
      const torch::Tensor sums =
          sum_rows(rows, 2 * cols, [&](int64_t begin, int64_t end, double* out) {
            kernels::gradient_sums(xp + begin * cols, dyp + begin * cols, end - begin, cols, m, out,
                                   out + cols);
          });
      dbeta = sums.narrow(0, 0, cols);
      dgamma = sums.narrow(0, cols, cols) * inverse;
      const torch::Tensor centre = mean.to(type);
      const torch::Tensor scale = (inverse * gamma).to(type);
      const torch::Tensor dy_mean = (dbeta / n).to(type);
      const torch::Tensor slope = (dgamma * inverse / n).to(type);
      parallel_chunks(rows, kRowsPerChunk, [&](int64_t begin, int64_t end) {
        kernels::gradient_columns(xp + begin * cols, dyp + begin * cols, end - begin, cols,
                                  centre.data_ptr<scalar_t>(), scale.data_ptr<scalar_t>(),
                                  dy_mean.data_ptr<scalar_t>(), slope.data_ptr<scalar_t>(),
                                  dx.data_ptr<scalar_t>() + begin * cols);
      });
    });
    return {dx, dgamma.to(type), dbeta.to(type), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

BatchNorm::BatchNorm(ParameterSet& set, const std::string& name, int64_t width)
    : gamma(set.constant(name + ".gamma", {width}, 1.0)),
      beta(set.constant(name + ".beta", {width}, 0.0)),
      mean(set.buffer(name + ".mean", {width}, 0.0)),
      variance(set.buffer(name + ".variance", {width}, 1.0)) {}

torch::Tensor BatchNorm::forward(const torch::Tensor& x, const Pass& pass) {
  ensure(x.dim() == 2 && x.size(1) == gamma.numel(), "BatchNorm: the rows have another width");
  if (!pass.training()) {
    const torch::Tensor scale = gamma * torch::rsqrt(variance + kEps);
    return torch::addcmul(beta, x - mean, scale);
  }
  if (x.size(0) == 0) return x;
  const torch::Tensor rows = x.contiguous();
  const auto [m, v] = column_statistics(rows.detach());
  {
    at::NoGradGuard no_grad;
    const double n = static_cast<double>(rows.size(0));
    mean.mul_(1.0 - kMomentum).add_(m, kMomentum);
    if (n > 1) variance.mul_(1.0 - kMomentum).add_(v, kMomentum * n / (n - 1));
  }
  return BatchNormFunction::apply(rows, gamma, beta, m, torch::rsqrt(v + kEps));
}

}  // namespace grm::nn
