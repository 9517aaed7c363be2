// The memory of GRM, at node level and on sets of graphs, and what can be made smaller.
#include <torch/types.h>

#include <algorithm>

#include "graph/influence.h"
#include "grm/core/threads.h"
#include "methods/backbone_cost.h"
#include "methods/grm/cost.h"
#include "methods/grm/domain.h"

namespace grm {
namespace {

using cost::kFloat;
constexpr double kPairBytes = 16 + 10 * kFloat;  // a generated pair outside of tiles

double influence_bytes(const GrmOptions& o, const RunShape& run, const DomainShape& g) {
  constexpr double kMember = 16 + kFloat;  // a pair of the pattern and its weight
  const auto nodes = static_cast<int64_t>(g.nodes);
  const double n = g.nodes;
  if (uses_local_influence(o, nodes)) {
    // Undirected neighbour lists, and the work space of every thread.
    return 4 * g.edges + 8 * n + 24 * n * threads();
  }
  const double members = mean_members(run, g.edges_of, o);
  if (!uses_exact_influence(o, nodes)) {
    return n * std::min(members, static_cast<double>(o.influence_members)) * kMember;
  }
  const double kept = members * 4 < n ? n * members * kMember : n * n * kFloat;
  return std::max(exact_influence_bytes(nodes), n * n / 8 + kept);  // sets are bits first
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
  if (!o.local_encoder()) {
    floats += 4 * 2 * l;  // rows, activation, heads, log sigma
  } else if (gathered) {
    floats += 2 * l;
  }
  floats += 6 * l + static_cast<double>(o.edge_width) + h * (3 + dropped);  // z, f_e, classifier
  if (o.gates()) floats += h + 4;  // what enters the first product before it is gated; p, KL
  return floats + 4 * l;           // gradients in passing
}

// One step on a training domain.
double training_bytes(const GrmOptions& o, const RunShape& run, const DomainShape& g) {
  const bool whole = o.scope == Scope::whole;
  const auto targets = static_cast<double>(std::min(o.batch, g.counted.numel()));
  const BatchShape batch =
      whole ? BatchShape{1, g.nodes, g.edges, 0, 0} : mean_ego(run, g, o.fanout) * targets;
  double nodes = g.nodes, sets = 0;
  if (uses_local_influence(o, static_cast<int64_t>(g.nodes))) {
    const auto most = static_cast<double>(o.invariance_nodes);
    const double rows = most > 0 ? std::min(batch.rows, targets * most) : batch.rows;
    sets = std::min(rows, g.nodes) * mean_local_members(run, g.edges_of, o);
    nodes = std::min(g.nodes, batch.rows + sets);
  }
  // A network of the user's own gets all pairs of an ego-net of mean size.
  const bool tiles = o.edge_support == EdgeSupport::all && !whole && !o.own_classifier();
  const bool all = o.edge_support == EdgeSupport::all && o.own_classifier();
  const double own = batch.rows * batch.rows / std::max(1.0, targets);
  const double pairs = tiles ? 0 : all ? own : batch.edges + batch.rows;
  const double topology = whole ? 0 : 36 * batch.edges + 84 * batch.rows + 120 * sets;
  return kFloat * (domain_floats(o) * (nodes + sets) + row_floats(o, !whole) * batch.rows) +
         kPairBytes * pairs + topology;
}

// A batch of an evaluation; `net` is the mean ego-net of its nodes. Without gradients about half as
// much waits as in training.
double evaluation_bytes(const GrmOptions& o, const DomainShape& g, const BatchShape& net) {
  double rows = g.nodes, pairs = g.edges + g.nodes;
  if (o.scope != Scope::whole) {
    const auto at_once = static_cast<double>(std::min(g.counted.numel(), kEvaluatedNets));
    rows = at_once * net.rows;
    const double all = o.own_classifier() ? at_once * net.rows * net.rows : 0;
    pairs = o.edge_support == EdgeSupport::all ? all : at_once * (net.edges + net.rows);
  }
  return kFloat * 0.5 *
             (domain_floats(o) * g.nodes + row_floats(o, o.scope != Scope::whole) * rows) +
         kPairBytes * pairs;
}

double parameters(const GrmOptions& o, const RunShape& run) {
  const auto h = static_cast<double>(o.hidden), l = static_cast<double>(o.latent);
  const double width = o.decoder_width > 0 ? static_cast<double>(o.decoder_width) : run.features;
  const double input =
      o.concat() ? 2 * (run.features + h) * h + 2 * h * 2 * l : run.features * 2 * l;
  return input + 4 * l * l + l * width + width * h + l * static_cast<double>(o.edge_width) +
         h * run.classes;
}

Saving smaller_widths(const GrmOptions& o) {
  Saving all;
  for (const int64_t width : {64, 32, 16}) {
    const std::string text = std::to_string(width);
    if (o.latent > width) all.push_back({{"hidden", text}, {"latent", text}});
  }
  return all;
}

}  // namespace

std::optional<MemoryUses> GrmOptions::memory(const RunShape& run) const {
  if (run.sampling.on()) {
    RunShape own = run;
    own.sampling = {};
    GrmOptions options = with(run.sampling);
    return options.memory(own);
  }
  double training = 0, evaluation = 0, nets = 0;
  for (const DomainShape& g : run.training) {
    training = std::max(training, training_bytes(*this, run, g));
  }
  auto room = static_cast<double>(kKeptNetRows);
  for (const DomainShape& g : run.evaluated) {
    const BatchShape net = scope == Scope::whole ? BatchShape{} : mean_ego(run, g, fanout);
    evaluation = std::max(evaluation, evaluation_bytes(*this, g, net));
    const double kept = std::min(static_cast<double>(g.counted.numel()) * net.rows, room);
    room -= kept;
    if (net.rows > 0) nets += kept * (84 + 36 * net.edges / net.rows);
  }
  const auto influence_of = [&](const DomainShape& g) { return influence_bytes(*this, run, g); };
  const auto operator_of = [&](const DomainShape& g) {
    return propagates() ? cost::convolution(conv, g.nodes, g.edges) : 0.0;
  };
  return MemoryUses{
      {"influence", run.over_topologies(concat(), influence_of), MemoryPlace::topology},
      {"operators", run.over_topologies(true, operator_of), MemoryPlace::topology},
      {"activations", std::max(training, evaluation), MemoryPlace::numbers},
      {"ego-nets for evaluation", nets, MemoryPlace::topology},
      {"model", cost::model(parameters(*this, run)), MemoryPlace::numbers}};
}

std::vector<Saving> GrmOptions::savings(const RunShape& run) const {
  const bool exact =
      std::any_of(run.training.begin(), run.training.end(), [&](const DomainShape& g) {
        return uses_exact_influence(*this, static_cast<int64_t>(g.nodes));
      });
  return {exact ? saving("influence", "sampled") : Saving{},
          invariance_nodes == 0 ? saving("invariance_nodes", "1") : Saving{},
          smaller("batch", batch, 8),
          smaller("influence_members", influence_members, 8),
          saving("encoder_input", "raw"),
          saving("fanout", "10,0"),
          smaller("hidden", hidden, 16),
          smaller_widths(*this)};
}

// V_i^D lies inside a graph; most of a small graph is in it.
std::optional<MemoryUses> GraphGrmOptions::memory(const RunShape& run) const {
  const DomainShape& g = run.training.front();
  const double graphs = std::min(static_cast<double>(batch), g.items);
  const GraphShape step = share_of(g, graphs / std::max(1.0, g.items));
  const double h = static_cast<double>(std::max(hidden, gin_hidden));
  const double layers = static_cast<double>(gin_layers);
  double activations = kFloat * (domain_floats(*this) + row_floats(*this, false)) * step.nodes;
  if (encoder == EncoderKind::gin) activations += kFloat * step.nodes * h * 8 * layers;
  if (edge_support != EdgeSupport::all) activations += kPairBytes * (step.edges + step.nodes);
  const double evaluated =
      static_cast<double>(kEvaluatedGraphs) / std::max(1.0, graphs) * 0.25 * activations;
  const double numbers = run.features * h + layers * 4 * h * h + 4 * h * h;
  return MemoryUses{
      {"influence", 16.0 * g.nodes * g.nodes / std::max(1.0, g.items), MemoryPlace::topology},
      {"operators", cost::convolution(conv, g.nodes, g.edges), MemoryPlace::topology},
      {"activations", std::max(activations, evaluated), MemoryPlace::numbers},
      {"model", cost::model(2.5 * numbers), MemoryPlace::numbers}};
}

std::vector<Saving> GraphGrmOptions::savings(const RunShape& /*run*/) const {
  return {smaller("batch", batch, 8), saving("encoder_input", "raw"), smaller("hidden", hidden, 16),
          smaller_widths(*this)};
}

}  // namespace grm
