#include <torch/nn.h>
#include <torch/optim.h>

#include <torch/types.h>

#include "data/describe.h"
#include "data/helpers.h"

namespace grm {
namespace {

using test::load_dataset;

TEST(Sbm, NeedsNoFile) {
  EXPECT_TRUE(DatasetChoice("sbm").files().empty());
  EXPECT_NO_THROW(load_dataset("sbm", ""));
}

TEST(Sbm, DefaultHasTenDomainsOfOneGraph) {
  const Task task = load_dataset("sbm", "");
  EXPECT_EQ(task.training[0].name, "domain0");
  EXPECT_EQ(task.validation[0].name, "domain1");
  ASSERT_EQ(task.test.size(), 8u);
  EXPECT_EQ(task.test[0].name, "T1");
  EXPECT_EQ(task.test[7].name, "T8");
  EXPECT_EQ(task.metric, MetricKind::accuracy);
  EXPECT_EQ(task.loss, LossKind::softmax);
  const DomainSummary summary = describe(task)[0];
  EXPECT_EQ(summary.nodes, 1500);
  EXPECT_EQ(summary.self_loops, 0);
  EXPECT_NEAR(summary.mean_degree, 8, 1e-9);
  EXPECT_TRUE(test::is_symmetric(*task.training[0].graph.edges));
}

TEST(Sbm, DefaultLabelsAreNotDegenerate) {
  const DomainSummary summary = describe(load_dataset("sbm", ""))[0];
  EXPECT_LT(summary.majority_share, 0.6);
  int64_t classes = 0;
  for (const int64_t count : summary.labels) classes += count > 5;
  EXPECT_GE(classes, 4);
}

TEST(Sbm, DegreesAreHeavyTailed) {
  const Task task = load_dataset("sbm", "");
  const torch::Tensor degree = task.training[0].graph.edges->in.offsets.diff();
  // A Poisson degree of mean 8 has its maximum over 1500 nodes near 20.
  EXPECT_GT(degree.max().item<int64_t>(), 40);
}

TEST(Sbm, NeighboursShareMoreWordsThanStrangers) {
  const Task task = load_dataset("sbm", "");
  const Graph& graph = task.training[0].graph;
  const torch::Tensor words = graph.x.to_dense().narrow(1, 0, graph.x.sparse_width());
  EXPECT_EQ(words.ne(0).sum().item<int64_t>(), words.sum().item<int64_t>()) << "words are 0/1";
  const auto [source, target] = edge_list(*graph.edges);
  const double near =
      (words.index_select(0, source) * words.index_select(0, target)).sum(1).mean().item<double>();
  const double anyone =
      (words.sum(0).pow(2).sum() / (double(graph.nodes()) * graph.nodes())).item<double>();
  EXPECT_GT(near, 1.2 * anyone);
}

TEST(Sbm, SameSeedSameDataAnotherSeedOtherData) {
  const std::string zero = fingerprint(load_dataset("sbm", ""));
  EXPECT_EQ(fingerprint(load_dataset("sbm", "", {{"dataset_seed", "0"}})), zero);
  EXPECT_NE(fingerprint(load_dataset("sbm", "", {{"dataset_seed", "1"}})), zero);
  EXPECT_NE(fingerprint(load_dataset("sbm", "", {{"generator", "sgc"}})), zero);
}

TEST(Sbm, OptionsSetTheSizes) {
  const Task task = load_dataset("sbm", "",
                                 {{"nodes", "300"},
                                  {"blocks", "3"},
                                  {"mean_degree", "4"},
                                  {"words", "80"},
                                  {"words_per_node", "5"}});
  const DomainSummary summary = describe(task)[0];
  EXPECT_EQ(summary.nodes, 300);
  EXPECT_NEAR(summary.mean_degree, 4, 1e-9);
  EXPECT_EQ(summary.features, 90);
  EXPECT_LE(summary.feature_nonzeros, 300 * (5 + 10));
}

TEST(Sbm, EverySizeDownToTheSmallestLoads) {
  for (const char* nodes : {"20", "21", "50"}) {
    EXPECT_NO_THROW(load_dataset("sbm", "", {{"nodes", nodes}, {"blocks", "50"}})) << nodes;
  }
}

// A plain two-layer GCN with full matrices, trained on half of the nodes of the first domain.
TEST(Sbm, TwoLayerGcnLearnsTheLabelsFarBeyondTheMajority) {
  torch::manual_seed(0);
  const Task task = load_dataset("sbm", "", {{"nodes", "500"}});
  const Domain& domain = task.training[0];
  const int64_t n = domain.graph.nodes();
  Features pattern;
  pattern.sparse = with_self_loops(*domain.graph.edges);
  const torch::Tensor a = pattern.to_dense();
  const torch::Tensor scale = a.sum(1).rsqrt();
  const torch::Tensor p = scale.unsqueeze(1) * a * scale.unsqueeze(0);
  const torch::Tensor px = p.matmul(domain.graph.x.to_dense());
  torch::nn::Linear first(px.size(1), 32), second(32, task.classes);
  std::vector<torch::Tensor> parameters = first->parameters();
  for (const torch::Tensor& parameter : second->parameters()) parameters.push_back(parameter);
  torch::optim::Adam adam(parameters, torch::optim::AdamOptions(0.02));
  const torch::Tensor even = torch::arange(0, n, 2), odd = torch::arange(1, n, 2);
  torch::Tensor logits;
  for (int epoch = 0; epoch < 100; ++epoch) {
    logits = p.matmul(second(torch::relu(first(px))));
    const torch::Tensor loss = torch::cross_entropy_loss(logits.index_select(0, even),
                                                         domain.labels.y.index_select(0, even));
    adam.zero_grad();
    loss.backward();
    adam.step();
  }
  const torch::Tensor right = logits.argmax(1).eq(domain.labels.y).index_select(0, odd);
  const double accuracy = right.to(torch::kFloat64).mean().item<double>();
  EXPECT_GT(accuracy, describe(task)[0].majority_share + 0.25);
}

}  // namespace
}  // namespace grm
