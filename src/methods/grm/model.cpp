#include "grm/methods/grm/model.h"

#include <torch/types.h>

#include "grm/nn/losses.h"
#include "grm/ops/sparse.h"

namespace grm {

GrmModel::GrmModel(nn::ParameterSet& set, const GrmOptions& options, int64_t features,
                   int64_t classes)
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
  encoder_ = std::make_unique<Encoder>(set, options, input_width);
}

torch::Tensor GrmModel::input_gcn(int which, const Graph& graph, nn::Pass& pass) {
  InputGcn& gcn = input_gcn_[which];
  const nn::Propagation p = cache_.propagation(graph.edges);
  torch::Tensor hidden = gcn.first.forward(cache_.features(graph), p);
  hidden = torch::relu(gcn.norm.forward(hidden, pass));
  return gcn.second.forward(pass.dropout(hidden, options_.dropout), p);
}

DomainEncoding GrmModel::encode_domain(const Graph& graph, nn::Pass& pass) {
  DomainEncoding domain;
  if (options_.concat()) {
    const torch::Tensor r = input_gcn(0, graph, pass);
    const torch::Tensor q = cache_.influence(graph.edges).mean(input_gcn(1, graph, pass));
    domain.input.dense = torch::cat({r, q}, 1);
  } else {
    domain.input.features = cache_.features(graph);
  }
  domain.transformed = encoder_->transform(domain.input);
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

Posterior GrmModel::posterior(const DomainEncoding& domain, const PreparedBatch& g,
                              const nn::Pass& pass) {
  const bool whole = options_.scope == "whole";
  const auto rows = [&](const torch::Tensor& x) {
    return whole ? x : ops::gather_rows(x, g.batch.nodes);
  };
  if (domain.local) return {rows(domain.local->mu), rows(domain.local->log_sigma)};
  return encoder_->posterior(rows(domain.transformed), g.propagation, pass);
}

torch::Tensor GrmModel::sample(const Posterior& q, const torch::Tensor& eps) {
  return eps.defined() ? q.mu + torch::exp(q.log_sigma) * eps : q.mu;
}

GeneratedEdges GrmModel::generate(const PreparedBatch& g, const torch::Tensor& z) {
  AdjacencyPtr pairs;
  if (options_.edge_support == "all") {
    pairs = all_pairs(g.batch);
  } else if (options_.scope == "whole") {
    pairs = cache_.self_paired(g.batch.edges);
  } else {
    pairs = with_self_loops(*g.batch.edges);
  }
  return decoder_.edges(z, pairs);
}

torch::Tensor GrmModel::classify(const PreparedBatch& g, const torch::Tensor& z,
                                 const GeneratedEdges& edges, nn::Pass& pass) {
  const torch::Tensor logits = decoder_.classify(z, edges, pass);
  if (options_.scope == "whole") return logits;
  if (options_.readout == "mean") return ops::segment_mean(g.batch.node_offsets, logits);
  return ops::gather_rows(logits, g.batch.node_offsets.narrow(0, 0, g.batch.graphs));
}

torch::Tensor GrmModel::domain_representation(const Graph& graph, const DomainEncoding& domain,
                                              const PreparedBatch& g, const nn::Pass& pass) {
  const InfluencePool& pool = cache_.influence(graph.edges);
  if (options_.domain_encoding == "exact" && !encoder_->local()) {
    // One subgraph per distinct node of the batch, each encoded on its own edges.
    const auto [distinct, slot] = at::_unique(g.batch.nodes, /*sorted=*/true, /*inverse=*/true);
    const AdjacencyPtr members = pool.sets().rows(distinct);
    const GraphBatch subgraphs = induced_batch(*graph.edges, members->in);
    const nn::Propagation p = nn::make_propagation(options_.conv, subgraphs.edges, {}, dtype_);
    const torch::Tensor rows = ops::gather_rows(domain.transformed, subgraphs.nodes);
    const torch::Tensor mu = encoder_->posterior(rows, p, pass).mu;
    return ops::gather_rows(ops::segment_mean(subgraphs.node_offsets, mu), slot);
  }
  // Without propagation both encodings agree: mu of a node does not depend on its subgraph.
  const torch::Tensor mu =
      domain.local
          ? domain.local->mu
          : encoder_->posterior(domain.transformed, cache_.propagation(graph.edges), pass).mu;
  const torch::Tensor h = pool.mean(mu);
  return options_.scope == "whole" ? h : ops::gather_rows(h, g.batch.nodes);
}

GrmTerms GrmModel::losses(const Graph& graph, const PreparedBatch& g, const torch::Tensor& eps,
                          LossKind loss, const torch::Tensor& items, const torch::Tensor& y,
                          nn::Pass& pass) {
  const DomainEncoding domain = encode_domain(graph, pass);
  const Posterior q = posterior(domain, g, pass);
  const torch::Tensor z = sample(q, eps);
  const GeneratedEdges edges = generate(g, z);
  const torch::Tensor logits = classify(g, z, edges, pass);
  GrmTerms terms;
  terms.supervision =
      nn::supervised_loss(loss, items.defined() ? logits.index_select(0, items) : logits, y);
  terms.latent_kl = latent_kl(g.batch, q, options_);
  terms.edge_kl = edge_kl(g.batch, edges, options_);
  terms.invariance = invariance_loss(g.batch, domain_representation(graph, domain, g, pass), z);
  return terms;
}

}  // namespace grm
