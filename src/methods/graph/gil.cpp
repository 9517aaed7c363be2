// GIL (Li et al., NeurIPS 2022): environments are read off the part of a graph that does not make
// the label, and the gradients of their risks are made equal.
//
//   Z = GNN_M(x, E),  m_uv = <Z_u, Z_v> / sqrt(d)
//   invariant edges: the floor(t |E|) highest m of each graph, messages scaled by sig(m)
//   variant edges:   all others, messages scaled by sig(-m)
//   hV = pool(GNN_V(variant)), e_i = k-means over all training graphs, once per epoch
//   hI = pool(GNN_I(invariant)),  logits = w(hI)
//   L = mean_e R_e + lambda / K sum_e ||G_e - mean_e G_e||^2
//
// R_e is the mean loss of the batch's members of e and G_e its gradient with respect to the last
// linear map of w, which has the closed form mean_{i in e} (p_i - onehot_i) [input_i ; 1]^T. First
// derivatives are enough to train on it, and they reach all networks but GNN_V.
//
// There is no official code. What is our own: the cut is made per graph and stays differentiable
// through sig(m) (1 / sqrt(d) keeps that from saturating and changes no ranking); a graph keeps at
// least one edge; k-means sees all training graphs; theta of the penalty is narrowed to the last
// linear map. No term of the loss reaches GNN_V, so with `variant_encoder = own` it stays as it was
// drawn; `shared` takes the weights of GNN_I instead. With `pool = logits` the last map acts on every
// node, and G_e takes the share of each node in its graph's logit as it stands: no gradient of the
// penalty reaches these shares.
#include "methods/graph/gil.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "methods/graph/model.h"
#include "methods/graph/subgraph.h"
#include "nn/losses.h"
#include "ops/sparse.h"

namespace grm::graph_level {
namespace gil {

torch::Tensor environment_weights(const torch::Tensor& environments, torch::Dtype dtype) {
  const auto e = environments.accessor<int64_t, 1>();
  std::set<int64_t> present;
  for (int64_t i = 0; i < e.size(0); ++i) present.insert(e[i]);
  const torch::Tensor names =
      torch::tensor(std::vector<int64_t>(present.begin(), present.end()), torch::kInt64);
  const torch::Tensor member = environments.unsqueeze(0).eq(names.unsqueeze(1)).to(dtype);
  return member / member.sum(1, true);
}

torch::Tensor head_gradients(const torch::Tensor& weights, const torch::Tensor& residuals,
                             const torch::Tensor& inputs) {
  const int64_t count = weights.size(0), n = inputs.size(0), classes = residuals.size(1);
  if (inputs.dim() == 3) {  // [C, K', B] times [C, B, d + 1]
    const torch::Tensor weighted = weights.unsqueeze(0) * residuals.t().unsqueeze(1);
    return weighted.bmm(inputs.transpose(0, 1)).transpose(0, 1);
  }
  const torch::Tensor extended = torch::cat({inputs, torch::ones({n, 1}, inputs.options())}, 1);
  const torch::Tensor weighted = weights.unsqueeze(1) * residuals.t().unsqueeze(0);  // [K', C, B]
  return weighted.reshape({count * classes, n}).matmul(extended).view({count, classes, -1});
}

torch::Tensor weights_of_all(const torch::Tensor& environments, int64_t count, torch::Dtype dtype) {
  const torch::Tensor names = torch::arange(count, environments.options());
  const torch::Tensor member = environments.unsqueeze(0).eq(names.unsqueeze(1)).to(dtype);
  return member / member.sum(1, true).clamp_min(1.0);
}

torch::Tensor present(const torch::Tensor& weights) {
  return weights.gt(0.0).any(1).to(weights.scalar_type());
}

torch::Tensor gradient_variance(const torch::Tensor& gradients, const torch::Tensor& present) {
  if (present.defined()) {
    const torch::Tensor share = (present / present.sum()).view({-1, 1, 1});
    return ((gradients - (gradients * share).sum(0, true)).square() * share).sum();
  }
  return (gradients - gradients.mean(0, true)).square().sum() /
         static_cast<double>(gradients.size(0));
}

}  // namespace gil

namespace {

enum class VariantEncoder { own, shared };
GRM_WORDS(VariantEncoder, "own", "shared")

struct GilOptions : GraphMethodOptions {
  nn::GraphEncoderOptions encoder{nn::GraphLayerKind::le, 2, 64, 0.0, false, false, true, true};
  int64_t mask_layers = 2;
  int64_t mask_hidden = 32;
  bool mask_batch_norm = false;
  bool mask_embed = false;
  int64_t head_layers = 2;
  double t = 0.25;
  int64_t environments = 3;
  double lambda = 1e-3;
  VariantEncoder variant_encoder = VariantEncoder::own;

  void declare(OptionList& list) {
    encoder.declare(list);
    training.declare(list);
    list.add("mask_layers", mask_layers, {1, 32}, "layers of the network that scores edges");
    list.add("mask_hidden", mask_hidden, {1, 1e5}, "width of the network that scores edges");
    list.add("mask_batch_norm", mask_batch_norm, "batch norm in the network that scores edges");
    list.add("mask_embed", mask_embed, "a linear map before the layers that score edges");
    list.add("head_layers", head_layers, {1, 2},
             "linear maps of the head; two have a hidden width of twice the encoder's");
    list.add("t", t, {1e-6, 1}, "share of the edges of a graph that are invariant");
    list.add("environments", environments, {1, 1000}, "number K of inferred environments");
    list.add("lambda", lambda, {0, 1e6}, "weight of the variance of the risks' gradients");
    list.choice("variant_encoder", variant_encoder,
                "network behind the environments: one of its own, which nothing trains, or that "
                "of the invariant part");
  }

  nn::GraphEncoderOptions mask() const {
    return encoder.inner(mask_layers, mask_hidden, mask_batch_norm, mask_embed);
  }
  std::optional<MemoryUses> memory(const RunShape& run) const { return memory_of(encoder, run); }
  std::optional<WorkCount> work(const RunShape& run) const {
    return work_of({mask(), encoder}, run);
  }
  std::vector<Saving> savings(const RunShape& /*run*/) const { return savings_of(encoder); }
};

class Gil final : public GraphMethod {
 public:
  Gil(const GilOptions& options, const TrainView& view, const Rng& rng)
      : GraphMethod(options.training, view, rng),
        options_(options),
        mask_(nn::make_graph_encoder(set_, "mask", options.mask(), view.features,
                                     view.edge_features)),
        encoder_(nn::make_graph_encoder(set_, "encoder", options.encoder, view.features,
                                        view.edge_features)) {
    const int64_t width = options.encoder.hidden;
    if (options.variant_encoder == VariantEncoder::own) {
      variant_ = nn::make_graph_encoder(set_, "variant", options.encoder, view.features,
                                        view.edge_features);
    }
    if (options.head_layers == 2) first_ = nn::Linear(set_, "head.first", width, 2 * width);
    last_ = nn::Linear(set_, "head.last", options.head_layers * width, view.classes);
    start_readout(width);
    start_optimiser();
    start_steps(options.encoder);
  }

  std::vector<LossTerm> train_epoch(int64_t epoch) override {
    // Steps that are recorded read it in place.
    const torch::Tensor found = infer_environments(epoch);
    if (!environments_.defined()) environments_ = found.to(set_.device());
    environments_.copy_(found);
    return run_epoch(epoch, [this](TrainBatch& batch) {
      const auto [logits, inputs] = answer(batch.input, batch.pass);
      const torch::Tensor losses = nn::row_losses(view_.loss, logits, batch.y);
      const torch::Tensor e = select_rows(environments_, batch.ids);
      // On a GPU the host does not know which environments a batch has.
      const torch::Tensor weights =
          batch.ids.is_cuda()
              ? gil::weights_of_all(e, options_.environments, logits.scalar_type())
              : to_place_of(gil::environment_weights(e, logits.scalar_type()), logits);
      const torch::Tensor risks = weights.matmul(losses);
      const torch::Tensor gradients =
          gil::head_gradients(weights, nn::loss_residuals(view_.loss, logits, batch.y), inputs);
      const torch::Tensor present = batch.ids.is_cuda() ? gil::present(weights) : torch::Tensor();
      const torch::Tensor risk = present.defined() ? risks.sum() / present.sum() : risks.mean();
      const torch::Tensor penalty = gil::gradient_variance(gradients, present);
      return BatchLoss{risk + options_.lambda * penalty,
                       {{"risk", risk}, {"gradient_variance", penalty}}};
    });
  }

 private:
  torch::Tensor scores(const nn::GraphInput& batch, nn::Pass& pass) {
    const torch::Tensor z = mask_->forward(batch, pass);
    return ops::sddmm(batch.edges, z, z) / std::sqrt(static_cast<double>(options_.mask_hidden));
  }

  // The rows of the nodes of the part with the edges `keep`.
  nn::NodeRows represent(nn::GraphEncoder& encoder, const nn::GraphInput& batch,
                         const torch::Tensor& keep, const torch::Tensor& weights,
                         nn::Pass& pass) const {
    Subgraph part = cut(batch, keep);
    if (part.nodes.numel() == 0) {
      return readout_.read(part.input.node_offsets,
                           torch::zeros({0, options_.encoder.hidden}, weights.options()));
    }
    part.input.mask = torch::sigmoid(part.of_edges(weights));
    return readout_.read(part.input.node_offsets, encoder.forward(part.input, pass));
  }

  // The logits, and what the last linear map of the head sees: [B, width]; with pool = logits for
  // each class, [B, C, width + 1], and only where there are gradients.
  struct Answer {
    torch::Tensor logits, inputs;
  };
  Answer answer(const nn::GraphInput& batch, nn::Pass& pass) {
    const torch::Tensor m = scores(batch, pass);
    const nn::NodeRows nodes =
        represent(*encoder_, batch, top_share(m.detach(), batch, options_.t), m, pass);
    const auto hidden = [&](const torch::Tensor& rows) {
      return options_.head_layers == 2 ? torch::relu(first_.forward(rows)) : rows;
    };
    if (!readout_.pools_logits()) {
      const torch::Tensor inputs = hidden(readout_.pooled(nodes));
      return {last_.forward(inputs), inputs};
    }
    const torch::Tensor rows = hidden(nodes.rows), each = last_.forward(rows);
    Answer out{readout_.pooled(nodes, each), {}};
    if (out.logits.requires_grad()) out.inputs = class_inputs(nodes, rows, each, out.logits);
    return out;
  }

  // sum_n a_nc [x_n ; 1] of each graph, a_nc = dlogit_c / do_nc of the pooling, as it stands.
  static torch::Tensor class_inputs(const nn::NodeRows& nodes, const torch::Tensor& rows,
                                    const torch::Tensor& each, const torch::Tensor& logits) {
    const torch::Tensor a =
        torch::autograd::grad({logits.sum()}, {each}, {}, /*retain_graph=*/true)[0];
    const torch::Tensor extended =
        torch::cat({rows, torch::ones({rows.size(0), 1}, rows.options())}, 1);
    return ops::segment_sum(nodes.offsets, a.unsqueeze(2) * extended.unsqueeze(1));
  }

  // The environment of every graph of the training set, [items] int64.
  torch::Tensor infer_environments(int64_t epoch) {
    const Graph& set = training().graph;
    const torch::Tensor& ids = training().labels.loss;
    torch::Tensor found = torch::zeros({set.items()}, torch::kInt64);
    const int64_t count = std::min(options_.environments, ids.numel());
    if (count < 2) return found;
    nn::GraphEncoder& encoder = variant_ ? *variant_ : *encoder_;
    const torch::Tensor rows =
        by_chunks(set, ids, [&](const nn::GraphInput& batch, nn::Pass& pass) {
          const torch::Tensor m = scores(batch, pass);
          const torch::Tensor variant = top_share(m, batch, options_.t).logical_not();
          return readout_.pooled(represent(encoder, batch, variant, -m, pass));
        });
    return found.index_put_({ids}, k_means(rows, count, false, rng_.stream("kmeans", epoch)));
  }

  torch::Tensor batch_logits(const nn::GraphInput& batch, nn::Pass& pass) override {
    return answer(batch, pass).logits;
  }
  torch::Tensor batch_edge_scores(const nn::GraphInput& batch, nn::Pass& pass) override {
    return scores(batch, pass);
  }

  GilOptions options_;
  std::unique_ptr<nn::GraphEncoder> mask_, encoder_, variant_;
  torch::Tensor environments_;  // [items] int64, of this epoch
  nn::Linear first_, last_;
};

}  // namespace
}  // namespace grm::graph_level

namespace grm {

std::unique_ptr<MethodRecipe> make_gil() {
  return std::make_unique<SimpleRecipe<graph_level::GilOptions, graph_level::Gil>>();
}

}  // namespace grm
