// EERM's options and what a step of it takes.
#include <algorithm>

#include "methods/eerm.h"

namespace grm {

void EermOptions::declare(OptionList& list) {
  backbone.declare(list);
  optimiser.declare(list);
  list.choice("mode", mode,
              "EERM as its paper describes it, as its released code does it, or with uniformly "
              "random edits in place of editors");
  list.add("views", views, {1, 1000}, "edited views K per training graph");
  list.add("edits", edits, {0, 10000}, "flipped pairs per node and view");
  list.add("beta", beta, {0, 1e6}, "weight of the mean loss beside the variance");
  list.add("beta_ramp", beta_ramp, "beta grows to its tenfold over ramp_epochs");
  list.add("ramp_epochs", ramp_epochs, {1, 1e6}, "epochs of the ramp");
  list.add("inner_steps", inner_steps, {0, 1000}, "editor steps T per epoch");
  list.add("editor_lr", editor_lr, {0, 0.1}, "learning rate of the editors");
  list.choice("editor_init", editor_init, "initial parameters of the editors");
  list.add("editor_memory_mib", editor_memory_mib, {0, 1e6},
           "editors above this size are kept implicitly, with the same law");
  list.choice("update", update, {DomainUpdate::mean, DomainUpdate::per_domain},
              "one step on the mean over training domains or one step per training domain");
}

EditorOptions EermOptions::editors() const {
  return {mode, editor_init, views, edits, editor_lr, editor_memory_mib};
}

double edited_graph_bytes(nn::Conv conv, const GraphShape& g, int64_t edits) {
  const double edges = g.edges + g.nodes * static_cast<double>(edits);
  return cost::adjacency(edges, g.nodes, g.nodes) + cost::convolution(conv, g.nodes, edges);
}

Held eerm_held(const nn::BackboneOptions& backbone, const EditorOptions& editors,
               const RunShape& run, DomainUpdate update, double editor_steps) {
  const auto views = static_cast<double>(editors.views);
  Held all;
  for (const DomainShape& g : run.training) {
    Held one;
    one.add(nn::backbone_cost(backbone, g, run.classes), views);
    if (editors.edits > 0) {
      one.topology = views * edited_graph_bytes(backbone.conv, g, editors.edits);
      if (editor_steps >= 0) one.besides = editor_bytes(editors, g.nodes, editor_steps);
    }
    update == DomainUpdate::per_domain ? all.in_turn(one) : all.together(one);
  }
  return all;
}

std::optional<MemoryUses> EermOptions::memory(const RunShape& run) const {
  const double steps = run.epochs * static_cast<double>(std::max<int64_t>(1, inner_steps));
  const Held held =
      eerm_held(backbone, editors(), run, update, mode == EditorLaw::random ? -1 : steps);
  return backbone_memory(backbone, run, held, "editors");
}

// The editors' steps need losses alone, which are at least a third of a pass.
std::optional<WorkCount> EermOptions::work(const RunShape& run) const {
  const bool explores = mode != EditorLaw::random && edits > 0;
  const double trials = explores ? static_cast<double>(inner_steps) / 3 : 0;
  return backbone_work(backbone, run, static_cast<double>(views) * (1 + trials));
}

std::vector<Saving> EermOptions::savings(const RunShape& /*run*/) const {
  return backbone_savings(backbone, {smaller("editor_memory_mib", editor_memory_mib, 0),
                                     saving("update", "per_domain"), smaller("views", views, 1)});
}

}  // namespace grm
