// GALA: CIGA's contrast with pairs chosen by an assistant that is expected to be wrong in the way
// in which a plain model is wrong.
//
//   step 1  an assistant is trained by empirical risk minimisation
//   step 2  tag e_i: the cluster of its embedding of graph i (k-means, cosine), or its class
//   step 3  graphs that it gets wrong are seen more often
//   model   w_uv = sig(score), normalised per graph; messages of the causal branch times w
//   L = L_pred, and after `pe` epochs L_pred + alpha L_con [+ beta L_hinge]
//   L_con   positives {same y, other e} against these and {other y, same e}
//
// The published runs have beta = 0: the spurious branch (weights 1 - w) then does not exist. Tags
// and counts of step 3 are all that training needs of the assistant; they are the training state.
#include "methods/graph/gala.h"

#include <torch/types.h>

#include "grm/core/error.h"
#include "methods/graph/contrastive.h"
#include "nn/losses.h"

namespace grm::graph_level {
namespace {

constexpr double kSlack = 1e-12;  // in the denominator of the contrast

struct GalaOptions : SplitMethodOptions {
  HingeOptions hinge;
  AssistantOptions assistant;
  double alpha = 128.0;
  bool upsample = true;
  int64_t repeats = 4;
  int64_t pe = 10;

  // The authors' run on two-piece graphs {0.7, 0.9}.
  GalaOptions() {
    split.r = -1.0;
    training.batch = 128;
  }

  void declare(OptionList& list) {
    split.declare(list);
    hinge.declare(list);
    training.declare(list);
    assistant.declare(list);
    list.add("alpha", alpha, {0, 1e6}, "weight of the contrast");
    list.add("upsample", upsample, "see graphs that the assistant gets wrong more often");
    list.add("repeats", repeats, {0, 1000},
             "additional copies of those graphs; 0: min(right div wrong, 2) copies in all");
    list.add("pe", pe, {0, 1e6}, "epochs before contrast and hinge set in");
  }
};

class Gala final : public GraphMethod {
 public:
  Gala(const GalaOptions& options, const TrainView& view, const Rng& rng)
      : GraphMethod(options.training, view, rng),
        options_(options),
        model_(set_, options.split, options.training.readout, options.hinge, view,
               SplitModel::Kind::gala) {
    require_classes(view, "gala", "its assistant's answers are compared with classes");
    start_optimiser();
    start_steps(options.split.encoder);
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    ask_assistant();
    const bool settled = epoch > options_.pe;
    torch::Tensor ids;
    if (counts_.defined()) {
      const torch::Tensor& items = training().labels.loss;
      ids = items.repeat_interleave(counts_.index_select(0, items));
    }
    return run_epoch(
        epoch, [this, settled](TrainBatch& batch) { return objective(batch, settled); }, ids,
        /*variant=*/settled ? 1 : 0);
  }

  std::map<std::string, torch::Tensor> training_state() const override {
    if (!tags_.defined()) return {};
    return {{"tags", tags_}, {"counts", counts_}};
  }
  void restore_training_state(const std::map<std::string, torch::Tensor>& state) override {
    tags_ = counts_ = torch::Tensor();
    if (state.empty()) return;
    const int64_t graphs = training().graph.items();
    for (const char* name : {"tags", "counts"}) {
      const auto found = state.find(name);
      if (found == state.end() || found->second.numel() != graphs) {
        fail(ErrorKind::data, "gala: the checkpoint holds no '{}' of {} training graphs", name,
             graphs);
      }
    }
    tags_ = state.at("tags").clone();
    counts_ = state.at("counts").clone();
  }

 private:
  // Steps 1 to 3, once, unless a checkpoint brought what they give.
  void ask_assistant() {
    if (tags_.defined() || (options_.alpha == 0.0 && !options_.upsample)) return;
    const Assistance said =
        train_assistant(options_.assistant, options_.split, options_.training, view_, rng_);
    const torch::Tensor& items = training().labels.loss;
    tags_ = said.tags;
    counts_ = torch::ones({training().graph.items()}, torch::kInt64);
    if (options_.upsample) {
      counts_.index_copy_(0, items,
                          upsampled_counts(said.right.index_select(0, items), options_.repeats));
    }
  }

  BatchLoss objective(TrainBatch& batch, bool settled) {
    const auto contrast_of = [&](const torch::Tensor& rows) {
      return contrast(
          rows, assisted_pairs(batch.y, select_rows(to_place_of(tags_, batch.ids), batch.ids)),
          kSlack);
    };
    return split_loss(model_, batch, view_.loss, settled ? options_.alpha : 0.0,
                      settled ? options_.hinge.beta : 0.0, contrast_of);
  }

  torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) override {
    return model_.forward(batch, pass, {}).logits;
  }
  torch::Tensor batch_edge_scores(const nn::GraphInput& batch, nn::Pass& pass) override {
    return model_.scores(batch, pass);
  }

  GalaOptions options_;
  SplitModel model_;
  torch::Tensor tags_;    // [graphs] int64; undefined before the first epoch
  torch::Tensor counts_;  // [graphs] int64: how often an epoch sees each
};

}  // namespace
}  // namespace grm::graph_level

namespace grm {

std::unique_ptr<MethodRecipe> make_gala() {
  return std::make_unique<SimpleRecipe<graph_level::GalaOptions, graph_level::Gala>>();
}

}  // namespace grm
