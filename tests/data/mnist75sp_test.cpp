#include <torch/types.h>

#include <cmath>

#include "data/describe.h"
#include "data/helpers.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"
#include "io/idx.h"
#include "support/idx_writer.h"
#include "support/superpixel_reference.h"

namespace grm {
namespace {

using test::idx_bytes;
using test::load_dataset;
using ::testing::HasSubstr;

constexpr char kTrain[] = "mnist/train-images-idx3-ubyte";
constexpr char kTrainLabels[] = "mnist/train-labels-idx1-ubyte";
constexpr char kTest[] = "mnist/t10k-images-idx3-ubyte";
constexpr char kTestLabels[] = "mnist/t10k-labels-idx1-ubyte";

// Images with a few bright rectangles on black, and labels that count upwards.
torch::Tensor rectangles(int64_t n, uint64_t seed) {
  Stream draws = Rng(seed).stream("rectangles");
  torch::Tensor images = torch::zeros({n, 28, 28}, torch::kUInt8);
  for (int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) {
      const auto y = static_cast<int64_t>(draws.below(20)),
                 x = static_cast<int64_t>(draws.below(20));
      const auto gray = static_cast<int64_t>(100 + draws.below(156));
      images[i].narrow(0, y, 8).narrow(1, x, 3).fill_(gray);
    }
  }
  return images;
}

torch::Tensor digits(int64_t n) {
  return torch::arange(n, torch::kInt64).remainder(10).to(torch::kUInt8);
}

void write_mnist(const test::TempFolder& folder, const torch::Tensor& train,
                 const torch::Tensor& test) {
  folder.write(kTrain, idx_bytes(train));
  folder.write(kTrainLabels, idx_bytes(digits(train.size(0))));
  folder.write(kTest, idx_bytes(test));
  folder.write(kTestLabels, idx_bytes(digits(test.size(0))));
}

struct SmallMnist : ::testing::Test {
  SmallMnist() { write_mnist(folder, rectangles(60, 1), rectangles(30, 2)); }
  Task load(test::Settings settings = {}) const {
    settings.insert(settings.begin(),
                    {{"train_graphs", "40"}, {"validation_graphs", "15"}, {"test_graphs", "30"}});
    return load_dataset("mnist75sp", folder.path(), settings);
  }
  test::TempFolder folder;
};

// Everything that a load gives, as one text.
std::string all_bits(const Task& task) {
  std::string bits = fingerprint(task);
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    const Domain& domain = task.domains(role)[0];
    for (const torch::Tensor& tensor : {domain.graph.edge_weights, domain.labels.edge_truth,
                                        domain.graph.parts, domain.labels.y}) {
      bits.append(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
    }
  }
  return bits;
}

using Mnist75sp = SmallMnist;

TEST_F(Mnist75sp, IsAGraphLevelTaskWithTenClassesAndFiveFeatures) {
  const Task task = load();
  EXPECT_EQ(find_dataset("mnist75sp").level, Level::graph);
  EXPECT_EQ(task.level, Level::graph);
  EXPECT_EQ(task.classes, 10);
  EXPECT_EQ(task.features(), 5);
  EXPECT_EQ(task.metric, MetricKind::accuracy);
  EXPECT_EQ(task.loss, LossKind::softmax);
  EXPECT_EQ(task.training.at(0).graph.items(), 40);
  EXPECT_EQ(task.validation.at(0).graph.items(), 15);
  EXPECT_EQ(task.test.at(0).graph.items(), 30);
  EXPECT_EQ(task.hashes.size(), 4u);
  const torch::Tensor parts = task.training[0].graph.parts;
  const torch::Tensor size = parts.narrow(0, 1, 40) - parts.narrow(0, 0, 40);
  EXPECT_LE(size.max().item<int64_t>(), 75);
  EXPECT_TRUE(torch::equal(task.test[0].labels.y, digits(30).to(torch::kInt64)));
}

// The rule of the specification in a naive loop over all pairs of a graph.
TEST_F(Mnist75sp, EdgesWeightsAndTruthFollowTheRule) {
  const Domain domain = load().training[0];
  const torch::Tensor x = domain.graph.x.dense, parts = domain.graph.parts;
  EXPECT_TRUE(torch::equal(x.select(1, 0), x.select(1, 1)));
  EXPECT_TRUE(torch::equal(x.select(1, 0), x.select(1, 2)));
  const auto node = x.accessor<float, 2>();
  const auto part = parts.accessor<int64_t, 1>();
  const double pi = std::acos(-1.0);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  std::vector<float> weights;
  std::vector<uint8_t> truth;
  for (int64_t g = 0; g < domain.graph.items(); ++g) {
    for (int64_t i = part[g]; i < part[g + 1]; ++i) {
      for (int64_t j = part[g]; j < part[g + 1]; ++j) {
        const double d = std::hypot(double{node[i][3]} - double{node[j][3]},
                                    double{node[i][4]} - double{node[j][4]});
        const double weight = std::exp(-d / std::pow(0.1 * pi, 2));
        if (i == j || weight <= 0.1) continue;
        pairs.emplace_back(j, i);
        weights.push_back(static_cast<float>(weight));
        truth.push_back(node[i][0] > 0 && node[j][0] > 0);
      }
    }
  }
  EXPECT_EQ(test::pairs_of(*domain.graph.edges), pairs);
  EXPECT_TRUE(torch::allclose(domain.graph.edge_weights, torch::tensor(weights), 1e-6, 0));
  EXPECT_TRUE(torch::equal(domain.labels.edge_truth, torch::tensor(truth, torch::kUInt8)));
  EXPECT_TRUE(test::is_symmetric(*domain.graph.edges));
  EXPECT_GT(domain.labels.edge_truth.sum().item<int64_t>(), 0);
  EXPECT_LT(domain.labels.edge_truth.sum().item<int64_t>(), domain.graph.edges->nnz());
}

TEST_F(Mnist75sp, NoiseIsOnTheColoursOfTheTestSetAlone) {
  const Task clean = load({{"noise", "0"}}), noisy = load(), noisier = load({{"noise", "0.8"}});
  for (const Role role : {Role::train, Role::validation}) {
    EXPECT_TRUE(
        torch::equal(clean.domains(role)[0].graph.x.dense, noisy.domains(role)[0].graph.x.dense));
  }
  const Domain &before = clean.test[0], &after = noisy.test[0];
  EXPECT_TRUE(torch::equal(before.labels.edge_truth, after.labels.edge_truth));
  EXPECT_TRUE(torch::equal(before.graph.edge_weights, after.graph.edge_weights));
  const torch::Tensor change = after.graph.x.dense - before.graph.x.dense;
  EXPECT_EQ(change.narrow(1, 3, 2).abs().max().item<float>(), 0);
  const torch::Tensor noise = change.narrow(1, 0, 3);
  const auto n = static_cast<double>(noise.size(0));
  const torch::Tensor covariance = noise.t().mm(noise) / n;  // 0.16 on the diagonal, else 0
  const torch::Tensor difference = covariance - 0.16 * torch::eye(3);
  EXPECT_LT(difference.abs().max().item<double>(), 5 * 0.16 * std::sqrt(2 / n));
  EXPECT_LT(noise.mean(0).abs().max().item<double>(), 5 * 0.4 / std::sqrt(n));
  EXPECT_TRUE(torch::allclose(noisier.test[0].graph.x.dense - before.graph.x.dense, 2 * change,
                              1e-4, 1e-5));
}

TEST_F(Mnist75sp, SameSeedSameBitsOnAnyNumberOfThreadsAndFromTheCache) {
  const std::string bits = all_bits(load());
  EXPECT_EQ(all_bits(load()), bits);
  const int before = threads();
  for (const int count : {1, 3}) {
    set_threads(count);
    EXPECT_EQ(all_bits(load()), bits) << count;
  }
  set_threads(before);
  const test::TempFolder cache;
  DataContext context;
  context.root = folder.path();
  context.cache = cache.path();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(all_bits(load_dataset(
                  "mnist75sp", context,
                  {{"train_graphs", "40"}, {"validation_graphs", "15"}, {"test_graphs", "30"}})),
              bits);
  }
}

TEST_F(Mnist75sp, AnotherSeedSplitsAndDisturbsOtherwise) {
  const Task first = load(), second = load({{"dataset_seed", "1"}});
  EXPECT_FALSE(torch::equal(first.training[0].labels.y, second.training[0].labels.y));
  EXPECT_TRUE(torch::equal(first.test[0].graph.edge_weights, second.test[0].graph.edge_weights));
  EXPECT_FALSE(torch::equal(first.test[0].graph.x.dense, second.test[0].graph.x.dense));
}

TEST_F(Mnist75sp, FewerGraphsAreTheFirstOfMore) {
  const Task more = load(), fewer = load({{"train_graphs", "7"}, {"test_graphs", "4"}});
  for (const Role role : {Role::train, Role::test}) {
    const Graph &all = more.domains(role)[0].graph, &some = fewer.domains(role)[0].graph;
    EXPECT_TRUE(torch::equal(all.x.dense.narrow(0, 0, some.nodes()), some.x.dense));
    EXPECT_TRUE(torch::equal(all.parts.narrow(0, 0, some.items() + 1), some.parts));
  }
  EXPECT_TRUE(torch::equal(more.validation[0].graph.x.dense, fewer.validation[0].graph.x.dense));
}

// With all images in use, every one is in exactly one of training and validation.
TEST_F(Mnist75sp, TrainingAndValidationShareNoImage) {
  torch::Tensor labels = torch::arange(60, torch::kInt64).remainder(10);
  const Task task = load({{"train_graphs", "45"}});
  const torch::Tensor both = torch::cat({task.training[0].labels.y, task.validation[0].labels.y});
  EXPECT_TRUE(torch::equal(std::get<0>(both.sort()), std::get<0>(labels.sort())));
}

TEST_F(Mnist75sp, FaultyFilesAreNamed) {
  const auto error = [&] { return test::data_error([&] { load(); }); };
  folder.write(kTrainLabels, idx_bytes(digits(59)));
  EXPECT_THAT(error(), HasSubstr(folder.file(kTrainLabels) + ": 59 labels for 60 images"));
  folder.write(kTrainLabels, idx_bytes(torch::full({60}, 10, torch::kUInt8)));
  EXPECT_THAT(error(), HasSubstr(folder.file(kTrainLabels) + ": label 10, expected 0..9"));
  folder.write(kTrainLabels, idx_bytes(digits(60)));
  folder.write(kTest, idx_bytes(torch::zeros({30, 27, 28}, torch::kUInt8)));
  EXPECT_THAT(error(), HasSubstr(folder.file(kTest) + ": images of 27 x 28 pixels"));
}

TEST_F(Mnist75sp, MoreGraphsThanImagesIsAnError) {
  EXPECT_THAT(test::data_error([&] {
                load({{"train_graphs", "46"}});
              }),
              HasSubstr("60 images, 46 training and 15 validation"));
  EXPECT_THAT(test::data_error([&] {
                load({{"test_graphs", "31"}});
              }),
              HasSubstr("30 images, 31 test graphs"));
}

TEST_F(Mnist75sp, GzippedFilesComeBeforePlainOnes) {
  const std::string bits = all_bits(load());
  folder.write(std::string(kTest) + ".gz", test::gzipped(idx_bytes(rectangles(30, 2))));
  EXPECT_EQ(all_bits(load()), bits);
  folder.write(std::string(kTest) + ".gz", test::gzipped(idx_bytes(rectangles(30, 3))));
  EXPECT_NE(all_bits(load()), bits);
}

// The first real test images, clean: nodes as scikit-image's SLIC gave them, in pixels.
TEST(Mnist75spReal, NodesAreThoseOfTheReference) {
  REAL_DATA_OR_SKIP(root);
  const test::SuperpixelReference reference(root + "/mnist75sp/mnist75sp_test_first2000.bin");
  const int64_t n = 300;
  const torch::Tensor images = io::read_idx(root + "/mnist/t10k-images-idx3-ubyte.gz", 3);
  const test::TempFolder folder;
  write_mnist(folder, rectangles(20, 1), images.narrow(0, 0, n));
  const Task task = load_dataset("mnist75sp", folder.path(),
                                 {{"train_graphs", "10"},
                                  {"validation_graphs", "10"},
                                  {"test_graphs", "300"},
                                  {"noise", "0"}});
  const Graph& set = task.test[0].graph;
  const auto part = set.parts.accessor<int64_t, 1>();
  int64_t same = 0;
  for (int64_t g = 0; g < n; ++g) {
    if (part[g + 1] - part[g] != reference.nodes(g)) continue;
    const torch::Tensor x = set.x.dense.narrow(0, part[g], reference.nodes(g)).clone();
    x.narrow(1, 3, 2).mul_(28);
    const torch::Tensor expected =
        torch::tensor(std::vector<float>(reference.node.begin() + 3 * reference.offset[g],
                                         reference.node.begin() + 3 * reference.offset[g + 1]))
            .reshape({-1, 3});
    same += (x.narrow(1, 2, 3) - expected).abs().max().item<float>() < 2e-5;
  }
  EXPECT_GE(same, 297);
}

}  // namespace
}  // namespace grm
