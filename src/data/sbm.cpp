// Generated data that needs no file: a degree-corrected block-model graph with bag-of-words
// features, under the same artificial shift as cora and photo.
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "data/makers.h"
#include "data/spurious.h"
#include "grm/core/error.h"

namespace grm {
namespace {

constexpr double kWithinBlock = 0.85;      // share of edges that stay inside a block
constexpr double kTailExponent = 2.5;      // degrees follow a Pareto law with this exponent
constexpr double kTopicWords = 0.7;        // share of words drawn from the block's own ranking
constexpr int64_t kSbmSpuriousWidth = 10;  // columns of X2, as in cora and photo

// Draws indices with given weights, by bisection in their running sum.
class WeightedDraw {
 public:
  void add(int64_t index, double weight) {
    indices_.push_back(index);
    sums_.push_back((sums_.empty() ? 0.0 : sums_.back()) + weight);
  }
  int64_t operator()(Stream& draws) const {
    const double at = draws.uniform() * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin();
    return indices_[std::min<size_t>(found, indices_.size() - 1)];
  }

 private:
  std::vector<int64_t> indices_;
  std::vector<double> sums_;
};

class Sbm final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.add("nodes", nodes_, {20, 1e7}, "number of nodes");
    list.add("blocks", blocks_, {1, 1e4}, "number of blocks, which nodes join at random");
    list.add("mean_degree", mean_degree_, {0.1, 1e4}, "mean number of neighbours of a node");
    list.add("words", words_, {10, 1e6}, "number of words, the true feature columns");
    list.add("words_per_node", words_per_node_, {1, 1e4},
             "words drawn for each node; a word drawn twice counts once");
    shift_.declare(list);
  }

  Task load(const DataContext& /*context*/) const override {
    Task task;
    task.name = "sbm";
    const Rng rng(static_cast<uint64_t>(shift_.dataset_seed));
    Stream draws = rng.stream("blocks");
    std::vector<int64_t> block(nodes_);
    for (int64_t& b : block) b = static_cast<int64_t>(draws.below(blocks_));
    const AdjacencyPtr edges = draw_edges(block, rng.stream("edges"));
    const AdjacencyPtr words = draw_words(block, rng.stream("words"));
    add_spurious_domains(task, edges, words,
                         draw_spurious(*edges, *words, shift_.generator, kSbmSpuriousWidth,
                                       static_cast<uint64_t>(shift_.dataset_seed)));
    return task;
  }

 private:
  // nodes * mean_degree / 2 distinct undirected pairs: the first end by its propensity, the second
  // likewise from the same block or from all nodes. Very dense settings may stop a little short.
  AdjacencyPtr draw_edges(const std::vector<int64_t>& block, Stream draws) const {
    WeightedDraw anyone;
    std::vector<WeightedDraw> member(blocks_);
    for (int64_t i = 0; i < nodes_; ++i) {
      const double propensity = std::pow(1.0 - draws.uniform(), -1.0 / kTailExponent);
      anyone.add(i, propensity);
      member[block[i]].add(i, propensity);
    }
    const auto wanted =
        static_cast<size_t>(std::llround(static_cast<double>(nodes_) * mean_degree_ / 2));
    std::set<std::pair<int64_t, int64_t>> pairs;
    for (size_t attempt = 0; pairs.size() < wanted && attempt < 20 * wanted; ++attempt) {
      const int64_t u = anyone(draws);
      const int64_t v = draws.uniform() < kWithinBlock ? member[block[u]](draws) : anyone(draws);
      if (u != v) pairs.insert(std::minmax(u, v));
    }
    std::vector<int64_t> source, target;
    for (const auto& [u, v] : pairs) {
      source.insert(source.end(), {u, v});
      target.insert(target.end(), {v, u});
    }
    return make_adjacency(nodes_, nodes_, torch::tensor(source, torch::kInt64),
                          torch::tensor(target, torch::kInt64));
  }

  // Word frequencies follow Zipf's law, over a ranking of the words that is the block's own for
  // most draws and common to all for the rest.
  AdjacencyPtr draw_words(const std::vector<int64_t>& block, Stream draws) const {
    WeightedDraw rank;
    for (int64_t r = 0; r < words_; ++r) rank.add(r, 1.0 / static_cast<double>(r + 1));
    std::vector<std::vector<int64_t>> ranking;
    for (int64_t b = 0; b <= blocks_; ++b) ranking.push_back(draws.choose(words_, words_));
    std::vector<int64_t> word, node;
    for (int64_t i = 0; i < nodes_; ++i) {
      for (int64_t k = 0; k < words_per_node_; ++k) {
        const bool topical = draws.uniform() < kTopicWords;
        word.push_back(ranking[topical ? block[i] : blocks_][rank(draws)]);
        node.push_back(i);
      }
    }
    return make_adjacency(nodes_, words_, torch::tensor(word, torch::kInt64),
                          torch::tensor(node, torch::kInt64));
  }

  int64_t nodes_ = 1500;
  int64_t blocks_ = 10;
  double mean_degree_ = 8;
  int64_t words_ = 500;
  int64_t words_per_node_ = 20;
  SpuriousOptions shift_;
};

}  // namespace

std::unique_ptr<Dataset> make_sbm() {
  return std::make_unique<Sbm>();
}

}  // namespace grm
