#include "grm/methods/grm/domain.h"

#include <torch/types.h>

#include "grm/core/clock.h"
#include "grm/core/error.h"
#include "grm/core/files.h"
#include "grm/core/log.h"
#include "grm/core/threads.h"
#include "grm/io/safetensors.h"
#include "grm/ops/sparse.h"

namespace grm {
namespace {

// Sets from the disk cache, computed and stored there if they are not in it. A cache that cannot be
// read or written costs time, never a run.
InfluenceSets cached_influence(const Adjacency& edges, const InfluenceRule& rule) {
  const std::string path =
      cache_folder() + "/influence/" + sha256(influence_key(edges, rule)) + ".safetensors";
  try {
    return InfluenceSets::from_tensors(io::read_safetensors(path).tensors);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) log_warning("computed anew: {}", error.what());
  }
  const Stopwatch watch;
  const InfluenceSets sets = influence_sets(edges, rule);
  log_info("influential nodes of {} nodes: {}, {:.1f} members on average, {:.1f} s", edges.rows(),
           rule.sampled ? "sampled" : "exact", sets.mean_size(), watch.seconds());
  try {
    io::write_safetensors(path, {sets.to_tensors(), {}});
  } catch (const Error& error) {
    log_warning("influential nodes are not cached: {}", error.what());
  }
  return sets;
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

torch::Tensor shares(const Adjacency& pattern) {
  const torch::Tensor sizes = pattern.in.offsets.diff();
  return (1.0 / sizes.to(torch::kFloat64)).repeat_interleave(sizes);
}

}  // namespace

bool uses_exact_influence(const GrmOptions& options, int64_t nodes) {
  if (options.influence != "auto") return options.influence == "exact";
  const double n = static_cast<double>(nodes);
  const double needed = exact_influence_bytes(nodes) + n * n * sizeof(float);
  return needed <= static_cast<double>(options.influence_budget_mib) * 1024 * 1024;
}

InfluencePool::InfluencePool(const Adjacency& edges, const GrmOptions& options, torch::Dtype dtype)
    : sets_(cached_influence(edges, rule_for(options, edges.rows()))) {
  if (!sets_.exact()) {
    pattern_ = sets_.sparse;
  } else if (sets_.mean_size() * 4 < static_cast<double>(sets_.nodes)) {
    // 16 bytes an entry against 4 for every pair: sparse pays below a quarter.
    pattern_ = sets_.rows(torch::arange(sets_.nodes, torch::kInt64));
  }
  if (pattern_) {
    weights_ = shares(*pattern_).to(dtype);
  } else {
    averaging_ = averaging_matrix(sets_, dtype);
  }
}

torch::Tensor InfluencePool::mean(const torch::Tensor& rows) const {
  if (pattern_) return ops::spmm(pattern_, weights_, rows);
  return averaging_.matmul(rows);
}

DomainCache::DomainCache(const GrmOptions& options, torch::Dtype dtype)
    : options_(options), dtype_(dtype), propagation_(options.conv, dtype) {}

const InfluencePool& DomainCache::influence(const AdjacencyPtr& edges) {
  std::unique_ptr<InfluencePool>& pool = influence_[edges];
  if (!pool) pool = std::make_unique<InfluencePool>(*edges, options_, dtype_);
  return *pool;
}

AdjacencyPtr DomainCache::self_paired(const AdjacencyPtr& edges) {
  AdjacencyPtr& pairs = self_paired_[edges];
  if (!pairs) pairs = with_self_loops(*edges);
  return pairs;
}

Features DomainCache::features(const Graph& graph) {
  return options_.encoder_input == "centred" ? graph.x.centred() : graph.x;
}

}  // namespace grm
