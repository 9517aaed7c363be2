// What makes LECI: adversaries beside the model, whose gradients are reversed on their way to the
// selection, and the case in which it is ERM.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "small_graph_task.h"

namespace grm::leci_tests {
namespace {

using test::Values;
using torch::Tensor;
using State = std::map<std::string, Tensor>;

double term(const std::vector<LossTerm>& terms, const std::string& name) {
  for (const LossTerm& t : terms) {
    if (t.name == name) return t.value;
  }
  ADD_FAILURE() << name;
  return 0;
}

class Leci : public testing::Test {
 protected:
  // One step per epoch, over all 40 graphs.
  std::unique_ptr<Method> build(Values values) const {
    values.insert(values.begin(), {{"batch", "40"}, {"hidden", "8"}, {"attention_dropout", "0"}});
    return test::build_graph_method("leci", task_, values);
  }
  const Task task_ = test::small_graph_task();
};

TEST_F(Leci, TheTotalIsTheSumOfItsTerms) {
  for (const char* information : {"0", "0.5"}) {
    const auto method = build({{"information", information}, {"feature_adversary", "1"}});
    for (int64_t e = 1; e <= 3; ++e) {
      const std::vector<LossTerm> terms = method->train_epoch(e);
      const double rest =
          information[0] == '0' && information[1] == '\0' ? 0 : 0.5 * term(terms, "information");
      EXPECT_NEAR(terms.front().value,
                  term(terms, "risk") + term(terms, "label_adversary") +
                      term(terms, "environment_adversary") + rest,
                  1e-5);
    }
  }
}

// With attention that is sure of every edge what predicts is ERM's network and trains as it does,
// whatever the adversaries say: no gradient of theirs gets through.
TEST_F(Leci, WithFullAttentionTheRiskIsThatOfErm) {
  const auto method = build({{"label_adversary", "5"}});
  {
    const at::NoGradGuard no_grad;
    for (const auto& [name, tensor] : method->parameters().with_prefix("scorer.linear3")) {
      tensor.fill_(name.find("bias") == name.npos ? 0.0 : 60.0);
    }
  }
  const auto erm = test::build_graph_method("erm", task_, {{"batch", "40"}, {"hidden", "8"}});
  for (int64_t e = 1; e <= 3; ++e) {
    EXPECT_NEAR(term(method->train_epoch(e), "risk"), erm->train_epoch(e).front().value, 1e-4);
  }
}

// The gradient of the selection is that of the risk, less that of the adversaries times their size. In
// the first step sizes are 0; `ramp = 1` makes them whole from the second epoch on, at learning rate 0.
TEST_F(Leci, AdversariesAreReversedOnTheirWayToTheSelection) {
  const auto gradient = [&](const char* label, const char* environment) {
    const auto method = build({{"lr", "0"},
                               {"ramp", "1"},
                               {"label_adversary", label},
                               {"environment_adversary", environment}});
    method->train_epoch(2);
    State all;
    for (const auto& [name, tensor] : method->parameters().parameters()) {
      all[name] = tensor.grad().defined() ? tensor.grad().clone() : torch::zeros_like(tensor);
    }
    return all;
  };
  const State none = gradient("0", "0"), label = gradient("1", "0"), twice = gradient("2", "0"),
              environment = gradient("0", "1"), both = gradient("2", "1");
  bool moved[2] = {false, false};
  for (const auto& [name, tensor] : none) {
    const Tensor by_label = label.at(name) - tensor, by_environment = environment.at(name) - tensor;
    // Linear in the sizes: twice as large, and summed.
    EXPECT_TRUE(torch::allclose(twice.at(name) - tensor, 2 * by_label, 1e-3, 1e-5)) << name;
    EXPECT_TRUE(torch::allclose(both.at(name) - tensor, 2 * by_label + by_environment, 1e-3, 1e-5))
        << name;
    if (name.rfind("encoder", 0) == 0 || name.rfind("head", 0) == 0) {
      EXPECT_TRUE(torch::equal(label.at(name), tensor)) << name;
      EXPECT_TRUE(torch::equal(environment.at(name), tensor)) << name;
    } else {
      moved[0] = moved[0] || by_label.abs().max().item<double>() > 1e-6;
      moved[1] = moved[1] || by_environment.abs().max().item<double>() > 1e-6;
    }
  }
  EXPECT_TRUE(moved[0]);
  EXPECT_TRUE(moved[1]);
}

// A step of the selection along the reversed gradient makes the adversary's loss larger.
TEST_F(Leci, TheSelectionGoesUphillOnTheAdversariesLoss) {
  const auto loss_after = [&](const char* size) {
    const auto method = build({{"lr", "0.003"},
                               {"optimiser", "adam"},
                               {"ramp", "1"},
                               {"environment_adversary", "0"},
                               {"label_adversary", size}});
    const State helpers = method->training_state();
    for (int64_t e = 2; e <= 4; ++e) {
      method->train_epoch(e);
      method->restore_training_state(helpers);  // the adversary stays as it is
    }
    double sum = 0;
    return sum + term(method->train_epoch(5), "label_adversary");
  };
  EXPECT_GT(loss_after("1000"), loss_after("0"));
}

TEST_F(Leci, AdversariesAreNoPartOfTheModel) {
  const auto method = build({{"feature_adversary", "1"}});
  method->train_epoch(1);
  const State helpers = method->training_state();
  EXPECT_EQ(helpers.at("helper.features.head.weight").sizes(), (at::IntArrayRef{8, 3}));
  EXPECT_EQ(helpers.at("helper.label.head.linear1.weight").size(0), 8);
  for (const auto& [name, tensor] : method->parameters().snapshot()) {
    EXPECT_EQ(name.find("environment"), name.npos) << name;
    EXPECT_EQ(name.find("label"), name.npos) << name;
  }
  EXPECT_EQ(method->parameters().snapshot().count("filter.first.weight"), 1u);
  EXPECT_EQ(build({})->parameters().snapshot().count("filter.first.weight"), 0u);
}

}  // namespace
}  // namespace grm::leci_tests
