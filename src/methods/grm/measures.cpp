// Sizes that an estimate looks up in the graphs: ego-nets and influential nodes of a few nodes,
// which stand for all.
#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "graph/local_influence.h"
#include "methods/grm/cost.h"

namespace grm {
namespace {

constexpr int64_t kDrawnNets = 64;          // ego-nets that stand for all
constexpr int64_t kMeasuredNodes = 8;       // nodes whose V_i^D stand for all
constexpr int64_t kMeasuredNeighbours = 3;  // of each, that stand for all of its neighbours

// The mean length and the geometric mean of the numbers of shortest paths to a few neighbours of a
// node, summed up search by search; edges count as undirected.
class PathSums {
 public:
  PathSums(const Adjacency& edges, int64_t longest)
      : edges_(edges),
        longest_(longest),
        depth_(edges.rows(), -1),
        paths_(edges.rows(), 0.0),
        seen_(edges.rows(), 0),
        length_sum_(edges.rows(), 0.0),
        log_sum_(edges.rows(), 0.0) {}

  void search(int64_t from) {
    std::vector<int64_t> order = {from};
    depth_[from] = 0;
    paths_[from] = 1.0;
    for (size_t k = 0; k < order.size(); ++k) {
      const int64_t i = order[k];
      if (depth_[i] == longest_) continue;
      for (const Csr* side : {&edges_.in, &edges_.out}) {
        for (int64_t e = side->offset()[i]; e < side->offset()[i + 1]; ++e) {
          const int64_t j = side->index()[e];
          // A pair that is stored both ways is one edge: `out` adds what `in` does not have.
          if (side == &edges_.out && stored(i, j)) continue;
          if (depth_[j] < 0) {
            depth_[j] = depth_[i] + 1;
            order.push_back(j);
          }
          if (depth_[j] == depth_[i] + 1) paths_[j] += paths_[i];
        }
      }
    }
    for (const int64_t i : order) {
      ++seen_[i];
      length_sum_[i] += static_cast<double>(depth_[i]);
      log_sum_[i] += std::log(paths_[i]);
      depth_[i] = -1;
      paths_[i] = 0.0;
    }
    touched_.insert(touched_.end(), order.begin(), order.end());
    ++searches_;
  }

  // Members by the rule; forgets all searches.
  int64_t count(double max_length, double min_paths) {
    int64_t found = 0;
    for (const int64_t i : touched_) {
      if (seen_[i] == searches_ && searches_ > 0) {
        const auto k = static_cast<double>(searches_);
        found += length_sum_[i] / k <= max_length && std::exp(log_sum_[i] / k) >= min_paths ? 1 : 0;
      }
      seen_[i] = 0;
      length_sum_[i] = log_sum_[i] = 0.0;
    }
    touched_.clear();
    searches_ = 0;
    return found;
  }

 private:
  // Whether j -> i is stored.
  bool stored(int64_t i, int64_t j) const {
    const int32_t* begin = edges_.in.index() + edges_.in.offset()[i];
    const int32_t* end = edges_.in.index() + edges_.in.offset()[i + 1];
    return std::binary_search(begin, end, static_cast<int32_t>(j));
  }

  const Adjacency& edges_;
  int64_t longest_;
  std::vector<int64_t> depth_;
  std::vector<double> paths_;
  std::vector<int64_t> seen_;
  std::vector<double> length_sum_, log_sum_;
  std::vector<int64_t> touched_;
  int64_t searches_ = 0;
};

double members_of_a_few(const Adjacency& edges, double max_length, double min_paths) {
  const Rng rng(0);
  // A member may be farther than the mean allows from one neighbour, hardly by more than one edge.
  PathSums sums(edges, static_cast<int64_t>(max_length) + 1);
  const std::vector<int64_t> nodes = rng.stream("members").choose(edges.rows(), kMeasuredNodes);
  double total = 0;
  for (const int64_t i : nodes) {
    const int64_t begin = edges.in.offset()[i], degree = edges.in.offset()[i + 1] - begin;
    for (const int64_t k : rng.stream("members", i).choose(degree, kMeasuredNeighbours)) {
      sums.search(edges.in.index()[begin + k]);
    }
    // A node whose set is empty has itself and its neighbours.
    const int64_t found = sums.count(max_length, min_paths);
    total += static_cast<double>(found > 0 ? found : degree + 1);
  }
  return total / static_cast<double>(nodes.size());
}

}  // namespace

BatchShape ego_shape(const DomainShape& domain, const std::vector<int64_t>& fanout, int64_t count,
                     int64_t drawn) {
  const int64_t all = domain.counted.numel();
  const int64_t wanted = std::min({count, drawn, all});
  if (wanted == 0) return {};
  const Rng rng(0);
  const std::vector<int64_t> chosen = rng.stream("shape-targets").choose(all, wanted);
  const torch::Tensor targets =
      domain.counted.index_select(0, torch::tensor(chosen, torch::kInt64));
  const GraphBatch batch =
      ego_batch(*domain.edges_of, targets, fanout, rng.stream("shape-neighbours"));
  return shape_of(batch) * (static_cast<double>(count) / static_cast<double>(wanted));
}

BatchShape mean_ego(const RunShape& run, const DomainShape& domain,
                    const std::vector<int64_t>& fanout) {
  std::string key = fmt::format("ego {} {}", fmt::ptr(domain.edges_of.get()),
                                fmt::ptr(domain.counted.data_ptr()));
  for (const int64_t count : fanout) key += fmt::format(" {}", count);
  return run.measured<BatchShape>(key, [&] {
    return ego_shape(domain, fanout, kDrawnNets, kDrawnNets) *
           (1.0 / static_cast<double>(kDrawnNets));
  });
}

double mean_members(const RunShape& run, const AdjacencyPtr& edges, const GrmOptions& options) {
  const double length = options.influence_length, paths = options.influence_paths;
  return run.measured<double>(fmt::format("members {} {} {}", fmt::ptr(edges.get()), length, paths),
                              [&] { return members_of_a_few(*edges, length, paths); });
}

double mean_local_members(const RunShape& run, const AdjacencyPtr& edges,
                          const GrmOptions& options) {
  InfluenceRule rule;
  rule.max_length = options.influence_length;
  rule.min_paths = options.influence_paths;
  rule.sampled = true;
  rule.members = options.influence_members;
  rule.neighbours = options.influence_neighbours;
  const std::string key =
      fmt::format("local members {} {} {}", fmt::ptr(edges.get()), rule.members, rule.neighbours);
  return run.measured<double>(key, [&] {
    const int64_t count = std::min(kMeasuredNodes, edges->rows());
    const torch::Tensor nodes =
        torch::tensor(Rng(0).stream("members").choose(edges->rows(), count), torch::kInt64);
    return static_cast<double>(LocalInfluence(*edges, rule).sets(nodes).nnz()) /
           static_cast<double>(count);
  });
}

}  // namespace grm
