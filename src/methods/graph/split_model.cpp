#include "methods/graph/split_model.h"

#include <torch/types.h>

#include "grm/core/error.h"
#include "methods/contrast.h"
#include "methods/graph/contrastive.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm::graph_level {

void SplitOptions::declare(OptionList& list) {
  encoder.declare(list);
  list.add("c_dim", c_dim, {0, 1e5}, "width of the classifier; 0: that of the extractor");
  list.choice("c_in", c_in, "the classifier reads the raw features or the extractor's rows H");
  list.choice("c_rep", c_rep,
              "contrasted are the classifier's pooled rows or the sum of H over the causal nodes");
  list.add("r", r, {-1, 1}, "share of each graph's edges in the causal part; below 0: no cut");
}

void HingeOptions::declare(OptionList& list) {
  list.add("beta", beta, {0, 1e6}, "weight of the hinge of the spurious head; 0: there is none");
  list.add("spurious_gradient", gradient,
           "the hinge trains extractor and classifier too; false: the spurious head alone, as in "
           "the authors' default");
  list.add("spurious_statistics", statistics,
           "the running statistics of the classifier, which prediction uses, follow the spurious "
           "part too, as in the public code");
}

nn::GraphEncoderOptions SplitOptions::classifier() const {
  nn::GraphEncoderOptions options = encoder;
  if (c_dim > 0) options.hidden = c_dim;
  return options;
}

SplitModel::SplitModel(nn::ParameterSet& set, const SplitOptions& options,
                       const nn::ReadoutOptions& readout, const HingeOptions& hinge,
                       const TrainView& view, Kind kind)
    : options_(options), hinge_(hinge), kind_(kind) {
  const nn::GraphEncoderOptions classifier = options.classifier();
  const int64_t d = options.encoder.hidden, c = classifier.hidden;
  const int64_t input = options.c_in == ClassifierInput::raw ? view.features : d;
  extractor_ =
      nn::make_graph_encoder(set, "extractor", options.encoder, view.features, view.edge_features);
  if (kind == Kind::ciga) {
    plain_ = EdgeScorer(set, "scorer", {2 * d, 4 * d, 1});
  } else {
    normalised_ = NormalisedScorer(set, "scorer", d, options.encoder.dropout);
  }
  classifier_ = nn::make_graph_encoder(set, "classifier", classifier, input, view.edge_features);
  readout_ = nn::GraphReadout(set, "readout", readout, c);
  head_ = nn::Mlp(set, "head", {c, 2 * c, view.classes});
  if (hinge.beta > 0.0) {
    spurious_ = nn::Mlp(set, "spurious", {c, 2 * c, view.classes});
    spurious_last_ = nn::Linear(set, "spurious_last", view.classes, view.classes);
  }
  for (const auto& [name, buffer] : set.buffers()) {
    if (name.rfind("classifier.", 0) == 0) statistics_.push_back(buffer);
  }
}

torch::Tensor SplitModel::score(const torch::Tensor& h, const nn::GraphInput& batch,
                                nn::Pass& pass) const {
  return kind_ == Kind::ciga ? plain_.forward(h, batch.edges) : normalised_.forward(h, batch, pass);
}

torch::Tensor SplitModel::scores(const nn::GraphInput& batch, nn::Pass& pass) {
  return score(extractor_->forward(batch, pass), batch, pass);
}

SplitModel::Branch SplitModel::branch(const nn::GraphInput& batch, const torch::Tensor& h,
                                      const torch::Tensor& keep, const torch::Tensor& mask) const {
  nn::GraphInput whole = batch;
  if (options_.c_in == ClassifierInput::feat) {
    whole.x = {};
    whole.rows = h;
  }
  if (!keep.defined()) {
    whole.mask = mask;
    return {std::move(whole), std::nullopt};
  }
  Subgraph part = cut(whole, keep);
  part.input.mask = part.of_edges(mask);
  return {part.input, part};
}

nn::NodeRows SplitModel::read(const Branch& branch, nn::Pass& pass) {
  return readout_.read(branch.input.node_offsets, classifier_->forward(branch.input, pass));
}

// Prediction reads causal parts alone. If the classifier's running statistics followed both parts,
// they would fit neither of them.
nn::NodeRows SplitModel::read_spurious(const Branch& branch, nn::Pass& pass) {
  const at::AutoGradMode gradient(hinge_.gradient && at::GradMode::is_enabled());
  if (hinge_.statistics || !pass.training()) return read(branch, pass);
  std::vector<torch::Tensor> before;
  for (const torch::Tensor& buffer : statistics_) before.push_back(buffer.clone());
  const nn::NodeRows rows = read(branch, pass);
  const at::NoGradGuard no_grad;
  for (size_t k = 0; k < before.size(); ++k) statistics_[k].copy_(before[k]);
  return rows;
}

SplitModel::Output SplitModel::forward(const nn::GraphInput& batch, nn::Pass& pass,
                                       const Wanted& wanted) {
  const bool cuts = options_.r >= 0.0;
  const torch::Tensor h = extractor_->forward(batch, pass);
  const torch::Tensor s = score(h, batch, pass);
  torch::Tensor keep;
  if (cuts) {
    keep = top_edges(s.detach(), batch.edges, batch.node_offsets, options_.r, /*round_up=*/true);
  }
  const Branch causal = branch(batch, h, keep, torch::sigmoid(s));
  Output out;
  const nn::NodeRows nodes = read(causal, pass);
  out.pooled = readout_.pooled(nodes);
  out.logits = readout_.pools_logits() ? readout_.logits(nodes, head_) : head_.forward(out.pooled);
  if (wanted.contrast) {
    // The causal nodes are named by their rows in the batch, not by those in the subgraph.
    const torch::Tensor vector = options_.c_rep == Contrasted::rep
                                     ? out.pooled
                                     : nn::pool(nn::Pooling::sum, causal.input.node_offsets,
                                                causal.part ? causal.part->of_nodes(h) : h);
    out.contrast = unit_rows(vector);
  }
  if (wanted.spurious) {
    ensure(spurious_last_.weight.defined(), "SplitModel: built without a spurious head");
    const bool turned = cuts || kind_ == Kind::gala;
    const Branch rest = branch(batch, h, cuts ? keep.logical_not() : keep,
                               torch::sigmoid(turned ? torch::neg(s) : s));
    out.spurious = spurious_last_.forward(readout_.logits(read_spurious(rest, pass), spurious_));
  }
  return out;
}

BatchLoss split_loss(SplitModel& model, TrainBatch& batch, const TrainLoss& of, double alpha,
                     double beta,
                     const std::function<torch::Tensor(const torch::Tensor&)>& contrast_of) {
  const SplitModel::Wanted wanted{alpha > 0.0, beta > 0.0};
  const SplitModel::Output out = model.forward(batch.input, batch.pass, wanted);
  const torch::Tensor risk = nn::supervised_loss(of, out.logits, batch.y);
  BatchLoss loss{risk, {{"risk", risk}}};
  if (wanted.contrast) {
    const torch::Tensor term = contrast_of(out.contrast);
    loss.total = loss.total + alpha * term;
    loss.terms.push_back({"contrast", term});
  }
  if (wanted.spurious) {
    const torch::Tensor term = hinge(nn::row_losses(of, out.spurious, batch.y),
                                     nn::row_losses(of, out.logits.detach(), batch.y));
    loss.total = loss.total + beta * term;
    loss.terms.push_back({"hinge", term});
  }
  return loss;
}

}  // namespace grm::graph_level
