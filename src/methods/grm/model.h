#pragma once

#include <optional>

#include "graph/device_nets.h"
#include "methods/grm/domain.h"
#include "methods/grm/losses.h"
#include "nn/graph_encoder.h"

namespace grm {

/// What the whole domain graph contributes to every G cut from it.
struct DomainEncoding {
  torch::Tensor nodes;  // ascending ids of the nodes that have a row below; undefined: all
  EncoderInput input;
  torch::Tensor transformed;       // [n, 2 d_z], first encoder map of every node (gin: its rows)
  std::optional<Posterior> local;  // posterior of every node, if the encoder does not propagate

  /// The rows of these nodes.
  torch::Tensor rows_of(const torch::Tensor& ids) const;
};

/// Which rows of a batch enter L_d, and their V_i^D where these are found around them.
struct InvarianceRows {
  torch::Tensor rows;     // int64, ascending; undefined: all rows
  torch::Tensor offsets;  // [graphs + 1], first of the rows of each graph
  Csr sets;               // V_i^D of the distinct nodes of those rows
  torch::Tensor slot;     // [rows], the set of each row
};

/// A batch of G's with the operators that act on it.
struct PreparedBatch {
  GraphBatch batch;
  nn::Propagation propagation;    // on observed edges, for the encoder
  AdjacencyPtr pairs;             // those of the generated edges; null: found when they are needed
  ops::GeneratedTiles graphs;     // edge_support = all: edges are generated where they are used
  std::optional<DomainView> own;  // graph level: the batch is its own domain, row by row
  std::optional<InvarianceRows> invariance;  // where L_d does not take all rows, or sets are local
};

/// The generator and the classifier, in the order of the paper's Section 3.
class GrmModel {
 public:
  GrmModel(nn::ParameterSet& set, const GrmOptions& options, int64_t features, int64_t classes,
           int64_t edge_features = 0);

  /// Lets go of what was derived from graphs seen so far.
  void forget_graphs() { cache_ = DomainCache(options_, dtype_, device_); }

  /// Section 3.2: u for all nodes of the domain graph, and the encoder's first map of it.
  DomainEncoding encode_domain(const Graph& graph, nn::Pass& pass);
  DomainEncoding encode_domain(const DomainView& view, nn::Pass& pass);
  /// The same for the nodes of a batch and of the sets in its `invariance` alone.
  DomainEncoding encode_part(const DomainView& view, const PreparedBatch& g, nn::Pass& pass);
  PreparedBatch prepare(GraphBatch batch);
  PreparedBatch prepare(const DeviceNets& nets);
  /// Chooses the rows that enter L_d and finds their V_i^D, where the options ask for it.
  void choose_invariance_rows(const Graph& graph, PreparedBatch& g, Stream draws);
  /// Graph level: the graphs `ids` of a packed set. The loss needs V_i^D, prediction may not.
  PreparedBatch prepare(const Graph& set, const torch::Tensor& ids, bool for_loss);
  /// The same on a GPU with room for more, where padded() gives something.
  PreparedBatch prepare_padded(const Graph& set, const torch::Tensor& ids, int64_t room);
  const PaddedSet* padded(const Graph& set) { return cache_.padded(set); }
  /// What prediction needs of a domain for the rows of some ego-nets alone, where no pass goes over
  /// all of it: for encoders that read each node by itself before they see edges.
  DomainEncoding encode_rows(const Graph& graph, const GraphBatch& batch, nn::Pass& pass);
  /// Q(Z | G) for the rows of a batch.
  Posterior posterior(const DomainEncoding& domain, const PreparedBatch& g, const nn::Pass& pass);
  /// z = mu + sigma eps; mu itself if eps is undefined.
  static torch::Tensor sample(const Posterior& q, const torch::Tensor& eps);
  /// The generated nodes of the rows of a batch.
  GeneratedNodes generated_nodes(const torch::Tensor& z) const { return decoder_.nodes(z); }
  /// The generated edges over the pairs that `edge_support` names.
  GeneratedEdges generate(const PreparedBatch& g, const torch::Tensor& z);
  /// The generated weights [nnz] of the observed edges of a batch.
  torch::Tensor observed_weights(const PreparedBatch& g, const torch::Tensor& z) const;
  /// What an edge counts for in an explanation, [nnz]: p_i p_j of its ends where nodes are
  /// generated, else its weight.
  torch::Tensor observed_scores(const PreparedBatch& g, const torch::Tensor& z) const;
  /// Generates the graphs of a batch and classifies them: logits per graph (ego-nets, graph level)
  /// or per node (whole), and if wanted the KL of the edges of each graph.
  Classified classify(const PreparedBatch& g, const torch::Tensor& z, bool with_kl, nn::Pass& pass);
  /// Section 3.3: h_i for the rows of a batch, whose posterior is q; those that enter L_d where
  /// only some do.
  torch::Tensor domain_representation(const DomainView& view, const DomainEncoding& domain,
                                      const PreparedBatch& g, const Posterior& q,
                                      const nn::Pass& pass);
  /// The same at node level; `graph` is what the batch was cut from.
  torch::Tensor domain_representation(const Graph& graph, const DomainEncoding& domain,
                                      const PreparedBatch& g, const Posterior& q,
                                      const nn::Pass& pass) {
    return domain_representation(cache_.whole(graph, true), domain, g, q, pass);
  }
  /// Section 3.4: all terms. `items` are the rows of the logits that carry the labels y.
  GrmTerms losses(const Graph& graph, const PreparedBatch& g, const torch::Tensor& eps,
                  const TrainLoss& loss, const torch::Tensor& items, const torch::Tensor& y,
                  nn::Pass& pass);
  /// The same at graph level, where every graph of the batch carries a label.
  GrmTerms losses(const PreparedBatch& g, const torch::Tensor& eps, const TrainLoss& loss,
                  const torch::Tensor& y, nn::Pass& pass);

 private:
  DomainEncoding encode_rows(const Features& x, const torch::Tensor& nodes, nn::Pass& pass);
  /// Graph level: the logits of each graph from those of its nodes.
  torch::Tensor pooled(const torch::Tensor& offsets, const GeneratedNodes& nodes,
                       const torch::Tensor& logits) const;
  torch::Tensor input_gcn(int which, const Features& x, const nn::Propagation& p, nn::Pass& pass,
                          const torch::Tensor& counted);
  /// h_i of row i is row index[i] of h, or row i.
  struct DomainRows {
    torch::Tensor h, index;
  };
  /// What domain_representation gathers.
  DomainRows domain_rows(const DomainView& view, const DomainEncoding& domain,
                         const PreparedBatch& g, const Posterior& q, const nn::Pass& pass);
  DomainRows local_rows(const DomainView& view, const DomainEncoding& domain,
                        const InvarianceRows& which, const nn::Pass& pass);
  DomainRows rows_of_all(const DomainView& view, const DomainEncoding& domain,
                         const PreparedBatch& g, const Posterior& q, const nn::Pass& pass);
  /// Whether the rows of a batch are the nodes of its domain, in order.
  bool same_rows(const PreparedBatch& g) const { return g.own || options_.scope == Scope::whole; }
  GrmTerms losses(const DomainView& view, const PreparedBatch& g, const torch::Tensor& eps,
                  const TrainLoss& loss, const torch::Tensor& items, const torch::Tensor& y,
                  nn::Pass& pass);

  GrmOptions options_;
  torch::Dtype dtype_;
  torch::Device device_;
  DomainCache cache_;
  struct InputGcn {
    nn::GcnLayer first, second;
    nn::BatchNorm norm;
  };
  InputGcn input_gcn_[2];                            // GCN_node and GCN_dom (concat only)
  std::unique_ptr<nn::GraphEncoder> graph_encoder_;  // encoder = gin only
  std::unique_ptr<nn::Backbone> own_encoder_;        // encoder = own only
  std::unique_ptr<Encoder> encoder_;
  Decoder decoder_;
};

}  // namespace grm
