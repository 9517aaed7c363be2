#include "nn/losses.h"

#include <torch/types.h>

#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm::nn {

torch::Tensor supervised_loss(LossKind kind, const torch::Tensor& logits, const torch::Tensor& y) {
  if (logits.dim() != 2 || y.dim() != 1 || logits.size(0) != y.size(0)) {
    fail(ErrorKind::shape, "the loss was given logits of {} rows and {} labels",
         logits.dim() == 2 ? logits.size(0) : logits.numel(), y.numel());
  }
  if (y.numel() == 0) fail(ErrorKind::data, "the loss of no rows is not defined");
  const int64_t classes = logits.size(1);
  if (y.device().is_cpu()) {  // labels on a GPU were checked before they went there
    const int64_t low = y.min().item<int64_t>(), high = y.max().item<int64_t>();
    if (low < 0 || high >= classes) {
      fail(ErrorKind::data, "the loss was given the label {}, but labels must lie in 0..{}",
           low < 0 ? low : high, classes - 1);
    }
  }
  const torch::Tensor labels = to_place_of(y, logits);
  if (kind == LossKind::softmax) {
    return torch::nll_loss(torch::log_softmax(logits, 1), labels);
  }
  if (classes != 2) {
    fail(ErrorKind::shape, "the 2-output loss was given {} outputs per row", classes);
  }
  const torch::Tensor t = torch::one_hot(labels, 2).to(logits.scalar_type());
  return torch::binary_cross_entropy_with_logits(logits, t);
}

torch::Tensor class_probabilities(const torch::Tensor& logits) {
  return torch::softmax(logits, 1);
}

torch::Tensor log_mean(const torch::Tensor& sampled) {
  torch::Tensor sum = sampled[0];
  for (int64_t s = 1; s < sampled.size(0); ++s) sum = sum + sampled[s];
  return torch::log(torch::clamp_min(sum / static_cast<double>(sampled.size(0)), 1e-30));
}

}  // namespace grm::nn
