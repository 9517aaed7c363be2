#pragma once

#include <string>
#include <vector>

#include "grm/core/options.h"
#include "grm/core/rng.h"
#include "grm/methods/method.h"
#include "grm/nn/layers.h"
#include "nn/own_network.h"

// The pieces of MARIO's model and its views. The method itself is in src/methods/mario.cpp.
namespace grm {

/// Layers of ours, or a network of the caller's.
enum class MarioEncoderKind { gcn, own };
GRM_WORDS(MarioEncoderKind, "gcn", "own")

constexpr int64_t kMarioPasses = 3;  // of the adversarial perturbation

/// Defaults: the authors' configuration for GOODCora with the word covariate shift.
struct MarioOptions : MethodOptions {
  MarioEncoderKind encoder = MarioEncoderKind::gcn;
  nn::Conv conv = nn::Conv::kipf;
  int64_t hidden = 128;
  int64_t layers = 2;
  double dropout = 0.0;
  bool batch_norm = true;
  bool last_relu = true;
  double lr = 1e-3;
  int64_t lr_drop = 150;
  double tau = 0.2;
  double gamma = 0.5;
  int64_t prototypes = 100;
  int64_t prototype_steps = 10;
  double prototype_lr = 1e-5;
  double prototype_decay = 1e-5;
  double pf1 = 0.3, pf2 = 0.3;
  double pe1 = 0.4, pe2 = 0.4;
  bool ad_aug = true;
  int64_t contrast_nodes = 0;
  double head_lr = 1e-3;
  int64_t head_epochs = 200;
  void declare(OptionList& list);
  bool own_encoder() const { return encoder == MarioEncoderKind::own; }
  /// Nodes that are contrasted in a graph of n.
  int64_t contrasted(int64_t nodes) const;
  std::optional<MemoryUses> memory(const RunShape& run) const;
  std::optional<WorkCount> work(const RunShape& run) const;
  std::vector<Saving> savings(const RunShape& run) const;
};

/// Each stored edge is dropped with probability `share`, every one by its own draw.
AdjacencyPtr drop_edges(const Adjacency& edges, double share, const Stream& stream);

/// Which stored edges are self-pairs: [nnz] bool.
torch::Tensor self_pairs(const Adjacency& edges);

/// The same thinned graph as weights of all stored edges, where `self` lives: 0 for those that
/// drop_edges() drops, so that the pattern stays what it is. With `loops` a dropped self-pair
/// weighs 1, since the operator then gives every node a pair of its own.
torch::Tensor thinned_weights(const torch::Tensor& self, const torch::Tensor& weights, double share,
                              bool loops, const Stream& stream);

/// 0 for the columns dropped with probability `share`, 1 for the others: [width].
torch::Tensor keep_columns(int64_t width, double share, const Stream& stream,
                           const torch::Device& device = torch::kCPU);

/// A graph as one view shows it. Zeroing columns is a mask on the rows of the first weight matrix,
/// X diag(m) W = X (diag(m) W), so the features themselves are never copied; a network of the caller's
/// gets edges and features as they are seen.
struct MarioView {
  nn::Propagation operators;
  torch::Tensor columns;        // [width] of 0 and 1; undefined: all ones
  nn::BackboneInput seen = {};  // edges and weights, for a network of the caller's
};

/// L layers of conv -> BN -> ReLU (the last one optional) -> dropout, or the caller's network.
class MarioEncoder {
 public:
  MarioEncoder(nn::ParameterSet& set, const std::string& prefix, const MarioOptions& options,
               int64_t features);
  /// Rows [n, hidden] of (X diag(m) + delta); delta: [n, width] or undefined.
  torch::Tensor forward(const Features& x, const MarioView& view, const torch::Tensor& delta,
                        nn::Pass& pass);

 private:
  std::vector<nn::GcnLayer> layers_;
  std::vector<nn::BatchNorm> norms_;
  bool last_relu_;
  double dropout_;
  std::unique_ptr<nn::Backbone> own_;  // null: the layers
  nn::DenseFeatures features_of_;
};

/// Linear -> BN -> ReLU -> Linear, all of one width.
class MarioProjector {
 public:
  MarioProjector(nn::ParameterSet& set, const std::string& prefix, int64_t width);
  torch::Tensor forward(const torch::Tensor& h, const nn::Pass& pass);

 private:
  nn::Linear first_, second_;
  nn::BatchNorm norm_;
};

/// Swapped prediction: -(1/2) mean_i sum_k [ q1_ik log softmax(s2_i / tau)_k
///                                          + q2_ik log softmax(s1_i / tau)_k ].   all: [n, k]
torch::Tensor prototype_loss(const torch::Tensor& s1, const torch::Tensor& s2,
                             const torch::Tensor& q1, const torch::Tensor& q2, double tau);

}  // namespace grm
