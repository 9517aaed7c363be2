#include "train/average.h"

#include <torch/types.h>

namespace grm {

void average_weights(const TrainOptions& options, int64_t epoch, const nn::ParameterSet& weights,
                     TrainingState& state) {
  if (options.average == Average::none || epoch <= options.average_start) return;
  const std::map<std::string, torch::Tensor> now = weights.snapshot();
  ++state.averaged;
  const double share = options.average == Average::ema ? 1.0 - options.average_decay
                                                       : 1.0 / static_cast<double>(state.averaged);
  for (const auto& [name, w] : now) {
    torch::Tensor& mean = state.average[name];
    mean = state.averaged == 1 ? w : torch::lerp(mean, w, share);
  }
}

AveragedWeights::AveragedWeights(Method& method, const TrainingState& state) : method_(method) {
  if (state.average.empty()) return;
  weights_ = method.parameters().snapshot();
  method.parameters().restore(state.average);
}

AveragedWeights::~AveragedWeights() {
  if (!weights_.empty()) method_.parameters().restore(weights_);
}

}  // namespace grm
