#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "graph/place.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/nn/layers.h"
#include "nn/column_statistics.h"
#include "nn/kernels.h"

namespace grm::nn {
namespace {

constexpr double kMomentum = 0.1;
constexpr int64_t kRowsPerChunk = kColumnRows;

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
        on_host<kernels::scale_columns<scalar_t>>(
            x.data_ptr<scalar_t>() + begin * cols, end - begin, cols, m.data_ptr<scalar_t>(),
            scale.data_ptr<scalar_t>(), beta.data_ptr<scalar_t>(),
            y.data_ptr<scalar_t>() + begin * cols);
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
          column_totals(rows, 2 * cols, [&](int64_t begin, int64_t end, double* out) {
            on_host<kernels::gradient_sums<scalar_t>>(xp + begin * cols, dyp + begin * cols,
                                                      end - begin, cols, m, out, out + cols);
          });
      dbeta = sums.narrow(0, 0, cols);
      dgamma = sums.narrow(0, cols, cols) * inverse;
      const torch::Tensor centre = mean.to(type);
      const torch::Tensor scale = (inverse * gamma).to(type);
      const torch::Tensor dy_mean = (dbeta / n).to(type);
      const torch::Tensor slope = (dgamma * inverse / n).to(type);
      parallel_chunks(rows, kRowsPerChunk, [&](int64_t begin, int64_t end) {
        on_host<kernels::gradient_columns<scalar_t>>(
            xp + begin * cols, dyp + begin * cols, end - begin, cols, centre.data_ptr<scalar_t>(),
            scale.data_ptr<scalar_t>(), dy_mean.data_ptr<scalar_t>(), slope.data_ptr<scalar_t>(),
            dx.data_ptr<scalar_t>() + begin * cols);
      });
    });
    return {dx, dgamma.to(type), dbeta.to(type), torch::Tensor(), torch::Tensor()};
  }
};

/// The same on a GPU, running statistics included, in a few launches.
struct DeviceBatchNorm : torch::autograd::Function<DeviceBatchNorm> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& gamma, const torch::Tensor& beta,
                               const torch::Tensor& running_mean,
                               const torch::Tensor& running_variance,
                               const torch::Tensor& counted) {
    const int64_t rows = x.size(0), cols = x.size(1);
    const auto wide = x.options().dtype(torch::kFloat64);
    torch::Tensor mean = torch::empty({cols}, wide), inverse = torch::empty({cols}, wide);
    torch::Tensor y = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "batch_norm", [&] {
      const kernels::BatchNormState<scalar_t> state{gamma.data_ptr<scalar_t>(),
                                                    beta.data_ptr<scalar_t>(),
                                                    mean.data_ptr<double>(),
                                                    inverse.data_ptr<double>(),
                                                    running_mean.data_ptr<scalar_t>(),
                                                    running_variance.data_ptr<scalar_t>(),
                                                    BatchNorm::kEps,
                                                    kMomentum};
      on_gpu<kernels::batch_norm_forward<scalar_t>>(place_of(x), x.data_ptr<scalar_t>(), rows, cols,
                                                    state, place_of_count(counted),
                                                    y.data_ptr<scalar_t>());
    });
    context->save_for_backward({x, gamma, mean, inverse});
    context->saved_data["counted"] = counted;
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outputs) {
    ensure(!at::GradMode::is_enabled(), "BatchNorm has no second derivative");
    const auto saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &gamma = saved[1], &mean = saved[2], &inverse = saved[3];
    const torch::Tensor counted = context->saved_data["counted"].toTensor();
    const torch::Tensor dy = outputs[0].contiguous();
    torch::Tensor dx = torch::empty_like(x);
    torch::Tensor dgamma = torch::empty_like(gamma), dbeta = torch::empty_like(gamma);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "batch_norm gradient", [&] {
      on_gpu<kernels::batch_norm_backward<scalar_t>>(
          place_of(x), x.data_ptr<scalar_t>(), dy.data_ptr<scalar_t>(), x.size(0), x.size(1),
          gamma.data_ptr<scalar_t>(), mean.data_ptr<double>(), inverse.data_ptr<double>(),
          place_of_count(counted), dx.data_ptr<scalar_t>(), dgamma.data_ptr<scalar_t>(),
          dbeta.data_ptr<scalar_t>());
    });
    return {dx, dgamma, dbeta, torch::Tensor(), torch::Tensor(), torch::Tensor()};
  }

 private:
  /// An empty tensor stands for all rows: autograd functions take no undefined ones.
  static const int64_t* place_of_count(const torch::Tensor& counted) {
    return counted.numel() > 0 ? counted.data_ptr<int64_t>() : nullptr;
  }
};

}  // namespace

BatchNorm::BatchNorm(ParameterSet& set, const std::string& name, int64_t width)
    : gamma(set.constant(name + ".gamma", {width}, 1.0)),
      beta(set.constant(name + ".beta", {width}, 0.0)),
      mean(set.buffer(name + ".mean", {width}, 0.0)),
      variance(set.buffer(name + ".variance", {width}, 1.0)) {}

void BatchNorm::update(const torch::Tensor& m, const torch::Tensor& v, int64_t rows) {
  const at::NoGradGuard no_grad;
  const double n = static_cast<double>(rows);
  mean.mul_(1.0 - kMomentum).add_(m, kMomentum);
  if (n > 1) variance.mul_(1.0 - kMomentum).add_(v, kMomentum * n / (n - 1));
}

torch::Tensor BatchNorm::forward(const torch::Tensor& x, const Pass& pass,
                                 const torch::Tensor& counted) {
  ensure(x.dim() == 2 && x.size(1) == gamma.numel(), "BatchNorm: the rows have another width");
  if (!pass.training()) {
    const torch::Tensor scale = gamma * torch::rsqrt(variance + kEps);
    return torch::addcmul(beta, x - mean, scale);
  }
  if (x.size(0) == 0) return x;
  const torch::Tensor rows = x.contiguous();
  if (rows.is_cuda()) {
    return DeviceBatchNorm::apply(
        rows, gamma, beta, mean, variance,
        counted.defined() ? counted : torch::empty({0}, rows.options().dtype(torch::kInt64)));
  }
  ensure(!counted.defined(), "BatchNorm: on the host all rows count");
  const auto [m, v] = column_statistics(rows.detach());
  update(m, v, rows.size(0));
  return BatchNormFunction::apply(rows, gamma, beta, m, torch::rsqrt(v + kEps));
}

}  // namespace grm::nn
