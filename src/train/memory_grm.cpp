// Memory of GRM at node level and of the methods on sets of graphs.
#include <torch/types.h>

#include "grm/core/threads.h"
#include "grm/graph/influence.h"
#include "grm/methods/grm/domain.h"
#include "memory_parts.h"

namespace grm::memory {
namespace {

constexpr double kKeptRows = 2000000;            // ego-net nodes kept between evaluations (grm.cpp)
constexpr double kEvaluationBatch = 512;         // ego-nets evaluated at a time (grm.cpp)
constexpr double kEvaluatedGraphs = 256;         // graphs evaluated at a time
constexpr double kPairBytes = 16 + 10 * kFloat;  // a generated pair outside of tiles

double influence(const GrmOptions& o, const Adjacency& edges, Measures& measures) {
  const auto n = static_cast<double>(edges.rows());
  const auto pairs = static_cast<double>(edges.nnz());
  constexpr double kMember = 16 + kFloat;  // a pair of the pattern and its weight
  if (uses_local_influence(o, edges.rows())) {
    // Undirected neighbour lists, and the work space of every thread.
    return 4 * pairs + 8 * n + 24 * n * threads();
  }
  const double members = measures.members(edges, o);
  if (!uses_exact_influence(o, edges.rows())) {
    return n * std::min(members, static_cast<double>(o.influence_members)) * kMember;
  }
  const double computing = exact_influence_bytes(edges.rows());
  const double bits = n * n / 8;
  const double kept = members * 4 < n ? n * members * kMember : n * n * kFloat;
  return std::max(computing, bits + kept);
}

bool propagating(const GrmOptions& o) {
  return !o.local_encoder();
}

// Floats per node of a domain graph that wait for the backward pass of a step.
double domain_floats(const GrmOptions& o) {
  const auto h = static_cast<double>(o.hidden), l = static_cast<double>(o.latent);
  const double dropped = o.dropout > 0 ? 2 : 0;
  double floats = 2 * l;                                         // the first map
  if (o.concat()) floats += 2 * h * (3 + dropped) + 3 * h;       // both GCNs, the mean, u
  floats += 2 * l * (o.encoder == EncoderKind::linear ? 1 : 3);  // its activation, heads, log sigma
  return floats + l + 2 * 2 * l;                                 // h, and gradients in passing
}

// The same per row of a batch; `gathered`: the rows are copies of those of the domain graph.
double row_floats(const GrmOptions& o, bool gathered) {
  const auto h = static_cast<double>(o.hidden), l = static_cast<double>(o.latent);
  const double dropped = o.dropout > 0 ? 2 : 0;
  double floats = 0;
  if (propagating(o)) {
    floats += 4 * 2 * l;  // rows, activation, heads, log sigma
  } else if (gathered) {
    floats += 2 * l;
  }
  floats += 6 * l + static_cast<double>(o.edge_width) + h * (3 + dropped);  // z, f_e, classifier
  return floats + 4 * l;                                                    // gradients in passing
}

}  // namespace

void grm_parts(Parts& parts, const GrmOptions& o, const Task& task, Measures& measures) {
  const bool whole = o.scope == Scope::whole;
  const bool tiles = o.edge_support == EdgeSupport::all && !whole;
  const auto classes = static_cast<double>(task.classes);
  double training = 0, evaluation = 0, nets = 0;
  for (const Domain& domain : task.training) {
    const GraphShape g = shape_of(domain.graph);
    BatchShape batch = {1, g.nodes, g.edges, 0, 0};
    const auto targets = static_cast<double>(std::min(o.batch, domain.labels.loss.numel()));
    if (!whole) batch = measures.ego(domain, o.fanout, false) * targets;
    double nodes = g.nodes, sets = 0;
    if (uses_local_influence(o, domain.graph.nodes())) {
      const auto most = static_cast<double>(o.invariance_nodes);
      const double rows = most > 0 ? std::min(batch.rows, targets * most) : batch.rows;
      sets = std::min(rows, g.nodes) * measures.local_members(*domain.graph.edges, o);
      nodes = std::min(g.nodes, batch.rows + sets);
    }
    const double pairs = tiles ? 0 : batch.edges + batch.rows;
    const double topology = whole ? 0 : 36 * batch.edges + 84 * batch.rows + 120 * sets;
    training = std::max(training, kFloat * (domain_floats(o) * (nodes + sets) +
                                            row_floats(o, !whole) * batch.rows) +
                                      kPairBytes * pairs + topology);
  }
  double kept_rows = 0;
  for (const Role role : {Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      const GraphShape g = shape_of(domain.graph);
      const auto count = static_cast<double>(domain.labels.evaluate.numel());
      BatchShape net = {1, 0, 0, 0, 0};
      double rows = g.nodes, pairs = g.edges + g.nodes;
      if (!whole) {
        net = measures.ego(domain, o.fanout, true);
        rows = std::min(count, kEvaluationBatch) * net.rows;
        pairs = tiles ? 0 : std::min(count, kEvaluationBatch) * (net.edges + net.rows);
      }
      // Without gradients about half as much waits.
      evaluation = std::max(
          evaluation, kFloat * 0.5 * (domain_floats(o) * g.nodes + row_floats(o, !whole) * rows) +
                          kPairBytes * pairs);
      const double keeps = std::max(0.0, std::min(count * net.rows, kKeptRows - kept_rows));
      kept_rows += keeps;
      if (net.rows > 0) nets += keeps * (84 + 36 * net.edges / net.rows);
    }
  }
  parts.topology("influence", over_topologies(task, o.concat(), [&](const Domain& domain) {
                   return influence(o, *domain.graph.edges, measures);
                 }));
  if (o.propagates()) {
    parts.topology("operators", over_topologies(task, true, [&](const Domain& domain) {
                     const GraphShape g = shape_of(domain.graph);
                     return convolution(o.conv, g.nodes, g.edges);
                   }));
  }
  parts.numbers("activations", std::max(training, evaluation));
  parts.topology("ego-nets for evaluation", nets);
  const auto h = static_cast<double>(o.hidden), l = static_cast<double>(o.latent);
  const auto features = static_cast<double>(task.features());
  const double width = o.decoder_width > 0 ? static_cast<double>(o.decoder_width) : features;
  const double input = o.concat() ? 2 * (features + h) * h + 2 * h * 2 * l : features * 2 * l;
  parts.numbers("model", model(input + 4 * l * l + l * width + width * h +
                               l * static_cast<double>(o.edge_width) + h * classes));
}

// A step sees `batch` graphs of mean size; the extra passes of a method stand as a factor.
void graph_level_parts(Parts& parts, const std::string& method, const OptionValues& o,
                       const Task& task) {
  const GraphShape g = shape_of(task.training.front().graph);
  const double graphs = std::min(o.number("batch", 32), g.items);
  const double share = graphs / std::max(1.0, g.items);
  const double rows = g.nodes * share, edges = g.edges * share;
  const double h = std::max({o.number("hidden", 64), o.number("gin_hidden"), o.number("c_dim")});
  const double layers = o.number("layers", o.number("gin_layers", 3));
  double factor = 2.5;  // an extractor, the causal part and the rest
  if (method == "erm") factor = 1.0;
  if (method == "trivial") factor = 0.1;
  double activations = factor * kFloat * (rows * h * (8 * layers + 8) + edges * (2 * h + 8));
  if (method == "grm") {
    const GrmOptions own = grm_options(o.list(), true);
    activations = kFloat * (domain_floats(own) + row_floats(own, false)) * rows;
    if (own.encoder == EncoderKind::gin) activations += kFloat * rows * h * 8 * layers;
    if (own.edge_support != EdgeSupport::all) activations += kPairBytes * (edges + rows);
    // V_i^D lies inside a graph; most of a small graph is in it.
    parts.topology("influence", 16.0 * g.nodes * g.nodes / std::max(1.0, g.items));
    parts.topology("operators", convolution(own.conv, g.nodes, g.edges));
  }
  if (method == "dir") activations += kFloat * graphs * graphs * static_cast<double>(task.classes);
  const double evaluated = kEvaluatedGraphs / std::max(1.0, graphs) * 0.25 * activations;
  parts.numbers("activations", std::max(activations, evaluated));
  parts.numbers("model", model(factor * (static_cast<double>(task.features()) * h +
                                         layers * 4 * h * h + 4 * h * h)));
}

}  // namespace grm::memory
