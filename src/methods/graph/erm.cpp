// Empirical risk minimisation on a set of graphs: the baseline of the graph level.
//
//   L = mean over the graphs of a batch of l(head(pool(f(g))), y)      `pool = logits`: pool(head)
//
// f is the encoder that the other methods use as their predictor, fed with the raw features.
#include <torch/types.h>

#include "methods/graph/model.h"
#include "nn/losses.h"

namespace grm::graph_level {
namespace {

struct ErmOptions : GraphMethodOptions {
  nn::GraphEncoderOptions encoder;
  int64_t head_layers = 2;

  void declare(OptionList& list) {
    encoder.declare(list, /*one=*/true);
    training.declare(list);
    list.add("head_layers", head_layers, {1, 2},
             "linear maps of the head; two have a hidden width of twice the encoder's");
  }
  std::optional<MemoryUses> memory(const RunShape& run) const {
    return memory_of(encoder, run, /*passes=*/1.0);
  }
  std::optional<WorkCount> work(const RunShape& run) const { return work_of({encoder}, run); }
  std::vector<Saving> savings(const RunShape& /*run*/) const { return savings_of(encoder); }
};

class Erm final : public GraphMethod {
 public:
  Erm(const ErmOptions& options, const TrainView& view, const Rng& rng)
      : GraphMethod(options.training, view, rng),
        encoder_(nn::make_graph_encoder(set_, "encoder", options.encoder, view.features,
                                        view.edge_features)),
        head_(set_, "head",
              head_widths(options.encoder.hidden, options.head_layers, view.classes)) {
    start_readout(options.encoder.hidden);
    start_optimiser();
    start_steps(options.encoder);
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    return run_epoch(epoch, [this](TrainBatch& batch) {
      const torch::Tensor out = batch_logits(batch.input, batch.pass);
      return BatchLoss{nn::supervised_loss(view_.loss, out, batch.y), {}};
    });
  }

 private:
  torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) override {
    return readout_.logits(readout_.read(batch.node_offsets, encoder_->forward(batch, pass)),
                           head_);
  }

  std::unique_ptr<nn::GraphEncoder> encoder_;
  nn::Mlp head_;
};

}  // namespace
}  // namespace grm::graph_level

namespace grm {

std::unique_ptr<MethodRecipe> make_graph_erm() {
  return std::make_unique<SimpleRecipe<graph_level::ErmOptions, graph_level::Erm>>();
}

}  // namespace grm
