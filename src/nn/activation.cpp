#include "nn/activation.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <vector>

#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "nn/column_statistics.h"
#include "nn/kernels.h"
#include "ops/bias.h"

namespace grm::nn {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kRowsPerDraw = 32;  // their uniform numbers stay in cache

/// With v = (x - m) r gamma + beta and y = mask relu(v) / (1 - rate): y > 0 tells where the
/// gradient goes through, so no mask is kept. dx as in batch normalisation.
struct NormReluDropout : torch::autograd::Function<NormReluDropout> {
  // Inputs by edge of the autograd graph: 0 x, 1 gamma, 2 beta, 3 bias. mean, inverse: double.
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& gamma,
                        const Tensor& beta, const Tensor& bias, const Tensor& mean,
                        const Tensor& inverse, double rate, int64_t key) {
    const auto type = x.scalar_type();
    const Tensor centre = mean.to(type), scale = (inverse * gamma).to(type);
    const int64_t cols = x.size(1);
    Tensor y = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(type, "norm_relu_dropout", [&] {
      parallel_chunks(x.size(0), kColumnRows, [&](int64_t begin, int64_t end) {
        std::vector<float> drawn(rate > 0 ? kRowsPerDraw * cols + 4 : 0);
        for (int64_t row = begin; row < end; row += kRowsPerDraw) {
          const int64_t count = std::min(kRowsPerDraw, end - row);
          const float* uniform = nullptr;
          if (rate > 0) {  // element i of the stream belongs to entry i of x; counters give four
            const int64_t first = row * cols, block = first / 4;
            on_host<kernels::philox_uniform<float>>(drawn.data(), count * cols + first - 4 * block,
                                                    kernels::StreamKey{static_cast<uint64_t>(key)},
                                                    static_cast<uint64_t>(block), 0.0f, 1.0f);
            uniform = drawn.data() + (first - 4 * block);
          }
          on_host<kernels::normalise_and_drop<scalar_t>>(
              x.data_ptr<scalar_t>() + row * cols, count, cols, centre.data_ptr<scalar_t>(),
              scale.data_ptr<scalar_t>(), beta.data_ptr<scalar_t>(), uniform,
              static_cast<float>(rate), static_cast<scalar_t>(1.0 / (1.0 - rate)),
              y.data_ptr<scalar_t>() + row * cols);
        }
      });
    });
    context->save_for_backward({x, y, gamma, bias, mean, inverse});
    context->saved_data["rate"] = rate;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list outputs) {
    ensure(!at::GradMode::is_enabled(), "norm_relu_dropout has no second derivative");
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &y = saved[1], &gamma = saved[2], &bias = saved[3];
    const Tensor &mean = saved[4], &inverse = saved[5];
    const double factor = 1.0 / (1.0 - context->saved_data["rate"].toDouble());
    const Tensor dy = outputs[0].contiguous();
    const int64_t rows = x.size(0), cols = x.size(1);
    const double n = static_cast<double>(rows);
    const auto type = x.scalar_type();
    Tensor dx = torch::empty_like(x), dbeta, dgamma;
    AT_DISPATCH_FLOATING_TYPES(type, "norm_relu_dropout gradient", [&] {
      const scalar_t *xp = x.data_ptr<scalar_t>(), *yp = y.data_ptr<scalar_t>();
      const scalar_t* dyp = dy.data_ptr<scalar_t>();
      const scalar_t f = static_cast<scalar_t>(factor);
      const double* m = mean.data_ptr<double>();
      const Tensor sums =
          column_totals(rows, 2 * cols, [&](int64_t begin, int64_t end, double* out) {
            const int64_t at = begin * cols;
            on_host<kernels::masked_gradient_sums<scalar_t>>(
                xp + at, yp + at, dyp + at, end - begin, cols, m, f, out, out + cols);
          });
      dbeta = sums.narrow(0, 0, cols);
      dgamma = sums.narrow(0, cols, cols) * inverse;
      const Tensor centre = mean.to(type), scale = (inverse * gamma).to(type);
      const Tensor g_mean = (dbeta / n).to(type), slope = (dgamma * inverse / n).to(type);
      parallel_chunks(rows, kColumnRows, [&](int64_t begin, int64_t end) {
        const int64_t at = begin * cols;
        on_host<kernels::masked_gradient_columns<scalar_t>>(
            xp + at, yp + at, dyp + at, end - begin, cols, centre.data_ptr<scalar_t>(),
            scale.data_ptr<scalar_t>(), g_mean.data_ptr<scalar_t>(), slope.data_ptr<scalar_t>(), f,
            dx.data_ptr<scalar_t>() + at);
      });
    });
    return {dx,       dgamma.to(type), dbeta.to(type), torch::zeros_like(bias),
            Tensor(), Tensor(),        Tensor(),       Tensor()};
  }
};

}  // namespace

Tensor norm_relu_dropout(BatchNorm& norm, const Tensor& x, const Tensor& bias, double rate,
                         Pass& pass, const Tensor& counted) {
  if (!norm.gamma.defined()) return pass.dropout(torch::relu(ops::add_bias(x, bias)), rate);
  ensure(x.dim() == 2 && x.size(1) == norm.gamma.numel(),
         "norm_relu_dropout: the rows have another width");
  // The fused kernels are those of training on the host; elsewhere the layers one by one.
  if (!pass.training() || !x.device().is_cpu() || x.size(0) == 0) {
    return pass.dropout(torch::relu(norm.forward(ops::add_bias(x, bias), pass, counted)), rate);
  }
  ensure(!counted.defined(), "norm_relu_dropout: on the host all rows count");
  const Tensor rows = x.contiguous();
  const auto [mean, variance] = column_statistics(rows.detach());
  norm.update(mean + bias.detach(), variance, rows.size(0));
  const int64_t key = rate != 0.0 ? static_cast<int64_t>(pass.next_key(rate)) : 0;
  return NormReluDropout::apply(rows, norm.gamma, norm.beta, bias, mean,
                                torch::rsqrt(variance + BatchNorm::kEps), rate, key);
}

}  // namespace grm::nn
