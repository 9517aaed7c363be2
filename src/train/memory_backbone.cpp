// Memory of the node-level methods whose model is a backbone: how many passes wait for their
// backward pass at a time, and what each method keeps besides.
#include <torch/types.h>

#include "memory_parts.h"

namespace grm::memory {
namespace {

constexpr double kEditorColumn = 450.0;  // implicit editors, bytes a column (editors.h)
constexpr double kEditorEntry = 16.0;    // implicit editors, bytes a chosen source

// EERM's editors of one graph of n nodes.
double editors(const OptionValues& o, double n, double steps) {
  const double views = o.number("views"), edits = o.number("edits");
  const double explicit_bytes = views * n * n * 3 * kFloat;
  if (explicit_bytes <= o.number("editor_memory_mib") * kMiB) return explicit_bytes;
  return views * n * (kEditorColumn + kEditorEntry * std::min(n, steps * edits));
}

// A copy of a graph with edited edges and its operator.
double edited_graph(const OptionValues& o, const GraphShape& g) {
  const double edges = g.edges + g.nodes * o.number("edits");
  return adjacency(edges, g.nodes, g.nodes) +
         convolution(o.choice("conv", nn::Conv::kipf), g.nodes, edges);
}

struct Held {
  double kept = 0, passing = 0, topology = 0, other = 0;
  void add(const Pass& pass, double times) {
    kept += pass.kept * times;
    passing = std::max(passing, pass.passing);
  }
};

// The step of EERM: all views of the graphs that share it.
Held eerm_step(const OptionValues& o, const std::vector<GraphShape>& training, double classes,
               double steps, bool edited) {
  const double views = o.number("views");
  Held all;
  for (const GraphShape& g : training) {
    Held one;
    one.add(backbone_pass(o, g, classes), views);
    one.topology = o.number("edits") > 0 ? views * edited_graph(o, g) : 0;
    if (o.text("update") == "per_domain") {  // one graph after the other
      all.kept = std::max(all.kept, one.kept);
      all.topology = std::max(all.topology, one.topology);
    } else {
      all.kept += one.kept;
      all.topology += one.topology;
    }
    all.passing = std::max(all.passing, one.passing);
    if (edited && o.number("edits") > 0) all.other += editors(o, g.nodes, steps);
  }
  return all;
}

// Methods on domains from a DomainProvider: all of them in one step.
Held provided_domains(const OptionValues& o, const std::vector<GraphShape>& training,
                      double classes, double passes) {
  std::string kind = o.text("domains", "natural");
  if (kind == "auto") kind = training.size() > 1 ? "natural" : "eerm_frozen";
  Held all;
  for (const GraphShape& g : training) {
    const double copies =
        kind == "natural" ? 1 : o.number("views") + (o.flag("include_original") ? 1 : 0);
    all.add(backbone_pass(o, g, classes), copies * passes);
    if (kind != "natural") all.topology += o.number("views") * edited_graph(o, g);
  }
  if (kind == "eerm_frozen" || kind == "eerm_online") {
    const double steps = o.number("eerm_epochs") * o.number("eerm_inner_steps", 1);
    const Held before = eerm_step(o, training, classes, steps, true);
    all.kept = std::max(all.kept, before.kept);
    all.other += before.other;
  }
  return all;
}

Held lisa_step(const OptionValues& o, const std::vector<GraphShape>& training, double classes) {
  const double views = o.number("views");
  Held all;
  for (const GraphShape& g : training) {
    Held one;
    one.add(backbone_pass(o, g, classes), views + 1);
    // Every view builds its operator anew, and keeps mask, probability, weights and gradients.
    one.topology = views * convolution(o.choice("conv", nn::Conv::kipf), g.nodes, g.edges);
    one.kept += views * 14 * kFloat * g.edges;
    all.kept = std::max(all.kept, one.kept);
    all.passing = std::max(all.passing, one.passing);
    all.topology = std::max(all.topology, one.topology);
    all.other += views * 4 * kFloat * g.edges;  // generators, gradients and moments
  }
  return all;
}

Held mario_step(const OptionValues& o, const std::vector<GraphShape>& training) {
  constexpr double kAllNodes = 20000, kDrawnNodes = 4096;  // contrast_nodes = 0
  const double h = o.number("hidden");
  Held all;
  for (const GraphShape& g : training) {
    Held one;
    one.add(backbone_pass(o, g, h), 2);
    one.topology = 2 * (adjacency(g.edges, g.nodes, g.nodes) +
                        convolution(o.choice("conv", nn::Conv::kipf), g.nodes, g.edges));
    if (o.flag("ad_aug")) one.kept += 3 * kFloat * g.nodes * g.features;
    double nodes = o.number("contrast_nodes");
    if (nodes == 0) nodes = g.nodes <= kAllNodes ? g.nodes : kDrawnNodes;
    one.kept += 2 * kFloat * std::min(nodes, g.nodes) * (8 * h + 6 * o.number("prototypes"));
    all.kept = std::max(all.kept, one.kept);
    all.passing = std::max(all.passing, one.passing);
    all.topology = std::max(all.topology, one.topology);
  }
  return all;
}

}  // namespace

Pass backbone_pass(const OptionValues& o, const GraphShape& g, double classes) {
  const std::string backbone = o.text("backbone", "gcn");
  const double n = g.nodes, layers = std::max(1.0, o.number("layers", 2));
  const double dropped = o.number("dropout") > 0 ? 2 : 0;  // mask and result
  const double normed = o.flag("batch_norm", true) ? 1 : 0;
  double width = o.number("hidden", 128);
  Pass pass;
  double numbers = 0, passing = 0;
  if (backbone == "gat") {
    width *= o.number("heads", 4);
    // u, u by head, the mixture and its sum with the bias, the activation.
    numbers = n * width * (layers - 1) * (5 + normed + dropped);
    numbers += layers * (g.edges + n) * (4 * o.number("heads", 4) + 4);
    passing = 4 * n * width;
  } else if (backbone == "gpr") {
    numbers = n * (width * (1 + dropped) + 24 * classes) + 3 * dropped * g.sparse;
    passing = 3 * n * width;
  } else if (backbone == "gcnii") {
    numbers = n * width * layers * (6 + dropped);
    passing = 4 * n * width;
  } else {
    const double self = backbone == "sage" ? 1 : 0;
    numbers = n * width * (layers - 1) * (1 + self + normed + dropped);
    passing = 4 * n * width;
  }
  pass.kept = kFloat * (numbers + 4 * n * classes);
  pass.passing = kFloat * passing;
  pass.parameters = g.features * width * (backbone == "sage" ? 2 : 1) +
                    width * width * std::max(0.0, layers - 2) + width * classes;
  return pass;
}

void backbone_parts(Parts& parts, const std::string& method, const OptionValues& o,
                    const Task& task, int64_t epochs) {
  const auto classes = static_cast<double>(task.classes);
  const std::vector<GraphShape> training = shapes(task.training);
  Held held;
  double models = 1;
  if (method == "eerm") {
    const double steps = static_cast<double>(epochs) * std::max(1.0, o.number("inner_steps"));
    held = eerm_step(o, training, classes, steps, o.text("mode") != "random");
  } else if (method == "drnn" || method == "mmd") {
    held = provided_domains(o, training, classes, 1);
  } else if (method == "arm") {
    held = provided_domains(o, training, classes, 1);
    for (const GraphShape& g : training) {  // a context net and a batch's own pass besides
      held.add(backbone_pass(o, g, classes), o.number("batches", 2));
    }
    models = 2;
  } else if (method == "isgib") {
    for (const GraphShape& g : training) {
      held.add(backbone_pass(o, g, classes), 1);
      held.kept += 2 * kFloat * g.nodes * o.number("input_width");
    }
  } else if (method == "lisa") {
    held = lisa_step(o, training, classes);
  } else if (method == "mario") {
    held = mario_step(o, training);
  } else {  // erm: one graph after the other
    for (const GraphShape& g : training) {
      const Pass pass = backbone_pass(o, g, classes);
      held.kept = std::max(held.kept, pass.kept);
      held.passing = std::max(held.passing, pass.passing);
    }
  }
  double evaluation = 0;
  for (const Role role : {Role::validation, Role::test}) {
    for (const GraphShape& g : shapes(task.domains(role))) {
      evaluation = std::max(evaluation, backbone_pass(o, g, classes).passing);
    }
  }
  GraphShape width;
  width.features = static_cast<double>(task.features());
  parts.topology("operators", over_topologies(task, true, [&](const Domain& domain) {
                                const GraphShape g = shape_of(domain.graph);
                                return convolution(o.choice("conv", nn::Conv::kipf), g.nodes,
                                                   g.edges);
                              }) + held.topology);
  parts.numbers("activations", std::max(held.kept + held.passing, evaluation));
  parts.numbers("model", models * model(backbone_pass(o, width, classes).parameters));
  parts.host(method == "lisa" ? "generators" : "editors", held.other);
}

}  // namespace grm::memory
