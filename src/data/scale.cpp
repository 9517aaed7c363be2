// Generated data of any size, for measuring how cost grows with it: one training graph of `nodes`
// nodes and three small graphs of the same law. Nothing is drawn twice and nothing is searched, so
// a million nodes take seconds. What a chunk of nodes has depends on its number alone: mapped graphs
// are written chunk by chunk, and are those that load() gives.
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "core/kernels.h"
#include "data/makers.h"
#include "data/mapped/write.h"
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
    list.add("labelled", labelled_, {1e-9, 1}, "share of the training nodes whose label counts")
        .came_later();
  }

  Task load(const DataContext& /*context*/) const override {
    Task task;
    task.name = "scale";
    task.classes = classes_;
    for (const Place& place : places()) {
      Domain domain = make_domain(graph(place), labels(place.nodes));
      domain.labels.loss = counted(place, domain.labels.loss);
      domain.labels.evaluate = torch::arange(scored(place), torch::kInt64);
      if (place.role == Role::train) task.training.push_back(domain);
      if (place.role == Role::validation) task.validation.push_back(domain);
      if (place.role == Role::test) task.test.push_back(domain);
    }
    return task;
  }

  bool write_mapped(const std::string& folder, const std::string& origin,
                    bool force) const override {
    using mapped::Number;
    const mapped::FolderWriter files(folder, force);
    mapped::Head head;
    head.name = "scale";
    head.origin = origin;
    head.classes = classes_;
    for (const Place& place : places()) {
      const size_t k = head.graphs.size();
      mapped::GraphHead g;
      g.name = place.name;
      g.nodes = place.nodes;
      g.dense = features_;
      g.symmetric = true;
      mapped::PairFiles pairs(files.folder(), place.nodes, mean_degree_);
      for (int64_t begin = 0; begin < place.nodes; begin += kNodesPerChunk) {
        for (const auto& [u, v] : draw_pairs(place, begin, end_of(place, begin))) {
          pairs.add(u, v);
          pairs.add(v, u);
        }
      }
      mapped::ArrayWriter offsets = files.graph_array(k, "in_offsets", Number::i64);
      mapped::ArrayWriter indices = files.graph_array(k, "in_indices", Number::i32);
      g.edges = pairs.write_rows(offsets, indices);
      g.arrays["in_offsets"] = offsets.finish();
      g.arrays["in_indices"] = indices.finish();
      mapped::ArrayWriter x = files.graph_array(k, "x", Number::f32);
      mapped::ArrayWriter y = files.graph_array(k, "y", Number::i64);
      mapped::ArrayWriter loss = files.domain_array(k, "loss", Number::i64);
      mapped::ArrayWriter evaluate = files.domain_array(k, "evaluate", Number::i64);
      const std::vector<float> middle = centres(place);
      std::vector<float> rows(kNodesPerChunk * features_);
      for (int64_t begin = 0; begin < place.nodes; begin += kNodesPerChunk) {
        const int64_t end = end_of(place, begin);
        draw_rows(place, middle, begin, end, rows.data());
        x.add(rows.data(), (end - begin) * features_);
        for (int64_t i = begin; i < end; ++i) {
          const int64_t label = i % classes_;
          y.add(&label, 1);
          if (counts(place, i)) loss.add(&i, 1);
          if (i < scored(place)) evaluate.add(&i, 1);
        }
      }
      g.arrays["x"] = x.finish();
      g.arrays["y"] = y.finish();
      head.graphs.push_back(g);
      head.domains.push_back({place.role,
                              place.name,
                              place.name,
                              static_cast<int64_t>(k),
                              {{"loss", loss.finish()}, {"evaluate", evaluate.finish()}}});
    }
    files.finish(head);
    return true;
  }

 private:
  // A domain, and the number that its streams are named by.
  struct Place {
    Role role;
    std::string name;
    uint64_t number;
    int64_t nodes;
  };

  std::vector<Place> places() const {
    const int64_t small = std::min(nodes_, kSmallDomain);
    return {{Role::train, "train", 0, nodes_},
            {Role::validation, "validation", 1, small},
            {Role::test, "T1", 2, small},
            {Role::test, "T2", 3, small}};
  }

  static int64_t end_of(const Place& place, int64_t begin) {
    return std::min(place.nodes, begin + kNodesPerChunk);
  }

  Rng rng() const { return Rng(static_cast<uint64_t>(dataset_seed_)); }

  torch::Tensor labels(int64_t nodes) const {
    torch::Tensor y = torch::empty({nodes}, torch::kInt64);
    for (int64_t i = 0; i < nodes; ++i) y.data_ptr<int64_t>()[i] = i % classes_;
    return y;
  }

  // Whether a node's label is known in training.
  bool counts(const Place& place, int64_t i) const {
    if (labelled_ >= 1.0 || place.role != Role::train) return true;
    const uint64_t key = rng().stream("labelled", place.number).key();
    return static_cast<double>(mix64(key, static_cast<uint64_t>(i))) < labelled_ * 0x1p64;
  }

  torch::Tensor counted(const Place& place, const torch::Tensor& all) const {
    if (labelled_ >= 1.0 || place.role != Role::train) return all;
    std::vector<int64_t> known;
    for (int64_t i = 0; i < place.nodes; ++i) {
      if (counts(place, i)) known.push_back(i);
    }
    return torch::tensor(known, torch::kInt64);
  }

  // The first nodes are scored, as many as this.
  static int64_t scored(const Place& place) {
    return place.role == Role::train ? place.nodes : std::min(place.nodes, kEvaluated);
  }

  Graph graph(const Place& place) const {
    Graph graph;
    graph.name = place.name;
    graph.edges = draw_edges(place);
    graph.x.dense = torch::empty({place.nodes, features_}, torch::kFloat32);
    float* out = graph.x.dense.data_ptr<float>();
    const std::vector<float> middle = centres(place);
    parallel_chunks(place.nodes, kNodesPerChunk, [&](int64_t begin, int64_t end) {
      draw_rows(place, middle, begin, end, out + begin * features_);
    });
    return graph;
  }

  using Pairs = std::vector<std::pair<int32_t, int32_t>>;

  // Labels go round, so the members of a class are known without a list. Every node draws half of
  // its neighbours; the other half draws it.
  Pairs draw_pairs(const Place& place, int64_t begin, int64_t end) const {
    const double half = mean_degree_ / 2;
    const auto sure = static_cast<int64_t>(half);
    Stream draws =
        rng().stream("edges", place.number, static_cast<uint64_t>(begin / kNodesPerChunk));
    Pairs pairs;
    pairs.reserve(static_cast<size_t>((half + 1) * static_cast<double>(end - begin)));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t count = sure + (draws.uniform() < half - static_cast<double>(sure) ? 1 : 0);
      for (int64_t k = 0; k < count; ++k) {
        auto j = static_cast<int64_t>(draws.below(static_cast<uint64_t>(place.nodes)));
        if (draws.uniform() < kWithinClass) {
          j = j - j % classes_ + i % classes_;
          if (j >= place.nodes) j -= classes_;
        }
        if (j != i) pairs.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(j));
      }
    }
    return pairs;
  }

  AdjacencyPtr draw_edges(const Place& place) const {
    std::vector<Pairs> drawn((place.nodes + kNodesPerChunk - 1) / kNodesPerChunk);
    parallel_chunks(place.nodes, kNodesPerChunk, [&](int64_t begin, int64_t end) {
      drawn[begin / kNodesPerChunk] = draw_pairs(place, begin, end);
    });
    int64_t count = 0;
    for (const Pairs& pairs : drawn) count += static_cast<int64_t>(pairs.size());
    torch::Tensor source = torch::empty({2 * count}, torch::kInt64);
    torch::Tensor target = torch::empty({2 * count}, torch::kInt64);
    int64_t *s = source.data_ptr<int64_t>(), *t = target.data_ptr<int64_t>();
    for (Pairs& pairs : drawn) {
      for (const auto& [u, v] : pairs) {
        *s++ = u;
        *t++ = v;
        *s++ = v;
        *t++ = u;
      }
      pairs = {};
    }
    return make_adjacency(place.nodes, place.nodes, source, target);
  }

  // The middle of each class in a domain: its centre plus the domain's own offset.
  std::vector<float> centres(const Place& place) const {
    std::vector<float> middle(classes_ * features_);
    Stream draws = rng().stream("centres"), offsets = rng().stream("offset", place.number);
    for (float& value : middle) value = static_cast<float>(kSignal * draws.normal());
    for (int64_t k = 0; k < features_; ++k) {
      const auto offset = static_cast<float>(kShift * offsets.normal());
      for (int64_t c = 0; c < classes_; ++c) middle[c * features_ + k] += offset;
    }
    return middle;
  }

  // Noise of variance 1 around the middle, for the nodes of one chunk.
  void draw_rows(const Place& place, const std::vector<float>& middle, int64_t begin, int64_t end,
                 float* out) const {
    const kernels::StreamKey key{rng().stream("noise", place.number).key()};
    // Four numbers a block; chunks of nodes begin at whole ones.
    on_host<kernels::philox_normal<float>>(out, (end - begin) * features_, key,
                                           static_cast<uint64_t>(begin * features_ / 4));
    for (int64_t i = begin; i < end; ++i) {
      const float* add = middle.data() + i % classes_ * features_;
      for (int64_t k = 0; k < features_; ++k) out[(i - begin) * features_ + k] += add[k];
    }
  }

  int64_t nodes_ = 10000;
  double mean_degree_ = 10;
  int64_t features_ = 32;
  int64_t classes_ = 4;
  int64_t dataset_seed_ = 0;
  double labelled_ = 1.0;
};

}  // namespace

std::unique_ptr<Dataset> make_scale() {
  return std::make_unique<Scale>();
}

}  // namespace grm
