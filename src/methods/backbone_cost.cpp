#include "methods/backbone_cost.h"

#include <fmt/ranges.h>
#include <torch/types.h>

#include "graph/sample.h"

namespace grm {
namespace {

struct SampleSize {
  double targets = 0, computed = 0, rows = 0, edges = 0;  // computed: by the first layer
};

// Of a graph in parts, without asking other processes: as if all nodes had the mean degree, and no two
// a neighbour in common.
SampleSize by_mean_degree(const DomainShape& g, double targets,
                          const std::vector<int64_t>& fanout) {
  const double degree = g.nodes > 0 ? g.edges / g.nodes : 0;
  SampleSize size{targets, targets, targets, 0};
  double edge_of_sample = targets;
  for (const int64_t most : fanout) {
    edge_of_sample *= most > 0 ? std::min(static_cast<double>(most), degree) : degree;
    size.computed = size.rows;
    size.rows = std::min(g.nodes, size.rows + edge_of_sample);
    size.edges = std::min(g.edges, size.edges + edge_of_sample);
  }
  return size;
}

SampleSize sample_size(const RunShape& run, const DomainShape& g, int64_t hops) {
  const std::vector<int64_t>& given = run.sampling.fanout;
  const std::vector<int64_t> fanout =
      given.empty() || hops == 0 ? std::vector<int64_t>(hops, 0) : given;
  const std::string key =
      fmt::format("sample {} {} {}", fmt::ptr(g.edges_of.get()), run.sampling.batch, fanout);
  return run.measured<SampleSize>(key, [&] {
    // The targets of a step lie anywhere; a part of them tells the size of all.
    constexpr int64_t kLooked = 256;
    const int64_t all = g.counted.numel(), targets = std::min(run.sampling.batch, all);
    if (!g.edges_of->in.offsets.defined()) {
      return by_mean_degree(g, static_cast<double>(targets), fanout);
    }
    const int64_t looked = std::min(targets, kLooked);
    Graph graph;
    graph.edges = g.edges_of;
    const torch::Tensor which =
        torch::tensor(Rng(0).stream("shape-targets").choose(all, looked), torch::kInt64);
    const Graph part =
        sample_edges(graph, g.counted.index_select(0, which), fanout, Rng(0).stream("shape")).graph;
    const double times =
        static_cast<double>(targets) / static_cast<double>(std::max<int64_t>(1, looked));
    const auto most = [&](int64_t count, double limit) {
      return std::min(limit, times * static_cast<double>(count));
    };
    return SampleSize{static_cast<double>(targets), most(part.edges->rows(), g.nodes),
                      most(part.nodes(), g.nodes), most(part.edges->nnz(), g.edges)};
  });
}

// A prediction layer by layer: the rows of two layers, and a chunk.
double layer_wise_bytes(const nn::BackboneOptions& options, const DomainShape& g) {
  constexpr double kChunkRows = 16384, kChunkEdges = 1 << 19;
  const double degree = g.nodes > 0 ? g.edges / g.nodes : 0;
  double rows = static_cast<double>(g.counted.numel());
  for (int64_t l = 1; l < options.layers; ++l) rows = std::min(g.nodes, rows * (1 + degree));
  const double edges = std::min(kChunkEdges, kChunkRows * degree);
  const double read = std::min(g.nodes, std::min(kChunkRows, rows) + edges);
  const bool heads =
      options.backbone == nn::BackboneKind::gat || options.backbone == nn::BackboneKind::gatv2;
  const double width = static_cast<double>(options.hidden * (heads ? options.heads : 1));
  return cost::kFloat * (width * (2 * rows + 3 * read) + g.dense * read) + 60 * edges;
}

}  // namespace

RunShape on_samples(const RunShape& run, std::optional<int64_t> hops) {
  if (!run.sampling.on() || !hops) return run;
  RunShape steps = run;
  for (DomainShape& g : steps.training) {
    const SampleSize size = sample_size(run, g, *hops);
    const double share = g.nodes > 0 ? size.rows / g.nodes : 0;
    // Rows of features as they are gathered and as the first map makes them, with its gradient; the
    // patterns of the layers and what is known of an edge.
    constexpr double kEdge = 80, kRow = 40, kMapped = 256;
    steps.samples += size.rows * (cost::kFloat * (g.dense + 2 * kMapped) + kRow) +
                     20 * g.sparse * share + kEdge * size.edges;
    g.sparse *= share;
    g.nodes = g.items = size.computed;
    g.edges = size.edges;
  }
  return steps;
}

void Held::add(const PassCost& pass, double times) {
  kept += pass.kept * times;
  passing = std::max(passing, pass.passing);
}

void Held::together(const Held& other) {
  kept += other.kept;
  topology += other.topology;
  besides += other.besides;
  passing = std::max(passing, other.passing);
}

void Held::in_turn(const Held& other) {
  kept = std::max(kept, other.kept);
  topology = std::max(topology, other.topology);
  besides += other.besides;
  passing = std::max(passing, other.passing);
}

Held one_after_the_other(const nn::BackboneOptions& options, const RunShape& run) {
  Held all;
  for (const DomainShape& g : run.training) {
    Held one;
    one.add(nn::backbone_cost(options, g, run.classes));
    all.in_turn(one);
  }
  return all;
}

MemoryUses backbone_memory(const nn::BackboneOptions& options, const RunShape& run,
                           const Held& held, const std::string& besides, double models) {
  double evaluation = 0;
  const bool sampled = run.sampling.on();
  for (const DomainShape& g : run.evaluated) {
    evaluation = std::max(evaluation, sampled ? layer_wise_bytes(options, g)
                                              : nn::backbone_cost(options, g, run.classes).passing);
  }
  double operators = 0;
  if (!sampled) {
    operators = run.over_topologies(true, [&](const DomainShape& g) {
      return cost::convolution(options.conv, g.nodes, g.edges);
    });
  }
  GraphShape no_nodes;
  no_nodes.features = run.features;
  const double parameters = nn::backbone_cost(options, no_nodes, run.classes).parameters;
  return {{"operators", operators + held.topology, MemoryPlace::topology},
          {"activations", std::max(held.kept + held.passing, evaluation), MemoryPlace::numbers},
          {"model", models * cost::model(parameters), MemoryPlace::numbers},
          {"samples", run.samples, MemoryPlace::numbers},
          {besides, held.besides, MemoryPlace::host}};
}

WorkCount backbone_work(const nn::BackboneOptions& options, const RunShape& run, double passes) {
  WorkCount all;
  for (const DomainShape& g : run.training) {
    all.add(nn::backbone_cost(options, g, run.classes).work, passes);
  }
  return all;
}

std::vector<Saving> backbone_savings(const nn::BackboneOptions& options, std::vector<Saving> own) {
  own.push_back(smaller("heads", options.heads, 1));
  own.push_back(smaller("hidden", options.hidden, 16));
  own.push_back(smaller("layers", options.layers, 2));
  return own;
}

}  // namespace grm
