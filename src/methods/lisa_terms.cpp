// The parts of LiSA's losses, and its masks with their derivative.
#include "methods/lisa.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "grm/core/error.h"

namespace grm::lisa {
namespace {

constexpr double kScoreLimit = 10.0;
constexpr double kSmallestLoss = 1e-12;  // under the root, whose slope at 0 is infinite

template <class T>
void mark_largest(const T* p, int64_t n, int64_t count, T* mask) {
  if (count == 0) return;
  std::vector<T> sorted(p, p + n);
  std::nth_element(sorted.begin(), sorted.begin() + (count - 1), sorted.end(), std::greater<T>());
  const T limit = sorted[count - 1];
  int64_t equal = count - std::count_if(p, p + n, [&](T value) { return value > limit; });
  for (int64_t e = 0; e < n; ++e) {
    if (p[e] > limit || (p[e] == limit && equal-- > 0)) mask[e] = T{1};
  }
}

struct HardMask : torch::autograd::Function<HardMask> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& p,
                               double share) {
    const torch::Tensor values = p.contiguous();
    const int64_t n = p.numel();
    const int64_t count = static_cast<int64_t>(std::floor(share * static_cast<double>(n)));
    torch::Tensor mask = torch::zeros_like(values);
    if (values.is_cuda()) {
      // A stable sort keeps equal entries in their order, so that the first of them are marked.
      const torch::Tensor order =
          std::get<1>(torch::sort(values, /*stable=*/true, /*dim=*/0, /*descending=*/true));
      return mask.index_fill_(0, order.narrow(0, 0, count), 1.0);
    }
    AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "hard mask", [&] {
      mark_largest(values.data_ptr<scalar_t>(), n, count, mask.data_ptr<scalar_t>());
    });
    return mask;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    return {gradients[0], torch::Tensor()};
  }
};

}  // namespace

torch::Tensor keep_probability(const torch::Tensor& b) {
  return torch::sigmoid(torch::clamp(b, -kScoreLimit, kScoreLimit));
}

torch::Tensor hard_mask(const torch::Tensor& p, double share) {
  ensure(p.dim() == 1 && share >= 0 && share <= 1, "lisa: a mask of no edges or of too many");
  // On a GPU the question would make the host wait; there the loss tells, at the end of the epoch.
  if (!p.is_cuda() && !torch::isfinite(p.detach()).all().item<bool>()) {
    fail(ErrorKind::config,
         "lisa: a generator's score is no longer a number; a smaller method.generator_lr or "
         "method.lr usually helps");
  }
  return HardMask::apply(p, share);
}

torch::Tensor mask_kl(const torch::Tensor& p) {
  const torch::Tensor rest = 1.0 - p;
  return (p * torch::log(2.0 * p + 1e-8) + rest * torch::log(2.0 * rest + 1e-9)).mean();
}

torch::Tensor variance(const torch::Tensor& values) {
  const int64_t count = values.numel();
  if (count < 2) return torch::zeros({}, values.options());
  return (values - values.mean()).square().sum() / static_cast<double>(count - 1);
}

torch::Tensor generator_objective(const std::vector<torch::Tensor>& views,
                                  const std::vector<torch::Tensor>& kl, double lambda_kl,
                                  double lambda_d) {
  const torch::Tensor losses = torch::stack(views);
  return losses.sum() / static_cast<double>(views.size() + 1) +
         lambda_kl * torch::stack(kl).mean() -
         lambda_d * variance(torch::sqrt(torch::clamp_min(losses, kSmallestLoss)));
}

torch::Tensor classifier_objective(const std::vector<torch::Tensor>& losses) {
  const torch::Tensor all = torch::stack(losses);
  return all.mean() + variance(all);
}

}  // namespace grm::lisa
