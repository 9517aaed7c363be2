// What makes ARM-CML: a context of unlabelled nodes that changes the prediction.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "grm/methods/method.h"
#include "methods/arm.h"
#include "small_task.h"

namespace grm {
namespace {

using torch::Tensor;

class ArmModelTest : public testing::TestWithParam<nn::Conv> {
 protected:
  ArmModelTest() {
    options_.conv = GetParam();
    options_.hidden = 6;
    model_ = std::make_unique<ArmModel>(set_, options_, 3, domain_.graph.x.width(), 2);
    // Running statistics of some training passes, so that the normalisation is not the identity.
    nn::Pass pass = nn::Pass::train(Stream(1));
    for (int k = 0; k < 3; ++k) {
      const Tensor rows = model_->context_rows(domain_.graph, pass);
      model_->predict(domain_.graph, model_->shared(domain_.graph), rows[k], pass);
    }
  }
  Tensor predict(const Tensor& context) {
    const at::NoGradGuard no_grad;
    nn::Pass pass = nn::Pass::evaluate();
    return model_->predict(domain_.graph, model_->shared(domain_.graph), context, pass);
  }
  Tensor context_rows() {
    const at::NoGradGuard no_grad;
    nn::Pass pass = nn::Pass::evaluate();
    return model_->context_rows(domain_.graph, pass);
  }
  // A plain GCN with the prediction net's tensors, its first weight cut or not.
  Tensor plain_gcn(const Features& x, const Tensor& first_weight) {
    nn::ParameterSet set(Rng(2), torch::kFloat64);
    const auto gcn = nn::make_backbone(set, "", options_, first_weight.size(0), 2);
    auto tensors = set_.snapshot();
    for (auto it = tensors.begin(); it != tensors.end();) {
      it = it->first.rfind("context.", 0) == 0 ? tensors.erase(it) : std::next(it);
    }
    tensors["conv1.weight"] = first_weight;
    set.restore(tensors);
    const at::NoGradGuard no_grad;
    nn::Pass pass = nn::Pass::evaluate();
    return gcn->forward({domain_.graph.edges, x, {}}, pass).logits;
  }
  static double gap(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

  Domain domain_ = test::small_domain(8, 130);
  nn::BackboneOptions options_;
  nn::ParameterSet set_{Rng(11), torch::kFloat64};
  std::unique_ptr<ArmModel> model_;
};

TEST_P(ArmModelTest, PredictsLikeAGcnOnFeaturesWithTheContextAppended) {
  const Tensor context = torch::tensor({0.5, -1.0, 2.0}, torch::kFloat64);
  Features wide = domain_.graph.x;
  wide.dense = torch::cat(
      {wide.dense, context.to(torch::kFloat32).unsqueeze(0).expand({wide.rows(), 3})}, 1);
  EXPECT_LE(gap(predict(context), plain_gcn(wide, set_.snapshot().at("conv1.weight"))), 1e-12);
}

TEST_P(ArmModelTest, WithoutWeightsOfTheContextItIsAPlainGcn) {
  const int64_t width = domain_.graph.x.width();
  auto tensors = set_.snapshot();
  tensors.at("conv1.weight").narrow(0, width, 3).zero_();
  set_.restore(tensors);
  const Tensor expected =
      plain_gcn(domain_.graph.x, tensors.at("conv1.weight").narrow(0, 0, width).clone());
  EXPECT_LE(gap(predict(torch::full({3}, 5.0, torch::kFloat64)), expected), 1e-6);
}

TEST_P(ArmModelTest, TheContextChangesPredictions) {
  const Tensor zero = torch::zeros({3}, torch::kFloat64);
  EXPECT_GT(gap(predict(zero), predict(zero + 1.0)), 1e-3);
}

TEST_P(ArmModelTest, TheContextDoesNotDependOnTheOrderOfItsNodes) {
  const Tensor rows = context_rows();
  const Tensor nodes = torch::tensor({7, 3, 100, 54, 21}, torch::kInt64);
  const Tensor context = ArmModel::context_of_batch(rows, nodes);
  EXPECT_LE(gap(context, ArmModel::context_of_batch(rows, nodes.flip(0))), 1e-14);
  EXPECT_LE(gap(predict(context), predict(ArmModel::context_of_batch(rows, nodes.flip(0)))), 1e-12);
  EXPECT_GT(gap(context, ArmModel::context_of_batch(rows, nodes + 1)), 1e-4);
}

TEST_P(ArmModelTest, PredictEachEqualsOnePassPerContext) {
  const int64_t n = domain_.graph.nodes();
  const Tensor contexts = context_rows().narrow(0, 0, 7) * 3.0;
  const Tensor context_of = torch::arange(n).remainder(7);
  const Tensor nodes = torch::arange(n).flip(0).contiguous();
  const Tensor got = model_->predict_each(domain_.graph, model_->shared(domain_.graph).detach(),
                                          contexts, context_of, nodes);
  for (int64_t b = 0; b < 7; ++b) {
    const Tensor all = predict(contexts[b]);
    for (int64_t k = 0; k < n; ++k) {
      if (nodes[k].item<int64_t>() % 7 != b) continue;
      EXPECT_LE(gap(got[k], all[n - 1 - k]), 1e-12) << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Convolutions, ArmModelTest, testing::Values(nn::Conv::kipf, nn::Conv::sum),
                         [](const auto& each) { return to_string(each.param); });

class ArmMethodTest : public testing::Test {
 protected:
  std::unique_ptr<Method> build(
      const std::vector<std::pair<std::string, std::string>>& values) const {
    MethodChoice choice("arm", "fast");
    for (const auto& [key, value] : values) choice.options().set("method", key, value);
    return choice.build(task_.train_view(), Rng(4));
  }
  Task task_ = test::small_task();
};

TEST_F(ArmMethodTest, BatchedPredictionEqualsRunningEachBatchByItself) {
  const std::unique_ptr<Method> method = build({{"inference", "batched"}, {"support", "7"}});
  for (int64_t e = 1; e <= 3; ++e) method->train_epoch(e);
  const Graph& graph = task_.test[0].graph;
  const Tensor nodes = torch::tensor({4, 0, 19, 11, 6, 7}, torch::kInt64);
  const Tensor got = method->logits(graph, nodes);
  nn::ParameterSet set(Rng(0));
  ArmModel model(set, {}, 3, graph.x.width(), 2);
  set.restore(method->parameters().snapshot());
  const at::NoGradGuard no_grad;
  nn::Pass pass = nn::Pass::evaluate();
  const Tensor order = torch::tensor(Rng(4).stream("inference").choose(20, 20), torch::kInt64);
  int64_t seen = 0;
  for (const Tensor& batch : order.split(7)) {  // 7, 7 and 6 nodes
    const Tensor context = model.context_rows(graph, pass).index_select(0, batch).mean(0);
    const Tensor logits = model.predict(graph, model.shared(graph), context, pass);
    for (int64_t k = 0; k < nodes.numel(); ++k) {
      if (!batch.eq(nodes[k]).any().item<bool>()) continue;
      const Tensor expected = logits[nodes[k].item<int64_t>()];
      EXPECT_LE((got[k] - expected).abs().max().item<double>(), 1e-5);
      ++seen;
    }
  }
  EXPECT_EQ(seen, nodes.numel());
}

TEST_F(ArmMethodTest, OneBatchOfAllNodesMakesBothInferencesEqual) {
  const std::unique_ptr<Method> one = build({}), batched = build({{"inference", "batched"}});
  const Domain& domain = task_.test[0];  // 20 nodes, fewer than the 50 of a batch
  EXPECT_LE((one->logits(domain.graph, domain.labels.evaluate) -
             batched->logits(domain.graph, domain.labels.evaluate))
                .abs()
                .max()
                .item<double>(),
            1e-5);
}

TEST_F(ArmMethodTest, GradientsFlowThroughTheContext) {
  const std::unique_ptr<Method> method = build({{"support", "5"}});
  method->train_epoch(1);
  for (const auto& [name, parameter] : method->parameters().with_prefix("context.")) {
    if (name == "context.conv1.bias") continue;  // cancelled by the normalisation
    EXPECT_GT(parameter.grad().abs().max().item<double>(), 0.0) << name;
  }
}

TEST_F(ArmMethodTest, AnEpochCoversTheLabelledNodesUpToTheCap) {
  const auto steps = [&](const std::string& cap) {
    const std::unique_ptr<Method> method =
        build({{"support", "4"}, {"batches", "2"}, {"steps_cap", cap}});
    method->train_epoch(1);
    return method->optimisers()[0]->state().at("conv2.weight.steps").item<int64_t>();
  };
  EXPECT_EQ(steps("20"), 4);  // 30 labelled nodes in steps of 8
  EXPECT_EQ(steps("3"), 3);
}

TEST_F(ArmMethodTest, TrainsOnSeveralDomains) {
  task_.training.push_back(test::small_domain(5, 30, "e"));
  const std::unique_ptr<Method> method = build({{"support", "10"}});
  const double first = method->train_epoch(1).front().value;
  double last = first;
  for (int64_t e = 2; e <= 30; ++e) last = method->train_epoch(e).front().value;
  EXPECT_LT(last, first);
}

}  // namespace
}  // namespace grm
