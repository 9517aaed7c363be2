#include "nn/own_network.h"

#include <gmock/gmock.h>

#include "checks.h"
#include "grm/nn/adam.h"
#include "support/expect_error.h"

namespace grm::nn::own_network_tests {
namespace {

/// y = x w, with a tensor that belongs to somebody else.
class Linear final : public Backbone {
 public:
  explicit Linear(torch::Tensor w) : w_(std::move(w)) {}
  BackboneOutput forward(const BackboneInput& input, Pass& /*pass*/) override {
    return {{}, input.x.to_dense().matmul(w_)};
  }

 private:
  torch::Tensor w_;
};

BackboneOptions own() {
  BackboneOptions options;
  options.backbone = BackboneKind::own;
  return options;
}

TEST(OwnNetwork, ItsTensorsAreTheOnesThatAreTrainedAndSaved) {
  const torch::Tensor w = torch::ones({2, 3}).set_requires_grad(true);
  ParameterSet set(Rng(1));
  std::unique_ptr<Backbone> network;
  {
    const OwnNetworkScope scope([&](ParameterSet& into, const std::string& prefix, int64_t features,
                                    int64_t outputs) -> std::unique_ptr<Backbone> {
      EXPECT_EQ(features, 2);
      EXPECT_EQ(outputs, 3);
      into.adopt(prefix + ".w", w, true);
      return std::make_unique<Linear>(w);
    });
    network = make_backbone(set, "b", own(), 2, 3);
  }
  ASSERT_EQ(set.parameters().size(), 1u);
  EXPECT_EQ(set.parameters()[0].first, "b.own.w");
  EXPECT_TRUE(set.parameters()[0].second.is_same(w));
  Adam adam(set, 0.5, 0.0, false);
  Features x;
  x.dense = torch::ones({4, 2});
  const AdjacencyPtr edges = make_adjacency(4, 4, empty_indices(0), empty_indices(0));
  Pass pass = Pass::evaluate();
  network->forward({edges, x, {}, nullptr}, pass).logits.sum().backward();
  adam.step();  // the first step of Adam is the learning rate against the sign of the gradient
  EXPECT_TRUE(torch::allclose(w.detach(), torch::full({2, 3}, 0.5)));
  set.restore({{"b.own.w", torch::full({2, 3}, 7.0)}});
  EXPECT_EQ(w[1][2].item<float>(), 7.0f);
}

TEST(OwnNetwork, WithoutOneTheMessageSaysWhoseItIs) {
  ParameterSet set(Rng(1));
  const std::string message =
      test::error_of(ErrorKind::config, [&] { make_backbone(set, "", own(), 2, 3); });
  EXPECT_THAT(message, testing::HasSubstr("backbone=net"));
}

TEST(OwnNetwork, TensorsThatOptimisersCannotUseAreRefused) {
  ParameterSet set(Rng(1));
  test::error_of(ErrorKind::shape, [&] {
    set.adopt("a", torch::ones({2, 2}).to(torch::kFloat64), true);
  });
  test::error_of(ErrorKind::shape, [&] { set.adopt("a", torch::ones({2, 3}).t(), true); });
  set.adopt("a", torch::ones({2}), false);
  EXPECT_EQ(set.count(), 0);
  EXPECT_EQ(set.buffers().size(), 1u);
}

}  // namespace
}  // namespace grm::nn::own_network_tests
