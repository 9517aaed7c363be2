// What GRM takes from the domain graph around a batch: h_i of Section 3.3, from V_i^D of the whole
// graph or, on graphs that no step may touch as a whole, from what lies around the nodes.
#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "grm/core/error.h"
#include "methods/grm/model.h"
#include "nn/backbones.h"
#include "ops/sparse.h"

namespace grm {
namespace {

InvarianceRows sets_around(const LocalInfluence& around, const torch::Tensor& nodes) {
  InvarianceRows which;
  torch::Tensor distinct;
  std::tie(distinct, which.slot) = at::_unique(nodes, /*sorted=*/true, /*return_inverse=*/true);
  which.sets = around.sets(distinct);
  return which;
}

}  // namespace

torch::Tensor DomainEncoding::rows_of(const torch::Tensor& ids) const {
  return nodes.defined() ? torch::searchsorted(nodes, ids) : ids;
}

void GrmModel::choose_invariance_rows(const Graph& graph, PreparedBatch& g, Stream draws) {
  const Stage stage("sample");
  const bool local = uses_local_influence(options_, graph.nodes());
  if (!local && options_.invariance_nodes == 0) return;
  ensure(!g.own && options_.scope == Scope::ego, "choose_invariance_rows: not a batch of ego-nets");
  const int64_t* first = g.batch.node_offsets.data_ptr<int64_t>();
  std::vector<int64_t> rows, offsets = {0};
  for (int64_t b = 0; b < g.batch.graphs; ++b) {
    const int64_t size = first[b + 1] - first[b];
    const int64_t count = options_.invariance_nodes > 0 ? options_.invariance_nodes : size;
    std::vector<int64_t> chosen = Stream(mix64(draws.key(), b)).choose(size, count);
    std::sort(chosen.begin(), chosen.end());
    for (const int64_t row : chosen) rows.push_back(first[b] + row);
    offsets.push_back(static_cast<int64_t>(rows.size()));
  }
  const torch::Tensor picked = torch::tensor(rows, torch::kInt64);
  InvarianceRows which;
  if (local) which = sets_around(*cache_.part(graph).around, g.batch.nodes.index_select(0, picked));
  which.rows = picked;
  which.offsets = torch::tensor(offsets, torch::kInt64);
  g.invariance = std::move(which);
}

DomainEncoding GrmModel::encode_part(const DomainView& view, const PreparedBatch& g,
                                     nn::Pass& pass) {
  const Stage stage("encode");
  ensure(g.invariance.has_value(), "encode_part: the rows of L_d are not chosen");
  const torch::Tensor members = g.invariance->sets.indices.to(torch::kInt64);
  const DomainEncoding domain =
      encode_rows(view.graph.x, torch::cat({g.batch.nodes, members}), pass);
  note_size("local nodes", static_cast<double>(domain.nodes.numel()));
  note_size("influence members", static_cast<double>(members.numel()));
  return domain;
}

DomainEncoding GrmModel::encode_rows(const Graph& graph, const GraphBatch& batch, nn::Pass& pass) {
  const Stage stage("encode");
  return encode_rows(cache_.features(graph), batch.nodes, pass);
}

DomainEncoding GrmModel::encode_rows(const Features& x, const torch::Tensor& nodes,
                                     nn::Pass& pass) {
  DomainEncoding domain;
  domain.nodes = std::get<0>(at::_unique(nodes));
  domain.input.features =
      nn::drop_features(pick_rows(x, domain.nodes), options_.input_dropout, pass, device_);
  domain.transformed = encoder_->transform(domain.input);
  if (encoder_->local()) domain.local = encoder_->posterior(domain.transformed, {}, pass);
  return domain;
}

GrmModel::DomainRows GrmModel::local_rows(const DomainView& view, const DomainEncoding& domain,
                                          const InvarianceRows& which, const nn::Pass& pass) {
  torch::Tensor mu;
  if (domain.local) {
    const torch::Tensor members = domain.rows_of(which.sets.indices.to(torch::kInt64));
    mu = ops::gather_rows(domain.local->mu(), members);
  } else {  // each V_i^D is encoded on its own edges
    const GraphBatch subgraphs = induced_batch(*view.graph.edges, which.sets);
    note_size("local edges", static_cast<double>(subgraphs.edges->nnz()));
    const nn::Propagation p =
        nn::make_propagation(options_.conv, subgraphs.edges, {}, dtype_, device_);
    const torch::Tensor rows =
        ops::gather_rows(domain.transformed, domain.rows_of(subgraphs.nodes));
    mu = encoder_->posterior_mean(rows, p, pass);
  }
  return {ops::segment_mean(which.sets.offsets, mu), which.slot};
}

torch::Tensor GrmModel::domain_representation(const DomainView& view, const DomainEncoding& domain,
                                              const PreparedBatch& g, const Posterior& q,
                                              const nn::Pass& pass) {
  const DomainRows rows = domain_rows(view, domain, g, q, pass);
  return rows.index.defined() ? ops::gather_rows(rows.h, rows.index) : rows.h;
}

GrmModel::DomainRows GrmModel::domain_rows(const DomainView& view, const DomainEncoding& domain,
                                           const PreparedBatch& g, const Posterior& q,
                                           const nn::Pass& pass) {
  if (view.around) {
    return local_rows(view, domain,
                      g.invariance ? *g.invariance : sets_around(*view.around, g.batch.nodes),
                      pass);
  }
  const DomainRows rows = rows_of_all(view, domain, g, q, pass);
  if (!g.invariance) return rows;
  const torch::Tensor& some = g.invariance->rows;
  return {rows.h, rows.index.defined() ? select_rows(rows.index, some) : some};
}

GrmModel::DomainRows GrmModel::rows_of_all(const DomainView& view, const DomainEncoding& domain,
                                           const PreparedBatch& g, const Posterior& q,
                                           const nn::Pass& pass) {
  const InfluencePool& pool = *view.influence;
  if (options_.domain_encoding == DomainPass::exact && !encoder_->local()) {
    // One subgraph per distinct node of the batch, each encoded on its own edges.
    const torch::Tensor nodes =
        g.own ? torch::arange(g.batch.rows(), torch::kInt64) : g.batch.nodes;
    const auto [distinct, slot] = at::_unique(nodes, /*sorted=*/true, /*inverse=*/true);
    const AdjacencyPtr members = pool.sets().rows(distinct);
    const GraphBatch subgraphs = induced_batch(*view.graph.edges, members->in);
    const nn::Propagation p =
        nn::make_propagation(options_.conv, subgraphs.edges, {}, dtype_, device_);
    const torch::Tensor rows = ops::gather_rows(domain.transformed, subgraphs.nodes);
    const torch::Tensor mu = encoder_->posterior_mean(rows, p, pass);
    return {ops::segment_mean(subgraphs.node_offsets, mu), slot};
  }
  // Without propagation both encodings agree: mu of a node does not depend on its subgraph.
  torch::Tensor mu;
  if (g.own) {
    mu = q.mu();  // the encoder's pass over the domain is the one over the batch
  } else if (domain.local) {
    mu = domain.local->mu();
  } else {
    mu = encoder_->posterior_mean(domain.transformed, view.propagation, pass);
  }
  return {pool.mean(mu), same_rows(g) ? torch::Tensor() : g.batch.nodes};
}

}  // namespace grm
