// CIGA: what the invariant subgraphs of one class have in common is maximised.
//
//   extractor   H = GNN(g),  s_uv = MLP([H_u ; H_v]),  causal: the ceil(r |E|) highest s per graph
//   classifier  one GNN over the causal part (messages times sig(s)) and the rest (sig(-s))
//   L = L_pred + alpha L_con + beta L_hinge                                  beta = 0: CIGAv1
//   L_con       supervised contrast of the vectors u_i of length 1, temperature 1
//   L_hinge     mean loss of the spurious head where it exceeds that of the causal head
//
// Behaviour where the public code is at fault: (a) with c_rep = feat the rows of H that are summed
// are those of the causal nodes; (b) L_hinge reaches extractor and classifier unless
// spurious_gradient = false, which is the authors' default; (c) nothing is averaged over epochs;
// and the classifier's running statistics follow the causal parts, unless spurious_statistics =
// true. r < 0 leaves the graph whole, isolated nodes included, and weights both branches by sig(s).
#include <torch/types.h>

#include "methods/graph/contrastive.h"
#include "methods/graph/model.h"
#include "methods/graph/split_model.h"

namespace grm::graph_level {
namespace {

struct CigaOptions : SplitMethodOptions {
  HingeOptions hinge;
  double alpha = 4.0;

  // The authors' script for SP-Motif with b = 0.9.
  CigaOptions() {
    split.encoder.layer = nn::GraphLayerKind::gcn;
    split.c_in = ClassifierInput::feat;
    split.c_rep = Contrasted::feat;
  }

  void declare(OptionList& list) {
    split.declare(list);
    hinge.declare(list);
    training.declare(list);
    list.add("alpha", alpha, {0, 1e6}, "weight of the contrast between causal subgraphs");
  }
};

class Ciga final : public GraphMethod {
 public:
  Ciga(const CigaOptions& options, const TrainView& view, const Rng& rng)
      : GraphMethod(options.training, view, rng),
        options_(options),
        model_(set_, options.split, options.training.readout, options.hinge, view,
               SplitModel::Kind::ciga) {
    require_classes(view, "ciga", "its contrast pairs graphs of equal classes");
    start_optimiser();
    start_steps(options.split.encoder);
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    return run_epoch(epoch, [this](TrainBatch& batch) { return objective(batch); });
  }

 private:
  BatchLoss objective(TrainBatch& batch) {
    return split_loss(
        model_, batch, view_.loss, options_.alpha, options_.hinge.beta,
        [&](const torch::Tensor& rows) { return contrast(rows, label_pairs(batch.y)); });
  }

  torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) override {
    return model_.forward(batch, pass, {}).logits;
  }
  torch::Tensor batch_edge_scores(const nn::GraphInput& batch, nn::Pass& pass) override {
    return model_.scores(batch, pass);
  }

  CigaOptions options_;
  SplitModel model_;
};

}  // namespace
}  // namespace grm::graph_level

namespace grm {

std::unique_ptr<MethodRecipe> make_ciga() {
  return std::make_unique<SimpleRecipe<graph_level::CigaOptions, graph_level::Ciga>>();
}

}  // namespace grm
