#include "methods/graph/plain.h"

#include <torch/types.h>

namespace grm::graph_level {

void PlainGraphOptions::declare(OptionList& list, bool one) {
  encoder.declare(list, one);
  training.declare(list);
  list.add("head_layers", head_layers, {1, 2},
           "linear maps of the head; two have a hidden width of twice the encoder's");
}

PlainGraphMethod::PlainGraphMethod(const PlainGraphOptions& options, const TrainView& view,
                                   const Rng& rng, int64_t width)
    : GraphMethod(options.training, view, rng),
      encoder_(nn::make_graph_encoder(set_, "encoder", options.encoder,
                                      width > 0 ? width : view.features, view.edge_features)),
      head_(set_, "head", head_widths(options.encoder.hidden, options.head_layers, view.classes)) {
  start_readout(options.encoder.hidden);
  start_optimiser();
  start_steps(options.encoder);
}

PlainGraphMethod::Answer PlainGraphMethod::answer(const nn::GraphInput& batch, nn::Pass& pass) {
  const nn::NodeRows nodes = readout_.read(batch.node_offsets, encoder_->forward(batch, pass));
  const torch::Tensor hidden = readout_.pooled(nodes);
  return {hidden, readout_.pools_logits() ? readout_.logits(nodes, head_) : head_.forward(hidden)};
}

torch::Tensor PlainGraphMethod::batch_logits(const nn::GraphInput& batch, nn::Pass& pass) {
  return answer(batch, pass).logits;
}

}  // namespace grm::graph_level
