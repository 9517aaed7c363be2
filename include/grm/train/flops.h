#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grm/nn/backbone.h"
#include "grm/train/config.h"
#include "grm/train/shapes.h"

namespace grm {

/// One kind of work of a training step, forward and backward together.
struct WorkTerm {
  std::string name;
  double flops = 0.0;
  double bytes = 0.0;  // read and written, each operand once
};

/// Operations by count, from shapes alone: matrix products, sparse products and tiles of generated
/// graphs. A multiply-add is two. Work that is linear in an array (activations, normalisation,
/// losses, the optimiser) is left out, so a rate computed from the count is a lower bound.
struct WorkCount {
  std::vector<WorkTerm> terms;
  double flops() const;
  double bytes() const;
  /// Adds another count, term by term, some number of times.
  void add(const WorkCount& other, double times = 1.0);
};

/// The influential nodes that a step of GRM works with.
struct InfluenceShape {
  /// Pairs (i, u), u in V_i^D, over which means are taken; the square of the nodes where the means
  /// are a dense product.
  double members = 0;
  /// Sets found around the nodes of the step, in place of those of the whole graph: distinct nodes
  /// of batch and sets together, and pairs inside the sets where each is encoded on its own edges.
  bool local = false;
  double nodes = 0, edges = 0;
};

/// One optimiser step of GRM on one training domain.
WorkCount grm_step_work(const GrmOptions& options, const GraphShape& graph, const BatchShape& batch,
                        const InfluenceShape& influence, int64_t classes);

/// One pass, forward and backward, of a backbone over a graph; nothing for an unknown one.
std::optional<WorkCount> backbone_work(const nn::BackboneOptions& options, const GraphShape& graph,
                                       int64_t classes);

/// One epoch of a run, for grm and erm at node level; nothing where we have no formula.
/// `influence`: what a step has of it, by training domain; where it is empty the bound of the
/// options stands in, and with local sets there is no count.
std::optional<WorkCount> epoch_work(const RunConfig& config, const Task& task,
                                    const std::vector<InfluenceShape>& influence = {});

}  // namespace grm
