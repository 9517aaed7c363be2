// The hand count of a training step. Every call below is one line of the mathematics; its comment
// names the product. `passes` says how often a product of this shape is computed: once forward, and
// backward once for each operand that has a gradient.
#include "grm/train/flops.h"

#include <torch/types.h>

#include <algorithm>

#include "grm/methods/grm/domain.h"

namespace grm {
namespace {

constexpr double kFloat = 4.0;
constexpr double kEntry = 8.0;  // a sparse entry: an int32 index and a float weight
constexpr double kGprSteps = 10.0;
constexpr int64_t kDrawnSteps = 4;  // steps of an epoch whose ego-nets are drawn to be counted

class Counter {
 public:
  // [a, b] x [b, c].
  void product(const char* name, double a, double b, double c, double passes) {
    add(name, 2.0 * a * b * c * passes, kFloat * (a * b + b * c + a * c) * passes);
  }
  // A pattern of `entries` times rows of width d, `rows` of them written.
  void sparse(const char* name, double entries, double rows, double d, double passes) {
    add(name, 2.0 * entries * d * passes,
        ((kEntry + kFloat * d) * entries + kFloat * rows * d) * passes);
  }
  // X W with the features' own gradient left out: X W and X^T dY.
  void features(const char* name, const GraphShape& g, double width) {
    if (g.sparse > 0) sparse(name, g.sparse, g.nodes, width, 2);
    if (g.dense > 0) product(name, g.nodes, g.dense, width, 2);
  }
  void add(const char* name, double flops, double bytes) {
    if (flops <= 0) return;
    for (WorkTerm& term : count.terms) {
      if (term.name != name) continue;
      term.flops += flops;
      term.bytes += bytes;
      return;
    }
    count.terms.push_back({name, flops, bytes});
  }
  WorkCount count;
};

// Entries of the operator of a convolution: kipf adds a self-pair to every node (none is stored).
double operator_entries(nn::Conv conv, double edges, double nodes) {
  return conv == nn::Conv::kipf ? edges + nodes : edges;
}

// Means over the sets and their gradient: a dense product where all pairs are multiplied.
void influence_means(Counter& c, const InfluenceShape& sets, double nodes, double width) {
  if (!sets.local && sets.members >= nodes * nodes) {
    c.product("influence means", nodes, nodes, width, 2);
  } else {
    c.sparse("influence means", sets.members, nodes, width, 2);
  }
}

void generated_tiles(Counter& c, const GrmOptions& o, const BatchShape& b, double classes) {
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

void observed_pairs(Counter& c, const GrmOptions& o, const BatchShape& b, double classes) {
  const double de = static_cast<double>(o.edge_width), h = static_cast<double>(o.hidden);
  const double pairs = b.edges + b.rows;                   // observed pairs and self-pairs
  c.sparse("generated edges", pairs, b.rows, de, 3);       // <f_i, f_j>; to f_i; to f_j
  c.sparse("generated edges", pairs, b.rows, h, 3);        // E x; to x; to E
  c.sparse("generated edges", pairs, b.rows, classes, 3);  // the same of the second layer
}

}  // namespace

double WorkCount::flops() const {
  double sum = 0;
  for (const WorkTerm& term : terms) sum += term.flops;
  return sum;
}

double WorkCount::bytes() const {
  double sum = 0;
  for (const WorkTerm& term : terms) sum += term.bytes;
  return sum;
}

void WorkCount::add(const WorkCount& other, double times) {
  for (const WorkTerm& more : other.terms) {
    auto found = std::find_if(terms.begin(), terms.end(),
                              [&](const WorkTerm& term) { return term.name == more.name; });
    if (found == terms.end()) found = terms.insert(terms.end(), {more.name, 0, 0});
    found->flops += more.flops * times;
    found->bytes += more.bytes * times;
  }
}

WorkCount grm_step_work(const GrmOptions& o, const GraphShape& graph, const BatchShape& batch,
                        const InfluenceShape& influence, int64_t classes) {
  Counter c;
  const bool local = influence.local;
  GraphShape g = graph;  // the nodes that the first map acts on
  if (local) {
    g.sparse *= influence.nodes / graph.nodes;
    g.nodes = influence.nodes;
  }
  const double n = g.nodes, h = static_cast<double>(o.hidden);
  const double dz = static_cast<double>(o.latent), wide = 2 * dz;
  const double m = operator_entries(o.conv, g.edges, n);
  BatchShape b = batch;
  if (o.scope == Scope::whole) b = {1, n, g.edges, g.edges + n, g.edges + n};
  const double bm = operator_entries(o.conv, b.edges, b.rows);
  const bool propagates = o.encoder == EncoderKind::gcn2 || o.encoder == EncoderKind::gcn1;
  if (o.concat()) {
    for (int which = 0; which < 2; ++which) {     // GCN_node and GCN_dom
      c.features("input features", g, h);         // X W_1
      c.sparse("input propagation", m, n, h, 2);  // P (X W_1); to X W_1
      c.product("input second map", n, h, h, 3);  // H W_2; to H; to W_2
      c.sparse("input propagation", m, n, h, 2);  // P (H W_2); to H W_2
    }
    influence_means(c, influence, n, h);                // of GCN_dom over V_i^D
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
  if (propagates && o.scope != Scope::whole) {
    const double rows = local ? influence.members : n;
    const double entries = local ? operator_entries(o.conv, influence.edges, rows) : m;
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
  c.product("classifier maps", b.rows, h, static_cast<double>(classes), 3);
  if (o.skip == Skip::latent) c.product("skip", b.rows, dz, static_cast<double>(classes), 3);
  if (o.edge_support == EdgeSupport::all && o.scope != Scope::whole) {
    generated_tiles(c, o, b, static_cast<double>(classes));
  } else {
    observed_pairs(c, o, b, static_cast<double>(classes));
  }
  return c.count;
}

std::optional<WorkCount> backbone_work(const nn::BackboneOptions& o, const GraphShape& g,
                                       int64_t class_count) {
  Counter c;
  const double n = g.nodes, h = static_cast<double>(o.hidden);
  const double classes = static_cast<double>(class_count);
  const auto layers = static_cast<double>(o.layers);
  const double looped = g.edges + n;
  // W of layer l of a plain stack: features -> hidden -> ... -> classes.
  const auto stack = [&](double width, double last_width, const auto& propagate) {
    for (int64_t l = 1; l <= o.layers; ++l) {
      const double out = l == o.layers ? last_width : width;
      if (l == 1) {
        c.features("features", g, out);
      } else {
        c.product("maps", n, width, out, 3);
      }
      propagate(out);
    }
  };
  if (o.backbone == nn::BackboneKind::gcn) {
    stack(h, classes, [&](double out) {
      c.sparse("propagation", operator_entries(o.conv, g.edges, n), n, out, 2);
    });
  } else if (o.backbone == nn::BackboneKind::mlp) {
    stack(h, classes, [](double) {});
  } else if (o.backbone == nn::BackboneKind::sage) {
    stack(h, classes, [&](double out) { c.sparse("propagation", g.edges, n, out, 2); });
    stack(h, classes, [](double) {});  // the map of the node itself, beside that of the mean
  } else if (o.backbone == nn::BackboneKind::gat) {
    const double heads = static_cast<double>(o.heads);
    stack(heads * h, heads * classes, [&](double out) {
      c.product("attention", 2 * n, 1, out, 3);    // a_source . u and a_target . u
      c.sparse("propagation", looped, n, out, 3);  // alpha u; to u; to alpha
    });
  } else if (o.backbone == nn::BackboneKind::gpr) {
    c.features("features", g, h);
    c.product("maps", n, h, classes, 3);
    c.sparse("propagation", looped, n, classes, 2 * kGprSteps);
  } else if (o.backbone == nn::BackboneKind::gcnii) {
    c.features("features", g, h);
    c.sparse("propagation", looped, n, h, 2 * layers);
    c.product("maps", n, h, h, 3 * layers);
    c.product("maps", n, h, classes, 3);
  } else {
    return std::nullopt;
  }
  return c.count;
}

namespace {

nn::BackboneOptions backbone_options(const OptionValues& v) {
  nn::BackboneOptions o;
  o.backbone = v.choice("backbone", o.backbone);
  o.conv = v.choice("conv", o.conv);
  o.hidden = static_cast<int64_t>(v.number("hidden", 128));
  o.layers = static_cast<int64_t>(v.number("layers", 2));
  o.heads = static_cast<int64_t>(v.number("heads", 4));
  return o;
}

// Members of all V_i^D where nobody counted them.
double most_members(const GrmOptions& options, double nodes) {
  if (uses_exact_influence(options, static_cast<int64_t>(nodes))) return nodes * nodes;
  return nodes * std::min(nodes, static_cast<double>(options.influence_members));
}

std::optional<WorkCount> grm_epoch(const RunConfig& config, const Task& task,
                                   const std::vector<InfluenceShape>& influence) {
  const GrmOptions o = grm_options(config.method.options(), false);
  if (o.domain_encoding == DomainPass::exact && !o.local_encoder()) {
    return std::nullopt;  // a subgraph for every node
  }
  const int64_t steps = grm_steps(o, task.training);
  const int64_t drawn = std::min(steps, kDrawnSteps);
  WorkCount epoch;
  for (size_t d = 0; d < task.training.size(); ++d) {
    const Domain& domain = task.training[d];
    const GraphShape graph = shape_of(domain.graph);
    const double each = grm_targets(o, domain, steps) / static_cast<double>(steps);
    const auto targets = static_cast<int64_t>(each * static_cast<double>(drawn));
    BatchShape batch;
    if (o.scope != Scope::whole) {
      batch = ego_shape(domain, o.fanout, targets, targets) * (1.0 / static_cast<double>(drawn));
    }
    InfluenceShape sets;
    if (d < influence.size()) {
      sets = influence[d];
    } else if (uses_local_influence(o, domain.graph.nodes())) {
      return std::nullopt;
    } else {
      sets.members = most_members(o, graph.nodes);
    }
    epoch.add(grm_step_work(o, graph, batch, sets, task.classes), static_cast<double>(steps));
  }
  return epoch;
}

}  // namespace

std::optional<WorkCount> epoch_work(const RunConfig& config, const Task& task,
                                    const std::vector<InfluenceShape>& influence) {
  if (task.level != Level::node) return std::nullopt;
  if (config.method_name() == "grm") return grm_epoch(config, task, influence);
  if (config.method_name() != "erm") return std::nullopt;
  const nn::BackboneOptions o = backbone_options(OptionValues(config.method.options()));
  WorkCount epoch;
  for (const Domain& domain : task.training) {
    const std::optional<WorkCount> pass = backbone_work(o, shape_of(domain.graph), task.classes);
    if (!pass) return std::nullopt;
    epoch.add(*pass);
  }
  return epoch;
}

}  // namespace grm
