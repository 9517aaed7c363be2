#include <torch/types.h>

#include "graph/random.h"
#include "grm/graph/device.h"
#include "methods/mario.h"
#include "ops/bias.h"
#include "ops/sparse.h"

namespace grm {

void MarioOptions::declare(OptionList& list) {
  list.choice("encoder", encoder,
              "graph convolutions, or a network that is handed over, as Python does, of width "
              "method.hidden")
      .came_later();
  list.choice("conv", conv,
              "how a layer gathers neighbours: plain sums, or self-loops and symmetric "
              "normalisation");
  list.add("hidden", hidden, {1, 65536}, "width of encoder and projector");
  list.add("layers", layers, {1, 64}, "number of graph convolutions in the encoder");
  list.add("dropout", dropout, {0, 0.99}, "share of the hidden entries dropped while training");
  list.add("batch_norm", batch_norm, "whether the encoder's layers are normalised");
  list.add("last_relu", last_relu, "whether the encoder's last layer has a ReLU");
  list.add("lr", lr, {0, 10}, "learning rate of the encoder");
  list.add("lr_drop", lr_drop, {0, 1e9},
           "iterations after which the encoder learns ten times slower; 0: never");
  list.add("tau", tau, {0.05, 100}, "temperature of the contrast and of the prototypes");
  list.add("gamma", gamma, {0, 100}, "weight of the information shared inside a cluster");
  list.add("prototypes", prototypes, {1, 65536}, "number of clusters");
  list.add("prototype_steps", prototype_steps, {0, 10000},
           "steps of prototypes and projector in each iteration");
  list.add("prototype_lr", prototype_lr, {0, 10}, "learning rate of prototypes and projector");
  list.add("prototype_decay", prototype_decay, {0, 10}, "L2 weight decay of the prototypes");
  list.add("pf1", pf1, {0, 1}, "probability that the first view zeroes a feature column");
  list.add("pf2", pf2, {0, 1}, "probability that the second view zeroes a feature column");
  list.add("pe1", pe1, {0, 1}, "probability that the first view drops an edge");
  list.add("pe2", pe2, {0, 1}, "probability that the second view drops an edge");
  list.add("ad_aug", ad_aug,
           "whether the first view's features are perturbed against the encoder, in three passes; "
           "needs a dense matrix of nodes x features");
  list.add("contrast_nodes", contrast_nodes, {0, 1e9},
           "nodes drawn for each iteration's prototypes and contrast; 0: all up to 20000, else "
           "4096");
  list.add("head_lr", head_lr, {0, 10}, "learning rate of the linear head");
  list.add("head_epochs", head_epochs, {0, 1e6}, "full-batch steps of the head per evaluation");
}

AdjacencyPtr drop_edges(const Adjacency& edges, double share, const Stream& stream) {
  const int64_t nnz = edges.nnz(), rows = edges.rows();
  const torch::Tensor draws = torch::empty({nnz}, torch::kFloat32);
  stream.fill_uniform(draws.data_ptr<float>(), nnz, 0.0f, 1.0f);
  const torch::Tensor kept = draws.ge(share);
  Csr in;
  in.rows = rows;
  in.cols = edges.cols();
  in.indices = edges.in.indices.masked_select(kept);
  // Kept edges before each edge, so that the ends of the rows can be looked up.
  const torch::Tensor before =
      torch::cat({torch::zeros({1}, torch::kInt64), kept.to(torch::kInt64).cumsum(0)});
  in.offsets = before.index_select(0, edges.in.offsets);
  return with_transpose(std::move(in));
}

torch::Tensor self_pairs(const Adjacency& edges) {
  const auto [source, target] = edge_list(edges);
  return source.eq(target);
}

torch::Tensor thinned_weights(const torch::Tensor& self, const torch::Tensor& weights, double share,
                              bool loops, const Stream& stream) {
  const torch::Tensor draws = torch::empty(self.sizes(), self.options().dtype(torch::kFloat32));
  fill_uniform(stream, draws, 0.0, 1.0);
  const torch::Tensor kept = draws.ge(share);
  torch::Tensor thinned = kept.to(weights.defined() ? weights.scalar_type() : torch::kFloat32);
  if (weights.defined()) thinned = thinned * to_place_of(weights, self);
  if (loops) thinned = thinned.masked_fill(self.logical_and(kept.logical_not()), 1.0);
  return thinned;
}

torch::Tensor keep_columns(int64_t width, double share, const Stream& stream,
                           const torch::Device& device) {
  torch::Tensor draws = torch::empty({width}, torch::dtype(torch::kFloat32).device(device));
  fill_uniform(stream, draws, 0.0, 1.0);
  return draws.ge_(share);
}

MarioEncoder::MarioEncoder(nn::ParameterSet& set, const std::string& prefix,
                           const MarioOptions& options, int64_t features)
    : last_relu_(options.last_relu), dropout_(options.dropout) {
  if (options.own_encoder()) {
    own_ = nn::make_own_network(set, prefix + ".own", features, options.hidden);
    return;
  }
  for (int64_t l = 1; l <= options.layers; ++l) {
    const std::string number = std::to_string(l);
    layers_.emplace_back(set, prefix + ".conv" + number, l == 1 ? features : options.hidden,
                         options.hidden);
    if (options.batch_norm) norms_.emplace_back(set, prefix + ".norm" + number, options.hidden);
  }
}

torch::Tensor MarioEncoder::forward(const Features& x, const MarioView& view,
                                    const torch::Tensor& delta, nn::Pass& pass) {
  if (own_) {
    nn::BackboneInput input = view.seen;
    const bool as_it_is = !view.columns.defined() && !delta.defined();
    if (as_it_is) {
      input.x = x;
    } else {
      input.x.dense = features_of_.get(x, view.columns.device()) * view.columns;
      if (delta.defined()) input.x.dense = input.x.dense + delta;
    }
    return own_->forward(input, pass).logits;
  }
  torch::Tensor h;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const torch::Tensor& w = layers_[l].weight;
    torch::Tensor rows;
    if (l == 0) {
      const torch::Tensor masked =
          view.columns.defined() ? w * to_place_of(view.columns, w).to(w.scalar_type()).unsqueeze(1)
                                 : w;
      rows = ops::feature_linear(x, masked);
      if (delta.defined()) rows = torch::addmm(rows, delta, w);
    } else {
      rows = torch::mm(h, w);
    }
    h = ops::add_bias(view.operators.apply(rows), layers_[l].bias);
    if (!norms_.empty()) h = norms_[l].forward(h, pass);
    if (l + 1 < layers_.size() || last_relu_) h = torch::relu(h);
    h = pass.dropout(h, dropout_);
  }
  return h;
}

MarioProjector::MarioProjector(nn::ParameterSet& set, const std::string& prefix, int64_t width)
    : first_(set, prefix + ".first", width, width),
      second_(set, prefix + ".second", width, width),
      norm_(set, prefix + ".norm", width) {}

torch::Tensor MarioProjector::forward(const torch::Tensor& h, const nn::Pass& pass) {
  return second_.forward(torch::relu(norm_.forward(first_.forward(h), pass)));
}

torch::Tensor prototype_loss(const torch::Tensor& s1, const torch::Tensor& s2,
                             const torch::Tensor& q1, const torch::Tensor& q2, double tau) {
  const torch::Tensor both =
      q1 * torch::log_softmax(s2 / tau, 1) + q2 * torch::log_softmax(s1 / tau, 1);
  return both.sum() * (-0.5 / static_cast<double>(s1.size(0)));
}

}  // namespace grm
