// SP-Motif: a base (tree, ladder, wheel) that says little about the label, joined by one edge to a
// motif (five-cycle, house, crane) that is the label. In training, label and base go together with
// probability `bias`; in the test they do not, and the bases are larger. Generated, no file.
//
// Edges are stored once per pair, from the smaller to the larger node number: the order in which
// networkx lists the edges of the published generator, whose message passing therefore runs in one
// direction. `symmetrise` adds the other one.
//
// What the published generators do besides (DIR-GNN cae0b9f8, CIGA 45480110, GALA 7b061990):
//   dir         features are four uniform numbers a node
//   ciga-struc  5 % noise edges, another crane, trees of height 3 for class 0 while training
//   ciga-mixed  the same, and all features of a graph equal one number: its label with probability
//               `bias` in training, one of the others else; any of the three in the other splits
//   two-piece   noise edges, trees of height 3 and features of ones everywhere; the motif is drawn
//               anew with probability `label_noise`; no size shift
#include <torch/types.h>

#include <algorithm>
#include <array>

#include "data/graph_sets.h"
#include "data/makers.h"
#include "data/spmotif_shapes.h"
#include "grm/core/error.h"

namespace grm {
namespace {

constexpr int64_t kMotifWidth = 4;
constexpr double kTwoPieceTestBias = 0.33;

struct Interval {
  int64_t low, high;  // both included
};
constexpr Interval kShortTree{0, 2}, kMiddleTree{3, 3}, kTallTree{3, 5};
constexpr Interval kShortLadder{8, 11}, kLongLadder{30, 49};
constexpr Interval kSmallWheel{15, 19}, kLargeWheel{60, 79};

int64_t draw_from(Interval interval, Stream& draws) {
  return interval.low + static_cast<int64_t>(draws.below(interval.high - interval.low + 1));
}

// One of `count` things: the favourite with the given probability, any other one else.
int64_t draw_biased(int64_t favourite, int64_t count, double probability, Stream& draws) {
  if (draws.uniform() < probability) return favourite;
  return (favourite + 1 + static_cast<int64_t>(draws.below(count - 1))) % count;
}

class SpMotif final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.add("bias", bias_, {0, 1},
             "how often a training graph has the base paired with its label");
    list.choice("variant", variant_, "whose generator; four different benchmarks");
    list.add("train_per_class", per_class_[0], {0, 1e6},
             "training graphs of a class; 0: as published (1000 for dir, 3000 else)");
    list.add("val_per_class", per_class_[1], {0, 1e6},
             "validation graphs of a class; 0: as published (1000)");
    list.add("test_per_class", per_class_[2], {0, 1e6},
             "test graphs of a class; 0: as published (2000 for dir, 1000 else)");
    list.add("size_shift", size_shift_,
             "test graphs have larger bases; false: those of training (two-piece: always so)");
    list.add("label_noise", label_noise_, {0, 1},
             "two-piece only: how often the motif is drawn without regard to the label");
    list.add("dataset_seed", dataset_seed_, {0, 1e15}, "seed of all graphs and features");
  }

  Task load(const DataContext& /*context*/) const override {
    Task task;
    task.name = "spmotif";
    task.level = Level::graph;
    task.classes = kMotifClasses;
    task.training.push_back(make_split(Role::train));
    task.validation.push_back(make_split(Role::validation));
    task.test.push_back(make_split(Role::test));
    if (variant_ != MotifVariant::dir) {
      task.notes.push_back(fmt::format(
          "variant {} is a benchmark of its own: not to be compared with SP-Motif of variant dir",
          to_string(variant_)));
    }
    return task;
  }

 private:
  int64_t per_class(Role role) const {
    const int64_t asked = per_class_[static_cast<size_t>(role)];
    if (asked > 0) return asked;
    const bool dir = variant_ == MotifVariant::dir;
    if (role == Role::train) return dir ? 1000 : 3000;
    return role == Role::test && dir ? 2000 : 1000;
  }

  double base_bias(Role role) const {
    if (role == Role::train) return bias_;
    if (variant_ != MotifVariant::two_piece) return 1.0 / kMotifClasses;
    return role == Role::test ? kTwoPieceTestBias : std::max(bias_ - 0.2, 1.0 / kMotifClasses);
  }

  int64_t draw_size(BaseKind kind, Role role, int64_t label, Stream& draws) const {
    const bool large = role == Role::test && size_shift_ && variant_ != MotifVariant::two_piece;
    if (kind == BaseKind::ladder) return draw_from(large ? kLongLadder : kShortLadder, draws);
    if (kind == BaseKind::wheel) return draw_from(large ? kLargeWheel : kSmallWheel, draws);
    if (large) return draw_from(kTallTree, draws);
    const bool middle = variant_ == MotifVariant::two_piece ||
                        (variant_ != MotifVariant::dir && (label == 0 || role == Role::validation));
    return draw_from(middle ? kMiddleTree : kShortTree, draws);
  }

  MotifGraph draw_graph(Role role, int64_t label, Stream& draws) const {
    const auto kind =
        static_cast<BaseKind>(draw_biased(label, kMotifClasses, base_bias(role), draws));
    const int64_t size = draw_size(kind, role, label, draws);
    const auto branching = static_cast<int64_t>(2 + draws.below(2));
    MotifGraph graph = base_graph(kind, size, branching);
    int64_t motif = label;
    if (variant_ == MotifVariant::two_piece && draws.uniform() < label_noise_) {
      motif = static_cast<int64_t>(draws.below(kMotifClasses));
    }
    attach_motif(graph, motif, variant_, static_cast<int64_t>(draws.below(graph.nodes)));
    if (variant_ != MotifVariant::dir) add_noise_edges(graph, draws);
    return graph;
  }

  // One number for all features of a graph of ciga-mixed.
  double draw_shade(Role role, int64_t label, Stream& draws) const {
    const double probability = role == Role::train ? bias_ : 1.0 / kMotifClasses;
    return static_cast<double>(draw_biased(label, kMotifClasses, probability, draws));
  }

  Domain make_split(Role role) const {
    const Rng rng(static_cast<uint64_t>(dataset_seed_));
    const auto split = static_cast<uint64_t>(role);
    const int64_t count = per_class(role);
    std::vector<int64_t> sizes, source, target, labels;
    std::vector<uint8_t> truth;
    std::vector<float> shades;
    int64_t first = 0;
    for (int64_t g = 0; g < kMotifClasses * count; ++g) {
      labels.push_back(g / count);
      Stream draws = rng.stream("spmotif", split, static_cast<uint64_t>(g));
      const MotifGraph graph = draw_graph(role, labels.back(), draws);
      for (const auto& [u, v] : graph.edges) {
        source.push_back(first + u);
        target.push_back(first + v);
        truth.push_back(u >= graph.nodes - kMotifNodes);  // u < v: then both ends are in it
      }
      sizes.push_back(graph.nodes);
      shades.push_back(static_cast<float>(draw_shade(role, labels.back(), draws)));
      first += graph.nodes;
    }
    Graph set;
    set.name = to_string(role);
    set.parts = parts_of(sizes);
    const PackedEdges packed = pack_edges(set.parts, torch::tensor(source, torch::kInt64),
                                          torch::tensor(target, torch::kInt64));
    set.edges = packed.edges;
    set.x.dense = torch::ones({first, kMotifWidth});
    if (variant_ == MotifVariant::dir || variant_ == MotifVariant::ciga_struc) {
      rng.stream("features", split)
          .fill_uniform(set.x.dense.data_ptr<float>(), first * kMotifWidth, 0, 1);
    } else if (variant_ == MotifVariant::ciga_mixed) {
      const torch::Tensor shade = torch::tensor(shades).repeat_interleave(set.parts.diff());
      set.x.dense *= shade.unsqueeze(1);
    }
    Domain domain = make_domain(std::move(set), torch::tensor(labels, torch::kInt64));
    domain.labels.edge_truth = torch::tensor(truth, torch::kUInt8).index_select(0, packed.pair);
    return domain;
  }

  double bias_ = 0.9;
  MotifVariant variant_ = MotifVariant::dir;
  std::array<int64_t, 3> per_class_ = {0, 0, 0};  // by role
  bool size_shift_ = true;
  double label_noise_ = 0.2;
  int64_t dataset_seed_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_spmotif() {
  return std::make_unique<SpMotif>();
}

}  // namespace grm
