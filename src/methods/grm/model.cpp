#include "methods/grm/model.h"

#include <torch/types.h>

#include "core/stages.h"
#include "grm/graph/device.h"
#include "nn/activation.h"
#include "nn/backbones.h"
#include "nn/losses.h"
#include "nn/own_network.h"
#include "ops/latent.h"
#include "ops/sparse.h"

namespace grm {

GrmModel::GrmModel(nn::ParameterSet& set, const GrmOptions& options, int64_t features,
                   int64_t classes, int64_t edge_features)
    : options_(options),
      dtype_(set.dtype()),
      device_(set.device()),
      cache_(options, set.dtype(), set.device()),
      decoder_(set, options, features, classes) {
  int64_t input_width = features;
  if (options.concat()) {
    const char* names[2] = {"node_gcn", "domain_gcn"};
    for (int k = 0; k < 2; ++k) {
      const std::string name = names[k];
      InputGcn& gcn = input_gcn_[k];
      gcn.first = nn::GcnLayer(set, name + ".first", features, options.hidden);
      if (options.batch_norm) gcn.norm = nn::BatchNorm(set, name + ".norm", options.hidden);
      gcn.second = nn::GcnLayer(set, name + ".second", options.hidden, options.hidden);
    }
    input_width = 2 * options.hidden;
  }
  if (options.encoder == EncoderKind::gin) {
    graph_encoder_ =
        nn::make_graph_encoder(set, "encoder.gin", options.gin(), input_width, edge_features);
    input_width = options.gin_hidden;
  }
  if (options.own_encoder()) {
    own_encoder_ = nn::make_own_network(set, "encoder.own", input_width, options.hidden);
    input_width = options.hidden;
  }
  encoder_ = std::make_unique<Encoder>(set, options, input_width);
}

torch::Tensor GrmModel::input_gcn(int which, const Features& x, const nn::Propagation& p,
                                  nn::Pass& pass, const torch::Tensor& counted) {
  InputGcn& gcn = input_gcn_[which];
  const torch::Tensor first = p.apply(ops::feature_linear(x, gcn.first.weight));
  const torch::Tensor hidden =
      nn::norm_relu_dropout(gcn.norm, first, gcn.first.bias, options_.dropout, pass, counted);
  return gcn.second.forward(hidden, p);
}

DomainEncoding GrmModel::encode_domain(const Graph& graph, nn::Pass& pass) {
  return encode_domain(cache_.whole(graph, options_.concat()), pass);
}

DomainEncoding GrmModel::encode_domain(const DomainView& view, nn::Pass& pass) {
  const Stage stage("encode");
  DomainEncoding domain;
  const Features x = nn::drop_features(view.graph.x, options_.input_dropout, pass, device_);
  if (options_.concat()) {
    const auto gcn = [&](int which) {
      return input_gcn(which, x, view.propagation, pass, view.counted);
    };
    domain.input.node = gcn(0);
    domain.input.domain = view.influence->mean(gcn(1));
  } else {
    domain.input.features = x;
  }
  if (graph_encoder_) {
    nn::GraphInput input;
    input.edges = view.graph.edges;
    input.node_offsets = view.graph.parts;
    input.x = domain.input.features;
    if (options_.concat()) input.rows = torch::cat({domain.input.node, domain.input.domain}, 1);
    input.edge_x = view.graph.edge_x;
    input.edge_weights = view.graph.edge_weights;
    input.counted = view.counted;
    input.graph_of_node = view.graph_of_node;
    domain.transformed = graph_encoder_->forward(input, pass);
  } else if (own_encoder_) {
    nn::BackboneInput input = nn::input_of(view.graph);
    input.x = domain.input.features;
    if (options_.concat()) input.x.dense = torch::cat({domain.input.node, domain.input.domain}, 1);
    if (view.graph.level() == Level::graph) {
      input.graph_of_node = nn::graph_of_row(view.graph.parts, input.x.rows());
    }
    domain.transformed = own_encoder_->forward(input, pass).logits;
  } else {
    domain.transformed = encoder_->transform(domain.input);
  }
  if (encoder_->local()) {
    domain.local = encoder_->posterior(domain.transformed, {}, pass, view.counted);
  }
  return domain;
}

PreparedBatch GrmModel::prepare(GraphBatch batch) {
  const Stage stage("batch");
  PreparedBatch g;
  if (!encoder_->local()) {
    g.propagation = options_.scope == Scope::whole
                        ? cache_.propagation(batch.edges)
                        : nn::make_propagation(options_.conv, batch.edges, {}, dtype_, device_);
  }
  if (options_.edge_support == EdgeSupport::all)
    g.graphs = ops::generated_tiles(batch.node_offsets);
  g.batch = std::move(batch);
  return g;
}

PreparedBatch GrmModel::prepare(const DeviceNets& nets) {
  const Stage stage("batch");
  PreparedBatch g;
  g.batch = nets.batch();
  const bool loops = options_.conv == nn::Conv::kipf;
  if (!encoder_->local()) {
    g.propagation.pattern = nets.pattern(loops, dtype_, loops ? &g.propagation.weights : nullptr);
  }
  g.graphs = {g.batch.node_offsets, g.batch.graphs, g.batch.most};
  if (options_.edge_support == EdgeSupport::observed) {
    g.pairs = loops && g.propagation.pattern ? g.propagation.pattern : nets.pattern(true, dtype_);
  }
  return g;
}

PreparedBatch GrmModel::prepare(const Graph& set, const torch::Tensor& ids, bool for_loss) {
  const Stage stage("batch");
  PreparedBatch g;
  g.batch = pick_graphs(set, ids);
  g.own = cache_.pick(set, ids, g.batch, for_loss || options_.concat());
  g.propagation = g.own->propagation;
  if (options_.edge_support == EdgeSupport::all) {
    g.graphs = ops::generated_tiles(g.batch.node_offsets);
  } else {
    g.pairs = cache_.pick_self_paired(set, ids);
  }
  return g;
}

PreparedBatch GrmModel::prepare_padded(const Graph& set, const torch::Tensor& ids, int64_t room) {
  const Stage stage("batch");
  const PaddedSet& whole = *cache_.padded(set);
  const int64_t graphs = ids.numel();
  const PaddedGraphs picked(on_device(set.parts, device_), ids, whole.rooms.rows(graphs, room));
  size_t next = 0;
  const auto pick = [&](const AdjacencyPtr& pattern, torch::Tensor* edge_ids = nullptr) {
    return picked.pattern(pattern->on(device_), whole.rooms.entries(next++, graphs, room),
                          edge_ids);
  };
  PreparedBatch g;
  g.batch = picked.batch();
  DomainView view;
  g.batch.edges = pick(whole.edges, &g.batch.edge_ids);
  view.graph.name = set.name;
  view.graph.edges = g.batch.edges;
  view.graph.parts = g.batch.node_offsets;
  view.graph.x = pick_dense_rows(set.x, g.batch.nodes);
  view.counted = g.batch.counted;
  view.graph_of_node = g.batch.graph_of_node;
  if (options_.encoder == EncoderKind::gin) {
    if (set.edge_x.width() > 0) view.graph.edge_x = pick_dense_rows(set.edge_x, g.batch.edge_ids);
    if (set.edge_weights.defined()) {
      view.graph.edge_weights =
          on_device(set.edge_weights, device_).index_select(0, g.batch.edge_ids);
    }
  }
  if (whole.propagation) {
    torch::Tensor ids_there;
    view.propagation.pattern = pick(whole.propagation, &ids_there);
    if (whole.propagation_weights.defined()) {
      view.propagation.weights = whole.propagation_weights.index_select(0, ids_there);
    }
  }
  if (whole.pairs) {
    g.pairs = pick(whole.pairs);
  } else {
    g.graphs = {g.batch.node_offsets, graphs, whole.rooms.most_nodes()};
  }
  view.influence = std::make_shared<InfluencePool>(pick(whole.influence), dtype_, device_);
  g.propagation = view.propagation;
  g.own = std::move(view);
  return g;
}

Posterior GrmModel::posterior(const DomainEncoding& domain, const PreparedBatch& g,
                              const nn::Pass& pass) {
  const Stage stage("encode");
  const bool same = same_rows(g);
  const torch::Tensor ids = same ? torch::Tensor() : domain.rows_of(g.batch.nodes);
  const auto rows = [&](const torch::Tensor& x) { return same ? x : ops::gather_rows(x, ids); };
  if (domain.local) return {rows(domain.local->heads), domain.local->log_sigma_bias};
  return encoder_->posterior(rows(domain.transformed), g.propagation, pass, g.batch.counted);
}

torch::Tensor GrmModel::sample(const Posterior& q, const torch::Tensor& eps) {
  return ops::latent_sample(q.heads, q.log_sigma_bias, eps).z;
}

GeneratedEdges GrmModel::generate(const PreparedBatch& g, const torch::Tensor& z) {
  const Stage stage("generate");
  AdjacencyPtr pairs = g.pairs;
  if (pairs) return decoder_.edges(z, pairs);
  if (options_.edge_support == EdgeSupport::all) {
    pairs = all_pairs(g.batch);
  } else if (options_.scope == Scope::whole) {
    pairs = cache_.self_paired(g.batch.edges);
  } else {
    pairs = with_self_loops(*g.batch.edges);
  }
  return decoder_.edges(z, pairs);
}

torch::Tensor GrmModel::observed_weights(const PreparedBatch& g, const torch::Tensor& z) const {
  return decoder_.edges(z, g.batch.edges).weights;
}

torch::Tensor GrmModel::observed_scores(const PreparedBatch& g, const torch::Tensor& z) const {
  const torch::Tensor p = generated_nodes(z).presence;
  if (!p.defined()) return observed_weights(g, z);
  const auto [source, target] = edge_list(*g.batch.edges);
  return select_rows(p, source) * select_rows(p, target);
}

torch::Tensor GrmModel::pooled(const torch::Tensor& offsets, const GeneratedNodes& nodes,
                               const torch::Tensor& logits) const {
  // Without presence (an ablation) every node weighs the same.
  const bool weighted = options_.pooling == nn::Pooling::weighted;
  if (weighted && !nodes.presence.defined()) return ops::segment_mean(offsets, logits);
  return nn::pool(options_.pooling, offsets, logits, nodes.presence);
}

Classified GrmModel::classify(const PreparedBatch& g, const torch::Tensor& z, bool with_kl,
                              nn::Pass& pass) {
  const Stage stage("classify");
  Classified result;
  const GeneratedNodes nodes = generated_nodes(z);
  if (options_.own_classifier()) {
    const GeneratedEdges edges = generate(g, z);
    result.logits = decoder_.classify_own(z, g.batch, edges, nodes, pass);
    if (with_kl) result.edge_kl = edge_kl(g.batch, edges, options_);
  } else if (options_.edge_support == EdgeSupport::all) {
    result = decoder_.classify_all_pairs(z, g.graphs, nodes, with_kl, pass, g.batch.counted);
  } else {
    const GeneratedEdges edges = generate(g, z);
    result.logits = decoder_.classify(z, edges, nodes, pass, g.batch.counted);
    if (with_kl) result.edge_kl = edge_kl(g.batch, edges, options_);
  }
  result.nodes = nodes;
  if (options_.scope == Scope::whole) return result;
  if (g.own) {
    result.logits = pooled(g.batch.node_offsets, nodes, result.logits);
  } else if (options_.readout == Readout::mean) {
    result.logits = ops::segment_mean(g.batch.node_offsets, result.logits);
  } else {
    const torch::Tensor centres = g.batch.node_offsets.narrow(0, 0, g.batch.graphs);
    result.logits = ops::gather_rows(result.logits, centres);
  }
  return result;
}

GrmTerms GrmModel::losses(const Graph& graph, const PreparedBatch& g, const torch::Tensor& eps,
                          const TrainLoss& loss, const torch::Tensor& items, const torch::Tensor& y,
                          nn::Pass& pass) {
  const bool part = uses_local_influence(options_, graph.nodes());
  return losses(part ? cache_.part(graph) : cache_.whole(graph, true), g, eps, loss, items, y,
                pass);
}

GrmTerms GrmModel::losses(const PreparedBatch& g, const torch::Tensor& eps, const TrainLoss& loss,
                          const torch::Tensor& y, nn::Pass& pass) {
  return losses(*g.own, g, eps, loss, {}, y, pass);
}

GrmTerms GrmModel::losses(const DomainView& view, const PreparedBatch& g, const torch::Tensor& eps,
                          const TrainLoss& loss, const torch::Tensor& items, const torch::Tensor& y,
                          nn::Pass& pass) {
  const Stage stage("losses");
  const DomainEncoding domain =
      view.around ? encode_part(view, g, pass) : encode_domain(view, pass);
  const Posterior q = posterior(domain, g, pass);
  const auto [z, per_node_kl] = ops::latent_sample(q.heads, q.log_sigma_bias, eps);
  const Classified out = classify(g, z, /*with_kl=*/true, pass);
  GrmTerms terms;
  terms.supervision = nn::supervised_loss(
      loss, items.defined() ? ops::gather_rows(out.logits, items) : out.logits, y);
  terms.latent_kl = latent_kl(g.batch, per_node_kl, options_);
  terms.edge_kl = out.edge_kl.mean();
  if (out.nodes.kl.defined()) terms.presence_kl = presence_kl(g.batch, out.nodes.kl);
  const DomainRows rows = domain_rows(view, domain, g, q, pass);
  terms.invariance = g.invariance
                         ? invariance_loss(g.invariance->offsets, rows.h,
                                           ops::gather_rows(z, g.invariance->rows), rows.index)
                         : invariance_loss(g.batch.node_offsets, rows.h, z, rows.index);
  return terms;
}

}  // namespace grm
