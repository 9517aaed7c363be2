#include "graph/influence.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>

#include "core/stop.h"
#include "graph/influence_device.h"
#include "graph/influence_product.h"
#include "graph/kernels.h"
#include "graph/scratch_pool.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

constexpr int64_t kBlock = 64;         // nodes u weighed at once
constexpr int64_t kBlocksAtOnce = 32;  // sampled: blocks between two updates of the samples
constexpr double kLongest = 250.0;     // lengths are stored in a byte

/// Lists of nodes, one for every node.
struct Lists {
  std::vector<int64_t> offset = {0};
  std::vector<int32_t> index;

  const int32_t* begin(int64_t i) const { return index.data() + offset[i]; }
  const int32_t* end(int64_t i) const { return index.data() + offset[i + 1]; }
  int64_t size(int64_t i) const { return offset[i + 1] - offset[i]; }
  void close() { offset.push_back(static_cast<int64_t>(index.size())); }
  kernels::NeighbourLists view() const {
    return {static_cast<int64_t>(offset.size()) - 1, offset.data(), index.data()};
  }
};

Lists undirected_neighbours(const Adjacency& edges) {
  Lists result;
  result.offset.reserve(edges.rows() + 1);
  result.index.reserve(2 * edges.nnz());
  const auto row = [](const Csr& csr, int64_t i) { return csr.index() + csr.offset()[i]; };
  for (int64_t i = 0; i < edges.rows(); ++i) {
    const auto start = static_cast<int64_t>(result.index.size());
    std::set_union(row(edges.in, i), row(edges.in, i + 1), row(edges.out, i), row(edges.out, i + 1),
                   std::back_inserter(result.index));
    const auto first = result.index.begin() + start;
    const auto self = std::lower_bound(first, result.index.end(), static_cast<int32_t>(i));
    if (self != result.index.end() && *self == i) result.index.erase(self);
    result.close();
  }
  return result;
}

Lists drawn_neighbours(const Lists& neighbours, const InfluenceRule& rule) {
  Lists result;
  const auto nodes = static_cast<int64_t>(neighbours.offset.size()) - 1;
  for (int64_t i = 0; i < nodes; ++i) {
    // Priorities of members are mix64(rule.key_of(i), u) with u a node, so this key is none of
    // theirs.
    Stream draws(mix64(rule.key_of(i), UINT64_MAX));
    for (const int64_t k : draws.choose(neighbours.size(i), rule.neighbours)) {
      result.index.push_back(neighbours.begin(i)[k]);
    }
    result.close();
  }
  return result;
}

/// Finds which nodes u satisfy the rule for each node i, for blocks of 64 nodes u.
class BlockSearch {
 public:
  BlockSearch(const Lists& neighbours, const Lists& members, const InfluenceRule& rule)
      : nodes_(static_cast<int64_t>(members.offset.size()) - 1),
        members_(members),
        rule_(rule),
        graph_{nodes_, neighbours.offset.data(), neighbours.index.data()},
        // If the mean length is at most L*, the nearest member is at most floor(L*) away, and any
        // two neighbours of i are at most 2 apart.
        depth_(static_cast<int>(std::floor(rule.max_length)) + 2),
        pool_([this] { return std::make_unique<Scratch>(graph_); }) {}

  /// Bit u % 64 of words[i * stride] tells whether u of this block belongs to V_i^D.
  void run(int64_t block, uint64_t* words, int64_t stride) {
    pool_.use([&](Scratch& scratch) {
      const int64_t first = block * kBlock;
      const int sources = static_cast<int>(std::min(kBlock, nodes_ - first));
      if (on_host<kernels::search_paths<float>>(scratch.narrow, first, sources, depth_)) {
        judge_all(scratch.narrow, words, stride);
        return;
      }
      if (!scratch.wide) scratch.wide.emplace(graph_);
      on_host<kernels::search_paths<double>>(*scratch.wide, first, sources, depth_);
      judge_all(*scratch.wide, words, stride);
    });
  }

 private:
  struct Scratch {
    explicit Scratch(const kernels::NeighbourLists& graph) : narrow(graph) {}
    kernels::PathBlock<float> narrow;
    std::optional<kernels::PathBlock<double>> wide;  // made for the first counts beyond a float
  };

  template <class Count>
  void judge_all(const kernels::PathBlock<Count>& paths, uint64_t* words, int64_t stride) const {
    const kernels::PathLimits limits = {rule_.max_length, std::log2(rule_.min_paths)};
    std::vector<double> counts;
    for (int64_t i = 0; i < nodes_; ++i) {
      if (members_.size(i) == 0) {
        words[i * stride] = 0;
        continue;
      }
      kernels::Verdict verdict =
          on_host<kernels::judge_paths<Count>>(paths, members_.begin(i), members_.size(i), limits);
      for (uint64_t left = verdict.unsure; left != 0; left &= left - 1) {
        const int lane = __builtin_ctzll(left);
        counts.clear();
        for (const int32_t* j = members_.begin(i); j != members_.end(i); ++j) {
          counts.push_back(paths.paths(*j, lane));
        }
        if (geometric_mean_reaches(counts, rule_.min_paths)) verdict.sure |= uint64_t{1} << lane;
      }
      words[i * stride] = verdict.sure;
    }
  }

  const int64_t nodes_;
  const Lists& members_;
  const InfluenceRule& rule_;
  const kernels::NeighbourLists graph_;
  const int depth_;
  ScratchPool<Scratch> pool_;
};

/// Calls the caller's function with the share of blocks done, from one thread at a time.
class Progress {
 public:
  Progress(int64_t blocks, const std::function<void(double)>& call)
      : blocks_(blocks), call_(call) {}
  void block_done() { blocks_done(1); }
  void blocks_done(int64_t count) {
    if (!call_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ += count;
    call_(static_cast<double>(done_) / static_cast<double>(blocks_));
  }

 private:
  const int64_t blocks_;
  const std::function<void(double)>& call_;
  std::mutex mutex_;
  int64_t done_ = 0;
};

/// Calls body(first, count, words) for the words [nodes, count] of consecutive blocks, each once.
void search_all(const Lists& neighbours, const Lists& members, const InfluenceRule& rule,
                const torch::Device& device, Progress& done,
                const std::function<void(int64_t, int64_t, const torch::Tensor&)>& body) {
  const int64_t nodes = members.view().nodes, blocks = (nodes + kBlock - 1) / kBlock;
  if (device.is_cuda()) {
    DeviceBlockSearch search(neighbours.view(), members.view(), rule, device);
    for (int64_t first = 0; first < blocks; first += search.blocks_at_once()) {
      const int64_t count = std::min(search.blocks_at_once(), blocks - first);
      body(first, count, search.run(first, count));
      done.blocks_done(count);
    }
    return;
  }
  BlockSearch search(neighbours, members, rule);
  for (int64_t first = 0; first < blocks; first += kBlocksAtOnce) {
    check_stop();
    const int64_t count = std::min(kBlocksAtOnce, blocks - first);
    const torch::Tensor words = torch::empty({nodes, count}, torch::kInt64);
    auto* out = reinterpret_cast<uint64_t*>(words.data_ptr<int64_t>());
    parallel_chunks(count, 1, [&](int64_t b, int64_t) {
      search.run(first + b, out + b, count);
      done.block_done();
    });
    body(first, count, words);
  }
}

InfluenceSets exact_sets(const Lists& neighbours, int64_t nodes, const InfluenceRule& rule,
                         const std::function<void(double)>& progress, const torch::Device& device) {
  const int64_t blocks = (nodes + kBlock - 1) / kBlock;
  InfluenceSets sets;
  sets.nodes = nodes;
  sets.bits = torch::empty({nodes, blocks}, torch::kInt64);
  auto* bits = reinterpret_cast<uint64_t*>(sets.bits.data_ptr<int64_t>());
  Progress done(blocks, progress);
  if (device.is_cuda()) {
    search_all(neighbours, neighbours, rule, device, done,
               [&](int64_t first, int64_t count, const torch::Tensor& words) {
                 sets.bits.narrow(1, first, count).copy_(words);
               });
  } else {
    BlockSearch search(neighbours, neighbours, rule);
    parallel_chunks(blocks, 1, [&](int64_t block, int64_t) {
      search.run(block, bits + block, blocks);
      done.block_done();
    });
  }
  for (int64_t i = 0; i < nodes; ++i) {
    uint64_t* row = bits + i * blocks;
    if (std::any_of(row, row + blocks, [](uint64_t word) { return word != 0; })) continue;
    row[i / kBlock] |= uint64_t{1} << (i % kBlock);
    for (const int32_t* j = neighbours.begin(i); j != neighbours.end(i); ++j) {
      row[*j / kBlock] |= uint64_t{1} << (*j % kBlock);
    }
  }
  return sets;
}

/// The members with the smallest priorities seen so far: a uniform sample that does not depend on
/// the order in which members are offered.
class Sample {
 public:
  void offer(uint64_t key, int64_t u, size_t most) {
    const Entry entry(mix64(key, static_cast<uint64_t>(u)), static_cast<int32_t>(u));
    if (heap_.size() == most) {
      if (entry > heap_.front()) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = entry;
    } else {
      heap_.push_back(entry);
    }
    std::push_heap(heap_.begin(), heap_.end());
  }
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  void sorted(int32_t* out) const {
    std::transform(heap_.begin(), heap_.end(), out,
                   [](const Entry& entry) { return entry.second; });
    std::sort(out, out + heap_.size());
  }

 private:
  using Entry = std::pair<uint64_t, int32_t>;  // priority, node
  std::vector<Entry> heap_;                    // the largest first
};

InfluenceSets sampled_sets(const Lists& neighbours, int64_t nodes, const InfluenceRule& rule,
                           const std::function<void(double)>& progress,
                           const torch::Device& device) {
  const int64_t blocks = (nodes + kBlock - 1) / kBlock;
  const auto most = static_cast<size_t>(rule.members);
  const Lists drawn = drawn_neighbours(neighbours, rule);
  std::vector<Sample> samples(nodes);
  Progress done(blocks, progress);
  const auto offer = [&](int64_t first, int64_t count, const torch::Tensor& words) {
    const auto* word = reinterpret_cast<const uint64_t*>(words.data_ptr<int64_t>());
    parallel_chunks(nodes, 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t key = rule.key_of(i);
        for (int64_t b = 0; b < count; ++b) {
          for (uint64_t left = word[i * count + b]; left != 0; left &= left - 1) {
            samples[i].offer(key, (first + b) * kBlock + __builtin_ctzll(left), most);
          }
        }
      }
    });
  };
  search_all(neighbours, drawn, rule, device, done, offer);
  Csr in;
  in.rows = in.cols = nodes;
  in.offsets = torch::zeros({nodes + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  for (int64_t i = 0; i < nodes; ++i) {
    if (samples[i].empty()) {
      const uint64_t key = rule.key_of(i);
      samples[i].offer(key, i, most);
      for (const int32_t* j = neighbours.begin(i); j != neighbours.end(i); ++j) {
        samples[i].offer(key, *j, most);
      }
    }
    offset[i + 1] = offset[i] + static_cast<int64_t>(samples[i].size());
  }
  in.indices = torch::empty({offset[nodes]}, torch::kInt32);
  int32_t* index = in.indices.data_ptr<int32_t>();
  for (int64_t i = 0; i < nodes; ++i) samples[i].sorted(index + offset[i]);
  InfluenceSets sets;
  sets.nodes = nodes;
  sets.sparse = with_transpose(std::move(in));
  return sets;
}

void check(const Adjacency& edges, const InfluenceRule& rule) {
  ensure(edges.rows() == edges.cols(), "influence_sets: the pattern is not square");
  if (!(rule.max_length >= 0.0 && rule.max_length <= kLongest)) {
    fail(ErrorKind::config, "influence: the largest mean length is {}, expected 0 .. {}",
         rule.max_length, kLongest);
  }
  if (!(rule.min_paths >= 0.0 && std::isfinite(rule.min_paths))) {
    fail(ErrorKind::config, "influence: the smallest mean of path counts is {}, expected 0 or more",
         rule.min_paths);
  }
  if (rule.sampled && (rule.members < 1 || rule.neighbours < 1)) {
    fail(ErrorKind::config, "influence: {} members and {} neighbours sampled, expected 1 or more",
         rule.members, rule.neighbours);
  }
}

}  // namespace

InfluenceSets influence_sets(const Adjacency& edges, const InfluenceRule& rule,
                             const std::function<void(double)>& progress,
                             const torch::Device& device) {
  check(edges, rule);
  const Lists neighbours = undirected_neighbours(edges);
  return rule.sampled ? sampled_sets(neighbours, edges.rows(), rule, progress, device)
                      : exact_sets(neighbours, edges.rows(), rule, progress, device);
}

double exact_influence_bytes(int64_t nodes) {
  const auto n = static_cast<double>(nodes);
  const auto bytes_per_node = [](double count) { return 64.0 * (3.0 * count + 2.0 + 1.0) + 24.0; };
  const double matrix = n * std::ceil(n / 64.0) * 8.0;
  const double scratch = n * (bytes_per_node(sizeof(float)) + bytes_per_node(sizeof(double)));
  return matrix + scratch * threads();
}

}  // namespace grm
