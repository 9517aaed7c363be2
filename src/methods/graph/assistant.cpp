// GALA's environment assistant: a model that is trained without any care for other environments,
// so that it follows whatever part of a graph predicts the label most easily.
#include <torch/types.h>

#include <limits>
#include <optional>

#include "methods/graph/gala.h"
#include "nn/losses.h"

namespace grm::graph_level {

void AssistantOptions::declare(OptionList& list) {
  list.choice("assistant", assistant,
              "the assistant is a plain GNN, or the method's own model without the contrast");
  list.add("assistant_epochs", epochs, {0, 1e5}, "epochs that the assistant is trained");
  list.choice("assistant_keep", keep,
              "keep its weights of the best epoch on validation, or of the last");
  list.add("envs", envs, {1, 1000},
           "clusters of the assistant's embeddings; 1: its predicted class is the tag");
}

namespace {

class Assistant final : public GraphMethod {
 public:
  Assistant(bool plain, const SplitOptions& split, const GraphTrainOptions& training,
            const TrainView& view, const Rng& rng)
      : GraphMethod(training, view, rng) {
    if (plain) {
      encoder_ =
          nn::make_graph_encoder(set_, "encoder", split.encoder, view.features, view.edge_features);
      head_ = nn::Linear(set_, "head", split.encoder.hidden, view.classes);
      start_readout(split.encoder.hidden);
    } else {
      model_.emplace(set_, split, training.readout, HingeOptions{}, view, SplitModel::Kind::gala);
    }
    start_optimiser();
    start_steps(split.encoder);
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    return run_epoch(epoch, [this](TrainBatch& batch) {
      const torch::Tensor out = batch_logits(batch.input, batch.pass);
      return BatchLoss{nn::supervised_loss(view_.loss, out, batch.y), {}};
    });
  }

  /// Logits and embeddings side by side, [k, classes + width].
  torch::Tensor answers(const torch::Tensor& items) {
    return by_chunks(training().graph, items, [this](const nn::GraphInput& batch, nn::Pass& pass) {
      const auto [out, embedding] = read(batch, pass);
      return torch::cat({out, embedding}, 1);
    });
  }

 private:
  std::pair<torch::Tensor, torch::Tensor> read(const nn::GraphInput& batch, nn::Pass& pass) {
    if (model_) {
      const SplitModel::Output out = model_->forward(batch, pass, {});
      return {out.logits, out.pooled};
    }
    const nn::NodeRows nodes = readout_.read(batch.node_offsets, encoder_->forward(batch, pass));
    const torch::Tensor embedding = readout_.pooled(nodes);
    return {readout_.pools_logits() ? readout_.logits(nodes, head_) : head_.forward(embedding),
            embedding};
  }
  torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) override {
    return read(batch, pass).first;
  }

  std::unique_ptr<nn::GraphEncoder> encoder_;
  nn::Linear head_;
  std::optional<SplitModel> model_;
};

}  // namespace

Assistance train_assistant(const AssistantOptions& options, const SplitOptions& split,
                           const GraphTrainOptions& training, const TrainView& view,
                           const Rng& rng) {
  const Rng own(rng.stream("assistant").key());
  Assistant assistant(options.assistant == AssistantKind::erm, split, training, view, own);
  const bool choose = options.keep == AssistantKeep::best && view.validate;
  double best = -std::numeric_limits<double>::infinity();
  std::map<std::string, torch::Tensor> kept;
  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    assistant.train_epoch(epoch);
    if (!choose) continue;
    const double score = view.validate(
        [&](const Graph& set, const torch::Tensor& items) { return assistant.logits(set, items); });
    if (score <= best) continue;
    best = score;
    kept = assistant.parameters().snapshot();
  }
  if (!kept.empty()) assistant.parameters().restore(kept);

  const Domain& domain = view.training.front();
  const torch::Tensor& items = domain.labels.loss;
  const torch::Tensor answers = assistant.answers(items).cpu();
  const torch::Tensor predicted = answers.slice(1, 0, view.classes).argmax(1);
  const torch::Tensor tags = options.envs == 1
                                 ? predicted
                                 : k_means(answers.slice(1, view.classes), options.envs,
                                           /*cosine=*/true, own.stream("clusters"));
  const int64_t graphs = domain.graph.items();
  Assistance result;
  result.tags = torch::full({graphs}, -1, torch::kInt64).index_copy(0, items, tags);
  result.right = torch::zeros({graphs}, torch::kBool)
                     .index_copy(0, items, predicted.eq(domain.labels.y.index_select(0, items)));
  return result;
}

}  // namespace grm::graph_level
