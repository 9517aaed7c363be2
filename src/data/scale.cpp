// Generated data of any size, for measuring how cost grows with it: one training graph of `nodes`
// nodes and three small graphs of the same law. Nothing is drawn twice and nothing is searched, so
// a million nodes take seconds.
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "data/makers.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

constexpr double kWithinClass = 0.7;      // share of edges whose ends have one label
constexpr double kSignal = 0.5;           // length of a class centre, by column
constexpr double kShift = 0.5;            // the same of a domain's own offset
constexpr int64_t kSmallDomain = 10000;   // most nodes of a validation or test graph
constexpr int64_t kEvaluated = 1000;      // most nodes of it that are scored
constexpr int64_t kNodesPerChunk = 4096;  // drawn from one stream

class Scale final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.add("nodes", nodes_, {100, 1e8}, "number of nodes of the training graph");
    list.add("mean_degree", mean_degree_, {0.1, 1e3}, "mean number of neighbours of a node");
    list.add("features", features_, {1, 1e5}, "number of feature columns, dense");
    list.add("classes", classes_, {2, 50}, "number of classes");
    list.add("dataset_seed", dataset_seed_, {0, 9e15}, "seed of the data");
  }

  Task load(const DataContext& /*context*/) const override {
    Task task;
    task.name = "scale";
    task.classes = classes_;
    task.training = {domain("train", 0, nodes_)};
    const int64_t small = std::min(nodes_, kSmallDomain);
    task.validation = {domain("validation", 1, small)};
    task.test = {domain("T1", 2, small), domain("T2", 3, small)};
    for (std::vector<Domain>* domains : {&task.validation, &task.test}) {
      for (Domain& each : *domains) {
        each.labels.evaluate = each.labels.evaluate.narrow(0, 0, std::min(small, kEvaluated));
      }
    }
    return task;
  }

 private:
  Domain domain(const std::string& name, uint64_t place, int64_t nodes) const {
    const Rng rng(static_cast<uint64_t>(dataset_seed_));
    Graph graph;
    graph.name = name;
    graph.edges = draw_edges(rng, place, nodes);
    graph.x.dense = draw_features(rng, place, nodes);
    torch::Tensor y = torch::empty({nodes}, torch::kInt64);
    for (int64_t i = 0; i < nodes; ++i) y.data_ptr<int64_t>()[i] = i % classes_;
    return make_domain(graph, y);
  }

  // Labels go round, so the members of a class are known without a list. Every node draws half of
  // its neighbours; the other half draws it.
  AdjacencyPtr draw_edges(const Rng& rng, uint64_t place, int64_t nodes) const {
    const double half = mean_degree_ / 2;
    const auto sure = static_cast<int64_t>(half);
    const int64_t chunks = (nodes + kNodesPerChunk - 1) / kNodesPerChunk;
    std::vector<std::vector<std::pair<int32_t, int32_t>>> drawn(chunks);
    parallel_chunks(nodes, kNodesPerChunk, [&](int64_t begin, int64_t end) {
      const int64_t chunk = begin / kNodesPerChunk;
      Stream draws = rng.stream("edges", place, static_cast<uint64_t>(chunk));
      auto& pairs = drawn[chunk];
      pairs.reserve(static_cast<size_t>((half + 1) * static_cast<double>(end - begin)));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t count = sure + (draws.uniform() < half - static_cast<double>(sure) ? 1 : 0);
        for (int64_t k = 0; k < count; ++k) {
          auto j = static_cast<int64_t>(draws.below(static_cast<uint64_t>(nodes)));
          if (draws.uniform() < kWithinClass) {
            j = j - j % classes_ + i % classes_;
            if (j >= nodes) j -= classes_;
          }
          if (j != i) pairs.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(j));
        }
      }
    });
    int64_t count = 0;
    for (const auto& pairs : drawn) count += static_cast<int64_t>(pairs.size());
    torch::Tensor source = torch::empty({2 * count}, torch::kInt64);
    torch::Tensor target = torch::empty({2 * count}, torch::kInt64);
    int64_t *s = source.data_ptr<int64_t>(), *t = target.data_ptr<int64_t>();
    for (auto& pairs : drawn) {
      for (const auto& [u, v] : pairs) {
        *s++ = u;
        *t++ = v;
        *s++ = v;
        *t++ = u;
      }
      pairs = {};
    }
    return make_adjacency(nodes, nodes, source, target);
  }

  // Noise of variance 1 around the centre of the class plus the offset of the domain.
  torch::Tensor draw_features(const Rng& rng, uint64_t place, int64_t nodes) const {
    torch::Tensor x = torch::empty({nodes, features_}, torch::kFloat32);
    float* out = x.data_ptr<float>();
    rng.stream("noise", place).fill_normal(out, x.numel());
    std::vector<float> middle(classes_ * features_);
    Stream centres = rng.stream("centres"), offsets = rng.stream("offset", place);
    for (float& value : middle) value = static_cast<float>(kSignal * centres.normal());
    for (int64_t k = 0; k < features_; ++k) {
      const auto offset = static_cast<float>(kShift * offsets.normal());
      for (int64_t c = 0; c < classes_; ++c) middle[c * features_ + k] += offset;
    }
    parallel_chunks(nodes, kNodesPerChunk, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* add = middle.data() + i % classes_ * features_;
        for (int64_t k = 0; k < features_; ++k) out[i * features_ + k] += add[k];
      }
    });
    return x;
  }

  int64_t nodes_ = 10000;
  double mean_degree_ = 10;
  int64_t features_ = 32;
  int64_t classes_ = 4;
  int64_t dataset_seed_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_scale() {
  return std::make_unique<Scale>();
}

}  // namespace grm
