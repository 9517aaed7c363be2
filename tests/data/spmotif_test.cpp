#include <torch/types.h>

#include <cmath>

#include "data/describe.h"
#include "data/helpers.h"
#include "data/spmotif_samples.h"

namespace grm {
namespace {

using namespace test;

struct Counts {
  double mean_nodes = 0, mean_edges = 0;
  std::vector<std::vector<int64_t>> kinds = std::vector<std::vector<int64_t>>(3, {0, 0, 0});
};

// Checks every graph of a split by hand and counts bases by label.
Counts check_dir(const Domain& domain, Range trees, Range ladders, Range wheels) {
  Counts counts;
  const std::vector<Sample> samples = samples_of(domain);
  for (const Sample& sample : samples) {
    const int64_t base = sample.nodes - kMotif;
    EXPECT_EQ(inside(sample.edges, base, sample.nodes), kShapes[sample.label]);
    const Base found = base_of(base, inside(sample.edges, 0, base));
    EXPECT_GE(found.kind, 0) << "a base of " << base << " nodes is none of the three";
    const Range range = found.kind == 0 ? trees : found.kind == 1 ? ladders : wheels;
    EXPECT_GE(found.size, range.low);
    EXPECT_LE(found.size, range.high);
    int64_t joins = 0;
    for (const auto& [u, v] : sample.edges) {
      EXPECT_LT(u, v) << "pairs are stored from the smaller number to the larger";
      joins += u < base && v == base;
      EXPECT_FALSE(u < base && v > base) << "only the motif's first node touches the base";
    }
    EXPECT_EQ(joins, 1);
    EXPECT_EQ(inside(sample.truth, base, sample.nodes), kShapes[sample.label]);
    EXPECT_EQ(sample.truth.size(), kShapes[sample.label].size());
    if (found.kind >= 0) ++counts.kinds[sample.label][found.kind];
    counts.mean_nodes += static_cast<double>(sample.nodes) / samples.size();
    counts.mean_edges += static_cast<double>(sample.edges.size()) / samples.size();
  }
  return counts;
}

TEST(SpMotif, NeedsNoFileAndHasOneSetForEachSplit) {
  EXPECT_TRUE(DatasetChoice("spmotif").files().empty());
  const Task task = load_dataset("spmotif", "");
  EXPECT_EQ(task.level, Level::graph);
  EXPECT_EQ(task.classes, 3);
  EXPECT_EQ(task.features(), 4);
  EXPECT_EQ(task.metric, MetricKind::accuracy);
  EXPECT_EQ(task.loss, LossKind::softmax);
  const std::vector<DomainSummary> all = describe(task);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[0].labels, ::testing::ElementsAre(1000, 1000, 1000));
  EXPECT_THAT(all[1].labels, ::testing::ElementsAre(1000, 1000, 1000));
  EXPECT_THAT(all[2].labels, ::testing::ElementsAre(2000, 2000, 2000));
  EXPECT_EQ(all[0].truth_edges, 1000 * (5 + 6 + 7));
}

TEST(SpMotif, TrainingGraphsHaveTheDrawnShapesTheBiasAndTheMeanSizesOfTheSpecification) {
  const Task task = load_dataset("spmotif", "");
  const Counts train = check_dir(task.training[0], {0, 2}, {8, 11}, {15, 19});
  for (int64_t label = 0; label < 3; ++label) {
    for (int64_t kind = 0; kind < 3; ++kind) {
      expect_share(train.kinds[label][kind], 1000, kind == label ? 0.9 : 0.05);
    }
  }
  // The specification's figures are means of another sampler, rounded; one standard error of a mean
  // of 3,000 graphs is 0.12 nodes and 0.23 edges.
  EXPECT_NEAR(train.mean_nodes, 18.5, 0.5);
  EXPECT_NEAR(train.mean_edges, 27.6, 0.9);
}

TEST(SpMotif, TrainingSizesByClassAreThoseOfTheSpecification) {
  const Task task = load_dataset("spmotif", "");
  const double nodes[] = {11.0, 23.1, 21.5}, edges[] = {12.1, 32.4, 38.4};
  const std::vector<Sample> samples = samples_of(task.training[0]);
  for (int64_t label = 0; label < 3; ++label) {
    double node_sum = 0, edge_sum = 0;
    for (const Sample& sample : samples) {
      if (sample.label != label) continue;
      node_sum += static_cast<double>(sample.nodes);
      edge_sum += static_cast<double>(sample.edges.size());
    }
    EXPECT_NEAR(node_sum / 1000, nodes[label], 0.7) << label;
    EXPECT_NEAR(edge_sum / 1000, edges[label], 1.3) << label;
  }
}

TEST(SpMotif, ValidationHasTrainingSizesAndUniformBases) {
  const Task task = load_dataset("spmotif", "");
  const Counts counts = check_dir(task.validation[0], {0, 2}, {8, 11}, {15, 19});
  for (int64_t label = 0; label < 3; ++label) {
    expect_share(counts.kinds[label][label], 1000, 1.0 / 3);
    expect_uniform(counts.kinds[label], 1000);
  }
  EXPECT_NEAR(counts.mean_nodes, 18.8, 0.6);
  EXPECT_NEAR(counts.mean_edges, 28.0, 1.0);
}

TEST(SpMotif, TestHasLargerBasesDrawnUniformly) {
  const Task task = load_dataset("spmotif", "");
  const Counts counts = check_dir(task.test[0], {3, 5}, {30, 49}, {60, 79});
  for (int64_t label = 0; label < 3; ++label) {
    expect_share(counts.kinds[label][label], 2000, 1.0 / 3);
    expect_uniform(counts.kinds[label], 2000);
  }
  // Trees of up to 364 nodes make the mean of 6,000 graphs uncertain: its standard error is 0.92
  // nodes, as is that of the specification's sampler.
  EXPECT_NEAR(counts.mean_nodes, 88.3, 3 * std::sqrt(2.0) * 0.92);
  EXPECT_NEAR(counts.mean_edges, 125.1, 3 * std::sqrt(2.0) * 0.92);
  // The exact expectations by hand: bases of 105.67, 79 and 69.5 nodes, 104.67, 116.5 and 137
  // edges.
  EXPECT_NEAR(counts.mean_nodes, (105.67 + 79 + 69.5) / 3 + 5, 3 * 0.92);
  EXPECT_NEAR(counts.mean_edges, (104.67 + 116.5 + 137) / 3 + 6 + 1, 3 * 0.92);
}

TEST(SpMotif, MotifsAreJoinedToEveryBaseNodeAlike) {
  const Task task = load_dataset("spmotif", "");
  double sum = 0;
  const std::vector<Sample> samples = samples_of(task.test[0]);
  for (const Sample& sample : samples) {
    const int64_t base = sample.nodes - kMotif;
    for (const auto& [u, v] : sample.edges) {
      if (u < base && v == base) sum += (static_cast<double>(u) + 0.5) / static_cast<double>(base);
    }
  }
  EXPECT_NEAR(sum / samples.size(), 0.5, 3 * std::sqrt(1.0 / 12 / samples.size()));
}

TEST(SpMotif, WithoutSizeShiftTheTestHasTrainingSizes) {
  const Task task =
      load_dataset("spmotif", "",
                   {{"size_shift", "false"}, {"test_per_class", "300"}, {"train_per_class", "50"}});
  check_dir(task.test[0], {0, 2}, {8, 11}, {15, 19});
  EXPECT_EQ(task.test[0].graph.items(), 900);
  EXPECT_EQ(task.training[0].graph.items(), 150);
}

TEST(SpMotif, BiasIsAnOption) {
  for (const auto& [text, value] : std::vector<std::pair<std::string, double>>{
           {"0.333", 0.333}, {"0.5", 0.5}, {"1", 1.0}, {"0", 0.0}}) {
    const Task task = load_dataset(
        "spmotif", "", {{"bias", text}, {"val_per_class", "30"}, {"test_per_class", "30"}});
    const Counts counts = check_dir(task.training[0], {0, 2}, {8, 11}, {15, 19});
    for (int64_t label = 0; label < 3; ++label) {
      expect_share(counts.kinds[label][label], 1000, value);
    }
  }
}

TEST(SpMotif, FeaturesAreUniform) {
  const Task task = load_dataset("spmotif", "");
  const torch::Tensor x = task.training[0].graph.x.dense;
  EXPECT_GE(x.min().item<float>(), 0);
  EXPECT_LT(x.max().item<float>(), 1);
  const double error = std::sqrt(1.0 / 12 / static_cast<double>(x.size(0)));
  for (int64_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(x.select(1, k).mean().item<double>(), 0.5, 4 * error);
  }
  EXPECT_NEAR(x.var().item<double>(), 1.0 / 12, 0.001);
}

TEST(SpMotif, SameSeedSameGraphsAnotherSeedOthers) {
  const Settings small = {
      {"train_per_class", "40"}, {"val_per_class", "40"}, {"test_per_class", "40"}};
  const auto with = [&](const std::string& key, const std::string& value) {
    Settings settings = small;
    settings.emplace_back(key, value);
    return fingerprint(load_dataset("spmotif", "", settings));
  };
  const std::string zero = fingerprint(load_dataset("spmotif", "", small));
  EXPECT_EQ(with("dataset_seed", "0"), zero);
  EXPECT_NE(with("dataset_seed", "1"), zero);
  EXPECT_NE(with("bias", "0.5"), zero);
  EXPECT_NE(with("variant", "ciga-struc"), zero);
}

TEST(SpMotif, SymmetriseDoublesTheEdgesAndTheTruth) {
  const Settings small = {{"train_per_class", "30"}};
  Settings both = small;
  both.emplace_back("symmetrise", "true");
  const Domain once = load_dataset("spmotif", "", small).training[0];
  const Domain twice = load_dataset("spmotif", "", both).training[0];
  EXPECT_EQ(twice.graph.edges->nnz(), 2 * once.graph.edges->nnz());
  EXPECT_TRUE(test::is_symmetric(*twice.graph.edges));
  const std::vector<Sample> a = samples_of(once), b = samples_of(twice);
  for (size_t g = 0; g < a.size(); ++g) {
    Pairs mirrored = a[g].truth;
    for (const auto& [u, v] : a[g].truth) mirrored.insert({v, u});
    EXPECT_EQ(b[g].truth, mirrored);
  }
}

}  // namespace
}  // namespace grm
