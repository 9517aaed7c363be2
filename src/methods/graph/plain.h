#pragma once

#include <memory>

#include "methods/graph/model.h"

namespace grm::graph_level {

/// Options of a method whose model is that of ERM: an encoder of the raw features, a readout, a head.
struct PlainGraphOptions : GraphMethodOptions {
  nn::GraphEncoderOptions encoder;
  int64_t head_layers = 2;

  /// `one`: the encoder is the only network of the model.
  void declare(OptionList& list, bool one = true);
  std::optional<MemoryUses> memory(const RunShape& run) const {
    return memory_of(encoder, run, /*passes=*/1.0);
  }
  std::optional<WorkCount> work(const RunShape& run) const { return work_of({encoder}, run); }
  std::vector<Saving> savings(const RunShape& /*run*/) const { return savings_of(encoder); }
};

/// A method with ERM's model, which predicts as ERM does; train_epoch is left to the subclass.
class PlainGraphMethod : public GraphMethod {
 protected:
  /// `width` of the encoder's input, where it is not that of the features.
  PlainGraphMethod(const PlainGraphOptions& options, const TrainView& view, const Rng& rng,
                   int64_t width = 0);

  struct Answer {
    torch::Tensor hidden, logits;  // pooled rows [B, width], [B, classes]
  };
  Answer answer(const nn::GraphInput& batch, nn::Pass& pass);
  torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) override;

  std::unique_ptr<nn::GraphEncoder> encoder_;
  nn::Mlp head_;
};

}  // namespace grm::graph_level
