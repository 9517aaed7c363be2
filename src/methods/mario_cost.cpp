// What an iteration of MARIO takes: nodes, memory, work.
#include <algorithm>

#include "grm/graph/device.h"
#include "methods/backbone_cost.h"
#include "methods/contrast.h"
#include "methods/mario.h"

namespace grm {
namespace {

constexpr int64_t kAllNodes = 20000;   // the largest graph whose nodes are all contrasted
constexpr int64_t kDrawnNodes = 4096;  // and how many are drawn beyond

nn::BackboneOptions encoder_of(const MarioOptions& options) {
  nn::BackboneOptions o;
  o.conv = options.conv;
  o.hidden = options.hidden;
  o.layers = options.layers;
  o.dropout = options.dropout;
  o.batch_norm = options.batch_norm;
  return o;
}

}  // namespace

int64_t MarioOptions::contrasted(int64_t nodes) const {
  if (contrast_nodes > 0) return std::min(contrast_nodes, nodes);
  return nodes <= kAllNodes ? nodes : kDrawnNodes;
}

std::optional<MemoryUses> MarioOptions::memory(const RunShape& run) const {
  const nn::BackboneOptions network = encoder_of(*this);
  const auto h = static_cast<double>(hidden), clusters = static_cast<double>(prototypes);
  Held all;
  for (const DomainShape& g : run.training) {
    Held one;
    one.add(nn::backbone_cost(network, g, h), 2);
    one.topology = 2 * (cost::adjacency(g.edges, g.nodes, g.nodes) +
                        cost::convolution(conv, g.nodes, g.edges));
    if (ad_aug) one.kept += 3 * cost::kFloat * g.nodes * g.features;
    const auto rows = static_cast<double>(contrasted(static_cast<int64_t>(g.nodes)));
    one.kept += 2 * cost::kFloat * rows * (8 * h + 6 * clusters);
    if (compute_device().is_cuda()) one.kept += kept_tile_bytes(static_cast<int64_t>(rows));
    all.in_turn(one);
  }
  return backbone_memory(network, run, all);
}

std::optional<WorkCount> MarioOptions::work(const RunShape& run) const {
  const auto h = static_cast<double>(hidden), clusters = static_cast<double>(prototypes);
  const double passes = ad_aug ? kMarioPasses : 1, steps = static_cast<double>(prototype_steps);
  WorkCount all;
  for (const DomainShape& g : run.training) {
    const auto rows = static_cast<double>(contrasted(static_cast<int64_t>(g.nodes)));
    // Two views in every pass, and two for the prototypes without gradients.
    all.add(nn::backbone_cost(encoder_of(*this), g, h).work, 2 * passes + 2.0 / 3);
    all.product("projector", rows, h, 2 * h, 2 * (2 * passes + 3 * steps));
    all.product("prototypes", rows, h, clusters, 2 * (passes + 3 * steps));
    all.product("contrast", rows, h, rows, 3 * passes);
  }
  return all;
}

std::vector<Saving> MarioOptions::savings(const RunShape& /*run*/) const {
  return {saving("ad_aug", "false"),
          contrast_nodes > 0 ? smaller("contrast_nodes", contrast_nodes, 256)
                             : saving("contrast_nodes", "1024"),
          smaller("hidden", hidden, 16), smaller("layers", layers, 2)};
}

}  // namespace grm
