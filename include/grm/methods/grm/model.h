#pragma once

#include <optional>

#include "grm/methods/grm/domain.h"
#include "grm/methods/grm/losses.h"

namespace grm {

/// What the whole domain graph contributes to every G cut from it.
struct DomainEncoding {
  EncoderInput input;
  torch::Tensor transformed;       // [n, 2 d_z], first encoder map of every node
  std::optional<Posterior> local;  // posterior of every node, if the encoder does not propagate
};

/// A batch of G's with the operators that act on it.
struct PreparedBatch {
  GraphBatch batch;
  nn::Propagation propagation;  // on observed edges, for the encoder
};

/// The generator and the classifier, in the order of the paper's Section 3.
class GrmModel {
 public:
  GrmModel(nn::ParameterSet& set, const GrmOptions& options, int64_t features, int64_t classes);

  /// Section 3.2: u for all nodes of the domain graph, and the encoder's first map of it.
  DomainEncoding encode_domain(const Graph& graph, nn::Pass& pass);
  PreparedBatch prepare(GraphBatch batch);
  /// Q(Z | G) for the rows of a batch.
  Posterior posterior(const DomainEncoding& domain, const PreparedBatch& g, const nn::Pass& pass);
  /// z = mu + sigma eps; mu itself if eps is undefined.
  static torch::Tensor sample(const Posterior& q, const torch::Tensor& eps);
  /// The generated edges over the pairs that `edge_support` names.
  GeneratedEdges generate(const PreparedBatch& g, const torch::Tensor& z);
  /// Logits per graph of the batch (ego) or per node (whole).
  torch::Tensor classify(const PreparedBatch& g, const torch::Tensor& z,
                         const GeneratedEdges& edges, nn::Pass& pass);
  /// Section 3.3: h_i for the rows of a batch.
  torch::Tensor domain_representation(const Graph& graph, const DomainEncoding& domain,
                                      const PreparedBatch& g, const nn::Pass& pass);
  /// Section 3.4: all terms. `items` are the rows of the logits that carry the labels y.
  GrmTerms losses(const Graph& graph, const PreparedBatch& g, const torch::Tensor& eps,
                  LossKind loss, const torch::Tensor& items, const torch::Tensor& y,
                  nn::Pass& pass);

 private:
  torch::Tensor input_gcn(int which, const Graph& graph, nn::Pass& pass);

  GrmOptions options_;
  torch::Dtype dtype_;
  DomainCache cache_;
  struct InputGcn {
    nn::GcnLayer first, second;
    nn::BatchNorm norm;
  };
  InputGcn input_gcn_[2];  // GCN_node and GCN_dom (concat only)
  std::unique_ptr<Encoder> encoder_;
  Decoder decoder_;
};

}  // namespace grm
