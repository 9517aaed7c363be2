#pragma once

#include "methods/grm/options.h"

// What GRM costs, from its options and the graphs.
namespace grm {

// Sizes of an evaluation, as the method has them and as its estimate counts them.
constexpr int64_t kEvaluatedNets = 512;    // ego-nets evaluated at a time
constexpr int64_t kKeptNetRows = 2000000;  // nodes of ego-nets kept between evaluations
constexpr int64_t kEvaluatedGraphs = 128;  // graph level: graphs evaluated at a time

/// The influential nodes that a step works with.
struct InfluenceShape {
  /// Pairs (i, u), u in V_i^D, over which means are taken; the square of the nodes where the means
  /// are a dense product.
  double members = 0;
  /// Sets found around the nodes of the step, in place of those of the whole graph: distinct nodes
  /// of batch and sets together, and pairs inside the sets where each is encoded on its own edges.
  bool local = false;
  double nodes = 0, edges = 0;
};

/// One optimiser step on one training domain.
WorkCount grm_step_work(const GrmOptions& options, const GraphShape& graph, const BatchShape& batch,
                        const InfluenceShape& influence, double classes);

/// The ego-nets of `count` counted nodes of a domain, from at most `drawn` of them.
BatchShape ego_shape(const DomainShape& domain, const std::vector<int64_t>& fanout, int64_t count,
                     int64_t drawn);
/// The ego-net of one counted node, on average.
BatchShape mean_ego(const RunShape& run, const DomainShape& domain,
                    const std::vector<int64_t>& fanout);
/// Size of V_i^D on average, from a few nodes: of the whole set, and of what is found of it around
/// the node.
double mean_members(const RunShape& run, const AdjacencyPtr& edges, const GrmOptions& options);
double mean_local_members(const RunShape& run, const AdjacencyPtr& edges,
                          const GrmOptions& options);

}  // namespace grm
