// The hand count of a training step. Every call below is one line of the mathematics; its comment
// names the product.
#include <torch/types.h>

#include <algorithm>

#include "methods/grm/cost.h"
#include "methods/grm/domain.h"

namespace grm {
namespace {

using cost::kFloat;
constexpr int64_t kDrawnSteps = 4;  // steps of an epoch whose ego-nets are drawn to be counted

// Means over the sets and their gradient: a dense product where all pairs are multiplied.
void influence_means(WorkCount& c, const InfluenceShape& sets, double nodes, double width) {
  if (!sets.local && sets.members >= nodes * nodes) {
    c.product("influence means", nodes, nodes, width, 2);
  } else {
    c.sparse("influence means", sets.members, nodes, width, 2);
  }
}

void generated_tiles(WorkCount& c, const GrmOptions& o, const BatchShape& b, double classes) {
  const double de = static_cast<double>(o.edge_width), h = static_cast<double>(o.hidden);
  const double rows = kFloat * b.rows;
  // Logits <f_i, f_j>: e_ij = e_ji, so one product serves both.
  c.add("tiles", 2 * b.half_pairs * de, rows * de);
  // E x of both layers, their gradients to x, and dE_ij = <dy_i, x_j>: three each.
  c.add("tiles", 3 * 2 * b.pairs * h, 3 * 2 * rows * h);
  c.add("tiles", 3 * 2 * b.pairs * classes, 3 * 2 * rows * classes);
  // df = (G + G^T) f.
  c.add("tiles", 2 * b.pairs * de, 2 * rows * de);
}

void observed_pairs(WorkCount& c, const GrmOptions& o, const BatchShape& b, double classes) {
  const double de = static_cast<double>(o.edge_width), h = static_cast<double>(o.hidden);
  const double pairs = b.edges + b.rows;                   // observed pairs and self-pairs
  c.sparse("generated edges", pairs, b.rows, de, 3);       // <f_i, f_j>; to f_i; to f_j
  c.sparse("generated edges", pairs, b.rows, h, 3);        // E x; to x; to E
  c.sparse("generated edges", pairs, b.rows, classes, 3);  // the same of the second layer
}

// `own`: the batch is the domain graph itself.
WorkCount step_work(const GrmOptions& o, const GraphShape& graph, const BatchShape& b,
                    const InfluenceShape& influence, double classes, bool own) {
  WorkCount c;
  const bool local = influence.local;
  GraphShape g = graph;  // the nodes that the first map acts on
  if (local) {
    g.sparse *= influence.nodes / graph.nodes;
    g.nodes = influence.nodes;
  }
  const double n = g.nodes, h = static_cast<double>(o.hidden);
  const double dz = static_cast<double>(o.latent), wide = 2 * dz;
  const double m = cost::operator_entries(o.conv, g.edges, n);
  const double bm = cost::operator_entries(o.conv, b.edges, b.rows);
  const bool propagates = o.encoder == EncoderKind::gcn2 || o.encoder == EncoderKind::gcn1;
  if (o.concat()) {
    for (int which = 0; which < 2; ++which) {     // GCN_node and GCN_dom
      c.features("input features", g, h);         // X W_1
      c.sparse("input propagation", m, n, h, 2);  // P (X W_1); to X W_1
      c.product("input second map", n, h, h, 3);  // H W_2; to H; to W_2
      c.sparse("input propagation", m, n, h, 2);  // P (H W_2); to H W_2
    }
    influence_means(c, influence, n, h);  // of GCN_dom over V_i^D
  }
  if (o.encoder == EncoderKind::gin) {
    GraphShape u = g;
    if (o.concat()) u.dense = u.features = 2 * h, u.sparse = 0;
    c.add(nn::graph_encoder_cost(o.gin(), u).work);
    c.product("encoder heads", n, static_cast<double>(o.gin_hidden), wide, 3);
  } else if (o.concat()) {
    c.product("encoder first map", n, 2 * h, wide, 3);  // U W; to U; to W
  } else {
    c.features("encoder first map", g, wide);  // X W
  }
  // The posterior: of every node where nothing propagates, else of the rows of the batch.
  if (propagates) {
    c.sparse("encoder propagation", bm, b.rows, wide, 2);  // P (U W); to U W
    c.product("encoder heads", b.rows, wide, wide, 3);     // both heads; to rows; to weight
    if (o.encoder == EncoderKind::gcn2) c.sparse("encoder propagation", bm, b.rows, wide, 2);
  } else if (o.encoder == EncoderKind::mlp) {
    c.product("encoder heads", n, wide, wide, 3);
  }
  // h_i needs mu, and mu alone: of every node of the domain graph, or of every member of the sets
  // on the edges inside them.
  if (propagates && !own) {
    const double rows = local ? influence.members : n;
    const double entries = local ? cost::operator_entries(o.conv, influence.edges, rows) : m;
    c.sparse("domain propagation", entries, rows, wide, 2);
    c.product("domain heads", rows, wide, dz, 3);
    if (o.encoder == EncoderKind::gcn2) c.sparse("domain propagation", entries, rows, dz, 2);
  }
  influence_means(c, influence, n, dz);  // h = mean of mu
  // Decoder and classifier: f_e(z), then z (W_x W_1), E (.), H W_2, E (.).
  const double width = static_cast<double>(o.decoder_width > 0 ? o.decoder_width : g.features);
  c.product("edge map", b.rows, dz, static_cast<double>(o.edge_width), 3);
  c.product("classifier maps", dz, width, h, 3);  // W_x W_1
  c.product("classifier maps", b.rows, dz, h, 3);
  c.product("classifier maps", b.rows, h, classes, 3);
  if (o.gates()) c.product("presence", b.rows, dz, 1, 3);
  if (o.skip == Skip::latent) c.product("skip", b.rows, dz, classes, 3);
  if (o.edge_support == EdgeSupport::all && o.scope != Scope::whole) {
    generated_tiles(c, o, b, classes);
  } else {
    observed_pairs(c, o, b, classes);
  }
  return c;
}

// What the method noted of V_i^D while it found it, by training domain: once for the sets of the
// whole graph, in every step for local ones, of which the mean over the steps is taken.
std::vector<InfluenceShape> noted_influence(const RunShape& run) {
  const auto sizes = [&](const char* name) {
    const auto found = run.noted.find(name);
    return found == run.noted.end() ? std::vector<double>() : found->second;
  };
  const size_t domains = run.training.size();
  const std::vector<double> members = sizes("influence members"), nodes = sizes("local nodes"),
                            edges = sizes("local edges");
  if (members.empty() || members.size() % domains != 0) return {};
  std::vector<InfluenceShape> shapes(domains);
  const double share = static_cast<double>(domains) / static_cast<double>(members.size());
  for (size_t k = 0; k < members.size(); ++k) {
    InfluenceShape& shape = shapes[k % domains];
    shape.members += members[k] * share;
    if (k < nodes.size()) shape.nodes += nodes[k] * share;
    if (k < edges.size()) shape.edges += edges[k] * share;
    shape.local = !nodes.empty();
  }
  return shapes;
}

// Members of all V_i^D where nobody counted them.
double most_members(const GrmOptions& options, double nodes) {
  if (uses_exact_influence(options, static_cast<int64_t>(nodes))) return nodes * nodes;
  return nodes * std::min(nodes, static_cast<double>(options.influence_members));
}

}  // namespace

WorkCount grm_step_work(const GrmOptions& o, const GraphShape& g, const BatchShape& batch,
                        const InfluenceShape& influence, double classes) {
  if (o.scope != Scope::whole) return step_work(o, g, batch, influence, classes, false);
  const double n = influence.local ? influence.nodes : g.nodes, pairs = g.edges + n;
  return step_work(o, g, {1, n, g.edges, pairs, pairs}, influence, classes, true);
}

std::optional<WorkCount> GrmOptions::work(const RunShape& run) const {
  // With a subgraph for every node the count would depend on each of them.
  if (own_network() || (domain_encoding == DomainPass::exact && !local_encoder())) {
    return std::nullopt;
  }
  const std::vector<InfluenceShape> noted = noted_influence(run);
  const int64_t taken = epoch(run.training).steps, drawn = std::min(taken, kDrawnSteps);
  WorkCount all;
  for (size_t d = 0; d < run.training.size(); ++d) {
    const DomainShape& g = run.training[d];
    const double each = targets(g, taken) / static_cast<double>(taken);
    const auto count = static_cast<int64_t>(each * static_cast<double>(drawn));
    BatchShape nets;
    if (scope != Scope::whole) {
      nets = ego_shape(g, fanout, count, count) * (1.0 / static_cast<double>(drawn));
    }
    InfluenceShape sets;
    if (d < noted.size()) {
      sets = noted[d];
    } else if (uses_local_influence(*this, static_cast<int64_t>(g.nodes))) {
      return std::nullopt;
    } else {
      sets.members = most_members(*this, g.nodes);
    }
    all.add(grm_step_work(*this, g, nets, sets, run.classes), static_cast<double>(taken));
  }
  return all;
}

// Graphs of mean size, each its own domain; without a note all of a graph is in its V_i^D.
std::optional<WorkCount> GraphGrmOptions::work(const RunShape& run) const {
  if (own_network() || (domain_encoding == DomainPass::exact && !local_encoder())) {
    return std::nullopt;
  }
  const DomainShape& g = run.training.front();
  const double n = g.nodes, items = std::max(1.0, g.items), pairs = n * n / items;
  InfluenceShape sets;
  sets.members = pairs;
  return step_work(*this, g, {items, n, g.edges, pairs, (pairs + n) / 2}, sets, run.classes, true);
}

}  // namespace grm
