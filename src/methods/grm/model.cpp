#include "grm/methods/grm/model.h"

#include <torch/types.h>

#include "grm/nn/losses.h"
#include "grm/ops/sparse.h"

namespace grm {

GrmModel::GrmModel(nn::ParameterSet& set, const GrmOptions& options, int64_t features,
                   int64_t classes, int64_t edge_features)
    : options_(options),
      dtype_(set.dtype()),
      cache_(options, set.dtype()),
      decoder_(set, options, features, classes) {
  int64_t input_width = features;
  if (options.concat()) {
    const char* names[2] = {"node_gcn", "domain_gcn"};
    for (int k = 0; k < 2; ++k) {
      const std::string name = names[k];
      InputGcn& gcn = input_gcn_[k];
      gcn.first = nn::GcnLayer(set, name + ".first", features, options.hidden);
      gcn.norm = nn::BatchNorm(set, name + ".norm", options.hidden);
      gcn.second = nn::GcnLayer(set, name + ".second", options.hidden, options.hidden);
    }
    input_width = 2 * options.hidden;
  }
  if (options.encoder == "gin") {
    nn::GraphEncoderOptions gin;
    gin.layers = options.gin_layers;
    gin.hidden = options.gin_hidden;
    gin.dropout = options.dropout;
    gin.virtual_node = options.gin_virtual_node;
    graph_encoder_ = nn::make_graph_encoder(set, "encoder.gin", gin, input_width, edge_features);
    input_width = gin.hidden;
  }
  encoder_ = std::make_unique<Encoder>(set, options, input_width);
}

torch::Tensor GrmModel::input_gcn(int which, const DomainView& view, nn::Pass& pass) {
  InputGcn& gcn = input_gcn_[which];
  const nn::Propagation& p = view.propagation;
  torch::Tensor hidden = gcn.first.forward(view.graph.x, p);
  hidden = torch::relu(gcn.norm.forward(hidden, pass));
  return gcn.second.forward(pass.dropout(hidden, options_.dropout), p);
}

DomainEncoding GrmModel::encode_domain(const Graph& graph, nn::Pass& pass) {
  return encode_domain(cache_.whole(graph, options_.concat()), pass);
}

DomainEncoding GrmModel::encode_domain(const DomainView& view, nn::Pass& pass) {
  DomainEncoding domain;
  if (options_.concat()) {
    const torch::Tensor r = input_gcn(0, view, pass);
    const torch::Tensor q = view.influence->mean(input_gcn(1, view, pass));
    domain.input.dense = torch::cat({r, q}, 1);
  } else {
    domain.input.features = view.graph.x;
  }
  if (graph_encoder_) {
    nn::GraphInput input;
    input.edges = view.graph.edges;
    input.node_offsets = view.graph.parts;
    input.x = domain.input.features;
    input.rows = domain.input.dense;
    input.edge_x = view.graph.edge_x;
    input.edge_weights = view.graph.edge_weights;
    domain.transformed = graph_encoder_->forward(input, pass);
  } else {
    domain.transformed = encoder_->transform(domain.input);
  }
  if (encoder_->local()) domain.local = encoder_->posterior(domain.transformed, {}, pass);
  return domain;
}

PreparedBatch GrmModel::prepare(GraphBatch batch) {
  PreparedBatch g;
  if (!encoder_->local()) {
    g.propagation = options_.scope == "whole"
                        ? cache_.propagation(batch.edges)
                        : nn::make_propagation(options_.conv, batch.edges, {}, dtype_);
  }
  g.batch = std::move(batch);
  return g;
}

PreparedBatch GrmModel::prepare(const Graph& set, const torch::Tensor& ids, bool for_loss) {
  PreparedBatch g;
  g.batch = pick_graphs(set, ids);
  g.own = cache_.pick(set, ids, g.batch, for_loss || options_.concat());
  g.propagation = g.own->propagation;
  g.pairs = options_.edge_support == "all" ? all_pairs(g.batch) : cache_.pick_self_paired(set, ids);
  return g;
}

Posterior GrmModel::posterior(const DomainEncoding& domain, const PreparedBatch& g,
                              const nn::Pass& pass) {
  const bool same = same_rows(g);
  const auto rows = [&](const torch::Tensor& x) {
    return same ? x : ops::gather_rows(x, g.batch.nodes);
  };
  if (domain.local) return {rows(domain.local->mu), rows(domain.local->log_sigma)};
  return encoder_->posterior(rows(domain.transformed), g.propagation, pass);
}

torch::Tensor GrmModel::sample(const Posterior& q, const torch::Tensor& eps) {
  return eps.defined() ? q.mu + torch::exp(q.log_sigma) * eps : q.mu;
}

GeneratedEdges GrmModel::generate(const PreparedBatch& g, const torch::Tensor& z) {
  AdjacencyPtr pairs = g.pairs;
  if (pairs) return decoder_.edges(z, pairs);
  if (options_.edge_support == "all") {
    pairs = all_pairs(g.batch);
  } else if (options_.scope == "whole") {
    pairs = cache_.self_paired(g.batch.edges);
  } else {
    pairs = with_self_loops(*g.batch.edges);
  }
  return decoder_.edges(z, pairs);
}

torch::Tensor GrmModel::observed_weights(const PreparedBatch& g, const torch::Tensor& z) const {
  return decoder_.edges(z, g.batch.edges).weights;
}

torch::Tensor GrmModel::classify(const PreparedBatch& g, const torch::Tensor& z,
                                 const GeneratedEdges& edges, nn::Pass& pass) {
  const torch::Tensor logits = decoder_.classify(z, edges, pass);
  if (options_.scope == "whole") return logits;
  if (g.own || options_.readout == "mean") return ops::segment_mean(g.batch.node_offsets, logits);
  return ops::gather_rows(logits, g.batch.node_offsets.narrow(0, 0, g.batch.graphs));
}

torch::Tensor GrmModel::domain_representation(const DomainView& view, const DomainEncoding& domain,
                                              const PreparedBatch& g, const Posterior& q,
                                              const nn::Pass& pass) {
  const InfluencePool& pool = *view.influence;
  if (options_.domain_encoding == "exact" && !encoder_->local()) {
    // One subgraph per distinct node of the batch, each encoded on its own edges.
    const torch::Tensor nodes =
        g.own ? torch::arange(g.batch.rows(), torch::kInt64) : g.batch.nodes;
    const auto [distinct, slot] = at::_unique(nodes, /*sorted=*/true, /*inverse=*/true);
    const AdjacencyPtr members = pool.sets().rows(distinct);
    const GraphBatch subgraphs = induced_batch(*view.graph.edges, members->in);
    const nn::Propagation p = nn::make_propagation(options_.conv, subgraphs.edges, {}, dtype_);
    const torch::Tensor rows = ops::gather_rows(domain.transformed, subgraphs.nodes);
    const torch::Tensor mu = encoder_->posterior(rows, p, pass).mu;
    return ops::gather_rows(ops::segment_mean(subgraphs.node_offsets, mu), slot);
  }
  // Without propagation both encodings agree: mu of a node does not depend on its subgraph.
  torch::Tensor mu;
  if (g.own) {
    mu = q.mu;  // the encoder's pass over the domain is the one over the batch
  } else if (domain.local) {
    mu = domain.local->mu;
  } else {
    mu = encoder_->posterior(domain.transformed, view.propagation, pass).mu;
  }
  const torch::Tensor h = pool.mean(mu);
  return same_rows(g) ? h : ops::gather_rows(h, g.batch.nodes);
}

GrmTerms GrmModel::losses(const Graph& graph, const PreparedBatch& g, const torch::Tensor& eps,
                          LossKind loss, const torch::Tensor& items, const torch::Tensor& y,
                          nn::Pass& pass) {
  return losses(cache_.whole(graph, true), g, eps, loss, items, y, pass);
}

GrmTerms GrmModel::losses(const PreparedBatch& g, const torch::Tensor& eps, LossKind loss,
                          const torch::Tensor& y, nn::Pass& pass) {
  return losses(*g.own, g, eps, loss, {}, y, pass);
}

GrmTerms GrmModel::losses(const DomainView& view, const PreparedBatch& g, const torch::Tensor& eps,
                          LossKind loss, const torch::Tensor& items, const torch::Tensor& y,
                          nn::Pass& pass) {
  const DomainEncoding domain = encode_domain(view, pass);
  const Posterior q = posterior(domain, g, pass);
  const torch::Tensor z = sample(q, eps);
  const GeneratedEdges edges = generate(g, z);
  const torch::Tensor logits = classify(g, z, edges, pass);
  GrmTerms terms;
  terms.supervision =
      nn::supervised_loss(loss, items.defined() ? logits.index_select(0, items) : logits, y);
  terms.latent_kl = latent_kl(g.batch, q, options_);
  terms.edge_kl = edge_kl(g.batch, edges, options_);
  terms.invariance = invariance_loss(g.batch, domain_representation(view, domain, g, q, pass), z);
  return terms;
}

}  // namespace grm
