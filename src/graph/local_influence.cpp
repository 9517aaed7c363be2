#include "graph/local_influence.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "graph/influence_product.h"
#include "graph/scratch_pool.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

// Members are looked for within two hops of i, all but the last that shortest paths can reach.
constexpr int kRadius = 3;
constexpr int64_t kSources = 8;  // neighbours that are searched from at once
constexpr int64_t kNodesPerChunk = 16;
constexpr uint8_t kUnreached = 255;

}  // namespace

/// Work space of one thread.
class LocalInfluence::Search {
 public:
  Search(const Csr& neighbours, const InfluenceRule& rule)
      : neighbours_(neighbours), rule_(rule), place_(neighbours.rows, -1) {}

  /// V_i^D, ascending.
  void run(int64_t i, std::vector<int32_t>& members) {
    members.clear();
    collect(i);
    std::vector<int32_t> drawn;
    // The same neighbours as influence_sets draws.
    Stream draws(mix64(rule_.key_of(i), UINT64_MAX));
    for (const int64_t k : draws.choose(degree(i), rule_.neighbours)) {
      drawn.push_back(place_[begin(i)[k]]);
    }
    lengths_.assign(candidates_, 0);
    counts_.assign(candidates_ * static_cast<int64_t>(drawn.size()), 0.0);
    for (size_t first = 0; first < drawn.size(); first += kSources) {
      const size_t lanes = std::min<size_t>(kSources, drawn.size() - first);
      search(drawn.data() + first, lanes);
      for (int64_t c = 0; c < candidates_; ++c) {
        for (size_t s = 0; s < lanes; ++s) {
          lengths_[c] += length_[c][s];
          counts_[c * static_cast<int64_t>(drawn.size()) + static_cast<int64_t>(first + s)] =
              paths_[c][s];
        }
      }
    }
    const auto n = static_cast<int64_t>(drawn.size());
    for (int64_t c = 0; n > 0 && c < candidates_; ++c) {
      if (static_cast<double>(lengths_[c]) > rule_.max_length * static_cast<double>(n)) continue;
      const std::vector<double> counts(counts_.begin() + c * n, counts_.begin() + (c + 1) * n);
      if (geometric_mean_reaches(counts, rule_.min_paths)) members.push_back(ball_[c]);
    }
    if (members.empty()) {
      members.assign(begin(i), begin(i) + degree(i));
      members.push_back(static_cast<int32_t>(i));
    }
    keep_few(i, members);
    for (const int32_t node : ball_) place_[node] = -1;
  }

 private:
  int64_t degree(int64_t i) const { return neighbours_.offset()[i + 1] - neighbours_.offset()[i]; }
  const int32_t* begin(int64_t i) const { return neighbours_.index() + neighbours_.offset()[i]; }

  // The nodes up to kRadius hops away, nearest first, and the edges that shortest paths between the
  // neighbours of i and the candidates can take. Edges between two outermost nodes are not among
  // them, so that the neighbours of those, most of the ball, are never looked at.
  void collect(int64_t i) {
    ball_.assign(1, static_cast<int32_t>(i));
    place_[i] = 0;
    offset_.assign(1, 0);
    index_.clear();
    for (int hop = 1; hop <= kRadius; ++hop) {
      candidates_ = static_cast<int64_t>(ball_.size());
      for (int64_t m = static_cast<int64_t>(offset_.size()) - 1; m < candidates_; ++m) {
        const int32_t node = ball_[m];
        for (int64_t k = 0; k < degree(node); ++k) {
          const int32_t other = begin(node)[k];
          if (place_[other] < 0) {
            place_[other] = static_cast<int32_t>(ball_.size());
            ball_.push_back(other);
          }
          index_.push_back(place_[other]);
        }
        offset_.push_back(static_cast<int64_t>(index_.size()));
      }
    }
    turn_round();
    length_.resize(ball_.size());
    paths_.resize(ball_.size());
  }

  // The edges from the outermost nodes, as those to them the other way.
  void turn_round() {
    const auto inward = static_cast<int64_t>(index_.size());
    offset_.resize(ball_.size() + 1, 0);
    for (int64_t k = 0; k < inward; ++k) {
      if (index_[k] >= candidates_) ++offset_[index_[k] + 1];
    }
    for (size_t m = candidates_; m < ball_.size(); ++m) offset_[m + 1] += offset_[m];
    index_.resize(offset_.back());
    next_.assign(offset_.begin() + candidates_, offset_.end());
    for (int64_t m = 0; m < candidates_; ++m) {
      for (int64_t k = offset_[m]; k < offset_[m + 1]; ++k) {
        const int64_t outer = index_[k] - candidates_;
        if (outer >= 0) index_[next_[outer]++] = static_cast<int32_t>(m);
      }
    }
  }

  // Shortest paths from up to kSources nodes of the ball, level by level.
  void search(const int32_t* sources, size_t lanes) {
    for (auto& row : length_) row.fill(kUnreached);
    for (auto& row : paths_) row.fill(0.0);
    for (size_t s = 0; s < lanes; ++s) {
      length_[sources[s]][s] = 0;
      paths_[sources[s]][s] = 1.0;
    }
    for (uint8_t level = 0; level < kRadius; ++level) {
      for (size_t v = 0; v < ball_.size(); ++v) {
        const auto& from = length_[v];
        if (std::none_of(from.begin(), from.end(), [&](uint8_t l) { return l == level; })) continue;
        for (int64_t k = offset_[v]; k < offset_[v + 1]; ++k) {
          auto& to = length_[index_[k]];
          auto& paths = paths_[index_[k]];
          for (size_t s = 0; s < kSources; ++s) {
            const bool step = from[s] == level && to[s] > level;
            to[s] = step ? static_cast<uint8_t>(level + 1) : to[s];
            paths[s] += step ? paths_[v][s] : 0.0;
          }
        }
      }
    }
  }

  // At most `members` of them: those with the smallest priorities, as influence_sets has it.
  void keep_few(int64_t i, std::vector<int32_t>& members) const {
    const auto most = static_cast<size_t>(rule_.members);
    if (members.size() > most) {
      const uint64_t key = rule_.key_of(i);
      const auto priority = [&](int32_t u) {
        return std::make_pair(mix64(key, static_cast<uint64_t>(u)), u);
      };
      std::nth_element(members.begin(), members.begin() + static_cast<int64_t>(most), members.end(),
                       [&](int32_t a, int32_t b) { return priority(a) < priority(b); });
      members.resize(most);
    }
    std::sort(members.begin(), members.end());
  }

  const Csr& neighbours_;
  const InfluenceRule& rule_;
  std::vector<int32_t> place_;  // of each node of the graph in the ball, or -1
  std::vector<int32_t> ball_;
  int64_t candidates_ = 0;  // the first nodes of the ball
  std::vector<int64_t> offset_, next_;
  std::vector<int32_t> index_;
  std::vector<std::array<uint8_t, kSources>> length_;
  std::vector<std::array<double, kSources>> paths_;
  std::vector<int64_t> lengths_;  // of each candidate, summed over the drawn neighbours
  std::vector<double> counts_;    // [candidates, drawn neighbours]
};

struct LocalInfluence::Pool {
  explicit Pool(std::function<std::unique_ptr<Search>()> make) : searches(std::move(make)) {}
  ScratchPool<Search> searches;
};

namespace {

// Whether the rows of a pattern are the undirected lists already: it is its own transpose (mapped
// graphs say so) and no node has itself.
bool plain_lists(const Adjacency& edges) {
  if (!edges.out.indices.defined() || !edges.out.indices.is_same(edges.in.indices)) return false;
  const Csr& in = edges.in;
  std::atomic<bool> loop{false};
  parallel_chunks(in.rows, 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !loop; ++i) {
      const int32_t *first = in.index() + in.offset()[i], *last = in.index() + in.offset()[i + 1];
      if (std::binary_search(first, last, static_cast<int32_t>(i))) loop = true;
    }
  });
  return !loop;
}

}  // namespace

LocalInfluence::LocalInfluence(const Adjacency& edges, const InfluenceRule& rule) : rule_(rule) {
  ensure(edges.rows() == edges.cols(), "LocalInfluence: the pattern is not square");
  pool_ = std::make_unique<Pool>([this] { return std::make_unique<Search>(neighbours_, rule_); });
  if (plain_lists(edges)) {
    neighbours_ = edges.in;
    return;
  }
  const Csr both = symmetrised(edges)->in;
  neighbours_.rows = neighbours_.cols = both.rows;
  neighbours_.offsets = torch::zeros({both.rows + 1}, torch::kInt64);
  neighbours_.indices = torch::empty({both.nnz()}, torch::kInt32);
  int64_t* offset = neighbours_.offsets.data_ptr<int64_t>();
  int32_t* index = neighbours_.indices.data_ptr<int32_t>();
  int64_t at = 0;
  for (int64_t i = 0; i < both.rows; ++i) {
    for (int64_t k = both.offset()[i]; k < both.offset()[i + 1]; ++k) {
      if (both.index()[k] != i) index[at++] = both.index()[k];
    }
    offset[i + 1] = at;
  }
}

LocalInfluence::~LocalInfluence() = default;

Csr LocalInfluence::sets(const torch::Tensor& nodes) const {
  const torch::Tensor wanted = nodes.contiguous();
  const int64_t* node = wanted.data_ptr<int64_t>();
  const int64_t count = wanted.numel();
  std::vector<std::vector<int32_t>> found(count);
  parallel_chunks(count, kNodesPerChunk, [&](int64_t first, int64_t last) {
    pool_->searches.use([&](Search& search) {
      for (int64_t k = first; k < last; ++k) search.run(node[k], found[k]);
    });
  });
  Csr sets;
  sets.rows = count;
  sets.cols = neighbours_.rows;
  sets.offsets = torch::zeros({count + 1}, torch::kInt64);
  int64_t* offset = sets.offsets.data_ptr<int64_t>();
  for (int64_t k = 0; k < count; ++k) {
    offset[k + 1] = offset[k] + static_cast<int64_t>(found[k].size());
  }
  sets.indices = torch::empty({offset[count]}, torch::kInt32);
  int32_t* index = sets.indices.data_ptr<int32_t>();
  for (int64_t k = 0; k < count; ++k) {
    std::copy(found[k].begin(), found[k].end(), index + offset[k]);
  }
  return sets;
}

}  // namespace grm
