#include "methods/grm/domain.h"

#include <torch/types.h>

#include <algorithm>

#include "core/clock.h"
#include "core/files.h"
#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/core/threads.h"
#include "grm/graph/device.h"
#include "io/safetensors.h"
#include "nn/graph_encoder.h"
#include "ops/generated.h"
#include "ops/sparse.h"

namespace grm {
namespace {

// Sets from the disk cache, computed and stored there if they are not in it. A cache that cannot be
// read or written costs time, never a run.
template <class Read, class Compute>
auto cached_sets(const std::string& key, int64_t nodes, const InfluenceRule& rule, const Read& read,
                 const Compute& compute) {
  const std::string path = cache_file("influence", sha256(key) + ".safetensors");
  if (path.empty()) return compute();
  try {
    return read(io::read_safetensors(path).tensors);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) log_warning("computed anew: {}", error.what());
  }
  const Stopwatch watch;
  const auto sets = compute();
  log_info("influential nodes of {} nodes: {}, {:.1f} members on average, {:.1f} s", nodes,
           rule.sampled ? "sampled" : "exact", sets.mean_size(), watch.seconds());
  try {
    io::write_safetensors(path, {sets.to_tensors(), {}});
  } catch (const Error& error) {
    log_warning("influential nodes are not cached: {}", error.what());
  }
  return sets;
}

InfluenceSets cached_influence(const Adjacency& edges, const InfluenceRule& rule,
                               const torch::Device& device) {
  return cached_sets(influence_key(edges, rule), edges.rows(), rule, InfluenceSets::from_tensors,
                     [&] { return influence_sets(edges, rule, {}, device); });
}

PackedInfluence cached_influence(const Graph& set, const InfluenceRule& rule) {
  // The sets follow from the edges; only their layout in the file depends on the parts.
  const std::string key =
      influence_key(*set.edges, rule) +
      fmt::format(" parts {}", sha256({static_cast<const char*>(set.parts.data_ptr()),
                                       static_cast<size_t>(set.parts.nbytes())}));
  return cached_sets(
      key, set.nodes(), rule,
      [&](const auto& tensors) { return PackedInfluence::from_tensors(tensors, set.parts); },
      [&] { return packed_influence(*set.edges, set.parts, rule); });
}

InfluenceRule rule_for(const GrmOptions& options, int64_t nodes) {
  InfluenceRule rule;
  rule.max_length = options.influence_length;
  rule.min_paths = options.influence_paths;
  rule.sampled = !uses_exact_influence(options, nodes);
  rule.members = options.influence_members;
  rule.neighbours = options.influence_neighbours;
  return rule;
}

// averaging_matrix() on a device: the bits travel, not the matrix.
torch::Tensor averaging_matrix_on(const torch::Device& device, const InfluenceSets& sets,
                                  torch::Dtype dtype) {
  constexpr int64_t kSpreadRows = 512;  // spread out at a time, in 8 bytes a pair
  const int64_t n = sets.nodes;
  const torch::Tensor bits = on_device(sets.bits, device);
  const torch::Tensor place =
      torch::arange(64, torch::dtype(torch::kInt64).device(device)).view({1, 1, 64});
  torch::Tensor result = torch::empty({n, n}, torch::dtype(dtype).device(device));
  for (int64_t begin = 0; begin < n; begin += kSpreadRows) {
    const int64_t count = std::min(kSpreadRows, n - begin);
    const torch::Tensor words = bits.narrow(0, begin, count).unsqueeze(2);
    const torch::Tensor members = torch::bitwise_and(torch::bitwise_right_shift(words, place), 1)
                                      .view({count, -1})
                                      .narrow(1, 0, n);
    const torch::Tensor sizes = members.sum(1, /*keepdim=*/true);
    result.narrow(0, begin, count).copy_(members.to(dtype).div_(sizes.to(dtype)));
  }
  return result;
}

// [n, n] with 1 / |V_i^D| at the members of row i.
torch::Tensor averaging_matrix(const InfluenceSets& sets, torch::Dtype dtype) {
  const int64_t n = sets.nodes, words = sets.bits.size(1);
  torch::Tensor members = torch::zeros({n, n}, torch::kFloat32);
  torch::Tensor sizes = torch::empty({n, 1}, torch::kFloat64);
  const int64_t* bits = sets.bits.data_ptr<int64_t>();
  float* out = members.data_ptr<float>();
  double* size = sizes.data_ptr<double>();
  parallel_chunks(n, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      size[i] = static_cast<double>(sets.size(i));
      for (int64_t u = 0; u < n; ++u) {
        out[i * n + u] = static_cast<float>(bits[i * words + u / 64] >> (u % 64) & 1);
      }
    }
  });
  return members.to(dtype).div_(sizes.to(dtype));
}

// The graphs `ids` of a pattern that is block-diagonal over the parts of the set.
GraphBatch pick_pattern(const Graph& set, const AdjacencyPtr& pattern, const torch::Tensor& ids) {
  Graph graph;
  graph.edges = pattern;
  graph.parts = set.parts;
  return pick_graphs(graph, ids);
}

torch::Tensor shares(const Adjacency& pattern) {
  const torch::Tensor sizes = pattern.in.offsets.diff();
  // With the number of entries given, the host does not wait for it.
  return (1.0 / sizes.to(torch::kFloat64)).repeat_interleave(sizes, 0, pattern.nnz());
}

}  // namespace

bool uses_local_influence(const GrmOptions& options, int64_t nodes) {
  // Sampled sets need a search from every node of the graph before the first step.
  constexpr int64_t kLarge = 100000;
  if (options.concat() || options.own_encoder() || options.scope == Scope::whole) return false;
  if (options.influence != InfluenceSearch::automatic)
    return options.influence == InfluenceSearch::local;
  return !uses_exact_influence(options, nodes) && nodes > kLarge;
}

bool uses_exact_influence(const GrmOptions& options, int64_t nodes) {
  if (options.influence != InfluenceSearch::automatic)
    return options.influence == InfluenceSearch::exact;
  const double n = static_cast<double>(nodes);
  const double needed = exact_influence_bytes(nodes) + n * n * sizeof(float);
  return needed <= static_cast<double>(options.influence_budget_mib) * 1024 * 1024;
}

InfluencePool::InfluencePool(const Adjacency& edges, const GrmOptions& options, torch::Dtype dtype,
                             const torch::Device& device)
    : sets_(cached_influence(edges, rule_for(options, edges.rows()), device)) {
  if (!sets_.exact()) {
    pattern_ = sets_.sparse;
  } else if (sets_.mean_size() * 4 < static_cast<double>(sets_.nodes)) {
    // 16 bytes an entry against 4 for every pair: sparse pays below a quarter.
    pattern_ = sets_.rows(torch::arange(sets_.nodes, torch::kInt64));
  }
  const auto n = static_cast<double>(sets_.nodes);
  note_size("influence members", pattern_ ? static_cast<double>(pattern_->nnz()) : n * n);
  if (pattern_) {
    weights_ = on_device(shares(*pattern_).to(dtype), device);
  } else {
    averaging_ = device.is_cpu() ? averaging_matrix(sets_, dtype)
                                 : averaging_matrix_on(device, sets_, dtype);
  }
}

InfluencePool::InfluencePool(const AdjacencyPtr& sets, torch::Dtype dtype,
                             const torch::Device& device)
    : pattern_(sets) {
  sets_.nodes = sets->rows();
  sets_.sparse = sets;
  weights_ = on_device(shares(*pattern_).to(dtype), device);
}

torch::Tensor InfluencePool::mean(const torch::Tensor& rows) const {
  if (pattern_) return ops::spmm(pattern_, weights_, rows);
  return averaging_.matmul(rows);
}

DomainCache::DomainCache(const GrmOptions& options, torch::Dtype dtype, const torch::Device& device)
    : options_(options),
      dtype_(dtype),
      device_(device),
      propagation_(options.conv, dtype, device) {}

DomainView DomainCache::whole(const Graph& graph, bool with_influence) {
  DomainView view;
  view.graph = graph;
  view.graph.x = features(graph);
  if (options_.propagates()) view.propagation = propagation(graph.edges);
  if (!with_influence) return view;
  if (uses_local_influence(options_, graph.nodes())) {
    view.around = around(graph.edges);
  } else {
    view.influence = influence(graph.edges);
  }
  return view;
}

DomainView DomainCache::part(const Graph& graph) {
  DomainView view;
  view.graph = graph;
  view.graph.x = features(graph);
  view.around = around(graph.edges);
  return view;
}

DomainView DomainCache::pick(const Graph& set, const torch::Tensor& ids, const GraphBatch& batch,
                             bool with_influence) {
  DomainView view;
  view.graph.name = set.name;
  view.graph.edges = batch.edges;
  view.graph.parts = batch.node_offsets;
  view.graph.x = pick_rows(set.x, batch.nodes);
  if (options_.encoder == EncoderKind::gin || options_.own_encoder()) {
    if (set.edge_x.width() > 0) view.graph.edge_x = pick_rows(set.edge_x, batch.edge_ids);
    if (set.edge_weights.defined()) {
      view.graph.edge_weights = set.edge_weights.index_select(0, batch.edge_ids);
    }
  }
  if (options_.propagates()) {
    // The operator of a batch is a block of that of the set: nothing is built while training.
    const nn::Propagation& whole = set_propagation(set);
    const GraphBatch block = pick_pattern(set, whole.pattern, ids);
    view.propagation.pattern = block.edges;
    if (whole.weights.defined()) {
      view.propagation.weights = select_rows(whole.weights, block.edge_ids);
    }
  }
  if (with_influence) {
    view.influence = std::make_shared<InfluencePool>(set_influence(set).pick(ids), dtype_, device_);
  }
  return view;
}

AdjacencyPtr DomainCache::pick_self_paired(const Graph& set, const torch::Tensor& ids) {
  return pick_pattern(set, self_paired(set.edges), ids).edges;
}

const PaddedSet* DomainCache::padded(const Graph& set) {
  const auto found = padded_.find(set.edges);
  if (found != padded_.end()) return found->second.get();
  std::unique_ptr<PaddedSet>& made = padded_[set.edges];
  // Dropout of sparse features draws a number for each that is stored, not for each column.
  const bool drops = options_.input_dropout > 0.0 && set.x.sparse;
  if (!device_.is_cuda() || options_.own_network() || set.items() == 0 || drops ||
      !nn::fits_padded_input(set)) {
    return nullptr;
  }
  auto there = std::make_unique<PaddedSet>();
  there->edges = set.edges;
  std::vector<const Adjacency*> patterns = {set.edges.get()};
  if (options_.propagates()) {
    const nn::Propagation& whole = set_propagation(set);
    there->propagation = whole.pattern;
    there->propagation_weights = whole.weights;
    patterns.push_back(whole.pattern.get());
  }
  if (options_.edge_support == EdgeSupport::observed) {
    there->pairs = self_paired(set.edges);
    patterns.push_back(there->pairs.get());
  }
  constexpr double kMostMembers = 1e8;  // of all V_i^D together: 16 bytes each
  if (set_influence(set).mean_size() * static_cast<double>(set.nodes()) > kMostMembers) {
    return nullptr;
  }
  there->influence = set_influence(set).pick(torch::arange(set.items(), torch::kInt64));
  patterns.push_back(there->influence.get());
  there->rooms = GraphRooms(set.parts, patterns);
  // Larger graphs are not generated by one kernel.
  const bool all_pairs = options_.edge_support == EdgeSupport::all;
  if (all_pairs && there->rooms.most_nodes() > ops::most_generated_nodes()) return nullptr;
  made = std::move(there);
  return made.get();
}

const nn::Propagation& DomainCache::set_propagation(const Graph& set) {
  nn::Propagation& whole = set_propagation_[set.edges];
  if (!whole.pattern) {
    whole = nn::make_propagation(options_.conv, set.edges, set.edge_weights, dtype_, device_);
  }
  return whole;
}

const PackedInfluence& DomainCache::set_influence(const Graph& set) {
  const auto found = set_influence_.find(set.edges);
  if (found != set_influence_.end()) return found->second;
  InfluenceRule rule;
  rule.max_length = options_.influence_length;
  rule.min_paths = options_.influence_paths;
  return set_influence_.emplace(set.edges, cached_influence(set, rule)).first->second;
}

std::shared_ptr<const InfluencePool> DomainCache::influence(const AdjacencyPtr& edges) {
  std::shared_ptr<const InfluencePool>& pool = influence_[edges];
  if (!pool) pool = std::make_shared<InfluencePool>(*edges, options_, dtype_, device_);
  return pool;
}

std::shared_ptr<const LocalInfluence> DomainCache::around(const AdjacencyPtr& edges) {
  std::shared_ptr<const LocalInfluence>& found = around_[edges];
  if (!found) {
    found = std::make_shared<LocalInfluence>(*edges, rule_for(options_, edges->rows()));
  }
  return found;
}

AdjacencyPtr DomainCache::self_paired(const AdjacencyPtr& edges) {
  AdjacencyPtr& pairs = self_paired_[edges];
  if (!pairs) pairs = with_self_loops(*edges);
  return pairs;
}

Features DomainCache::features(const Graph& graph) {
  if (options_.encoder_input != EncoderReads::centred) return graph.x;
  const auto found = centred_.find(graph.edges);
  // The means are sums over the whole domain: they are taken once.
  return found != centred_.end() ? found->second
                                 : centred_.emplace(graph.edges, graph.x.centred()).first->second;
}

}  // namespace grm
