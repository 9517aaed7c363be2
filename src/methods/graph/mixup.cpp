// Mixup at graph level (Wang et al., WWW 2021): the head is trained on rows in between two graphs'
// rows, with labels in between.
//
//   one l ~ Beta(alpha, alpha) and one permutation pi of the batch a step
//   h = pool(f(g)),  h' = l h + (1 - l) pi h
//   L = l CE(head(h'), y) + (1 - l) CE(head(h'), pi y)
//
// With `pool = logits` the pooled logits are mixed, which is the same where the head is one linear
// map. Prediction is head(h). alpha = 0 is l = 1, and ERM.
#include <torch/types.h>

#include "methods/graph/plain.h"
#include "methods/mixup.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm::graph_level {
namespace {

struct GraphMixupOptions : PlainGraphOptions {
  double alpha = 1.0;

  std::string undivided() const { return "it mixes graphs of a whole batch"; }
  void declare(OptionList& list) {
    PlainGraphOptions::declare(list);
    list.add("alpha", alpha, {0, 1000},
             "of Beta(alpha, alpha), the share of a graph; 0: no mixing");
  }
};

class GraphMixup final : public PlainGraphMethod {
 public:
  GraphMixup(const GraphMixupOptions& options, const TrainView& view, const Rng& rng)
      : PlainGraphMethod(options, view, rng), alpha_(options.alpha) {}

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    return run_epoch(epoch, [this](TrainBatch& batch) { return batch_loss(batch); });
  }

 private:
  BatchLoss batch_loss(TrainBatch& batch) {
    const torch::Tensor l =
        batch.step
            .number([this](const nn::When& when) {
              return draw_beta(rng_.stream("mixup", when.epoch, when.step), alpha_);
            })
            .to(set_.dtype());
    const int64_t n = batch.ids.numel();
    const torch::Tensor order = batch.step.indices([this, n](const nn::When& when) {
      return torch::tensor(rng_.stream("mixup order", when.epoch, when.step).choose(n, n),
                           torch::kInt64);
    });
    const auto mixed = [&](const torch::Tensor& rows) {
      return l * rows + (1.0 - l) * ops::gather_rows(rows, order);
    };
    const Answer plain = answer(batch.input, batch.pass);
    const torch::Tensor out =
        readout_.pools_logits() ? mixed(plain.logits) : head_.forward(mixed(plain.hidden));
    const auto loss = [&](const torch::Tensor& logits, const torch::Tensor& y) {
      return nn::supervised_loss(view_.loss, logits, y);
    };
    return {l * loss(out, batch.y) + (1.0 - l) * loss(out, batch.y.index_select(0, order)),
            {{"risk", loss(plain.logits.detach(), batch.y)}}};
  }

  double alpha_;
};

}  // namespace
}  // namespace grm::graph_level

namespace grm {

std::unique_ptr<MethodRecipe> make_graph_mixup() {
  return std::make_unique<SimpleRecipe<graph_level::GraphMixupOptions, graph_level::GraphMixup>>();
}

}  // namespace grm
