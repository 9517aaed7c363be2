#pragma once

#include <torch/types.h>

#include <memory>

#include "grm/graph/graph.h"
#include "nn/backbone.h"
#include "nn/data_propagation.h"
#include "nn/own_network.h"

namespace grm {

/// The two networks of ARM-CML on graphs. The context net is a 2-layer GCN with `channels` outputs
/// per node; a context is the mean of its rows over some nodes. The prediction net is a 2-layer GCN
/// whose input is [X | 1 u^T] for a context u. Its first layer is affine in u,
///   Z1 = P [X | 1 u^T] W + b = P (X W_x) + b + a (u^T W_ctx),     a = P 1,
/// so X is never widened and P (X W_x) + b is shared by all contexts of a graph. With backbone = own
/// the prediction net is the caller's, which reads [X | 1 u^T] as it stands.
class ArmModel {
 public:
  /// Uses backbone (gcn or own), conv, hidden, dropout and batch_norm of the options.
  ArmModel(nn::ParameterSet& set, const nn::BackboneOptions& options, int64_t channels,
           int64_t features, int64_t classes);

  /// The context net of every node: [n, channels].
  torch::Tensor context_rows(const Graph& graph, nn::Pass& pass);
  /// The context of a batch: the mean of its nodes' rows, [channels].
  static torch::Tensor context_of_batch(const torch::Tensor& rows, const torch::Tensor& nodes);
  /// P (X W_x) + b of every node: [n, hidden]; undefined for a network of the caller's.
  torch::Tensor shared(const Graph& graph);
  /// Logits of every node under one context: [n, classes].   context: [channels]
  torch::Tensor predict(const Graph& graph, const torch::Tensor& shared_rows,
                        const torch::Tensor& context, nn::Pass& pass);
  /// Layer `l` of the context net and of the prediction net alone, for methods/layer_wise.h.
  torch::Tensor context_layer(int64_t l, const Graph& part);
  torch::Tensor predict_layer(int64_t l, const Graph& part, const torch::Tensor& context);
  /// Logits [k, classes] of `nodes`, in evaluation mode, node i under the context in row
  /// context_of[i] of contexts [B, channels]. Costs about one pass, however many contexts; a network
  /// of the caller's runs once for each context that is asked for.
  torch::Tensor predict_each(const Graph& graph, const torch::Tensor& shared_rows,
                             const torch::Tensor& contexts, const torch::Tensor& context_of,
                             const torch::Tensor& nodes);

  static constexpr int64_t kHops = 2;  // of either net
  /// The options of a backbone as either net takes them.
  static nn::BackboneOptions two_layer_gcn(const nn::BackboneOptions& given);

 private:
  /// The caller's network on [X | 1 u^T].
  torch::Tensor predict_own(const Graph& graph, const torch::Tensor& context, nn::Pass& pass);
  torch::Tensor predict_each_own(const Graph& graph, const torch::Tensor& contexts,
                                 const torch::Tensor& context_of, const torch::Tensor& nodes);
  /// The hidden rows of the prediction net under one context.
  torch::Tensor hidden(const torch::Tensor& shared_rows, const nn::Propagation& p,
                       const torch::Tensor& context, nn::Pass& pass);
  torch::Tensor weight_of_features() const { return weight_.narrow(0, 0, features_); }
  torch::Tensor weight_of_context() const {
    return weight_.narrow(0, features_, weight_.size(0) - features_);
  }
  /// Normalisation and activation of first-layer rows.
  torch::Tensor activate(const torch::Tensor& rows, nn::Pass& pass);
  /// a = P 1: [n, 1].
  torch::Tensor received(const nn::Propagation& p) const;

  nn::BackboneOptions options_;
  int64_t features_, classes_;
  nn::DataPropagation propagation_;
  std::unique_ptr<nn::Backbone> context_;
  std::unique_ptr<nn::Backbone> own_;  // null: the layers below
  nn::DenseFeatures features_of_;
  torch::Tensor weight_, bias_;  // first layer: [features + channels, hidden], [hidden]
  nn::BatchNorm norm_;
  nn::GcnLayer second_;
};

}  // namespace grm
