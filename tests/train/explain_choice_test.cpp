// Which items a report explains: those that are worth a look, for a reason that is said.
#include "train/explain_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

namespace grm {
namespace {

using testing::HasSubstr;

// Logits by hand.
class Given final : public Method {
 public:
  explicit Given(const torch::Tensor& logits) : set_(Rng(1)), logits_(logits) {}
  std::vector<LossTerm> train_epoch(int64_t) override { return {}; }
  torch::Tensor logits(const Graph&, const torch::Tensor& items) override {
    return logits_.index_select(0, items);
  }
  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {}; }

 private:
  nn::ParameterSet set_;
  torch::Tensor logits_;
};

Domain domain_of(const std::vector<int64_t>& y) {
  Domain domain;
  domain.labels.y = torch::tensor(y, torch::kInt64);
  return domain;
}

// Item: logit of class 1 against class 0.
torch::Tensor margins(const std::vector<float>& m) {
  const torch::Tensor one = torch::tensor(m);
  return torch::stack({torch::zeros_like(one), one}, 1);
}

std::vector<int64_t> ids(const std::vector<ChosenItem>& chosen) {
  std::vector<int64_t> list;
  for (const ChosenItem& c : chosen) list.push_back(c.item);
  return list;
}

TEST(Trust04Choice, TakesErrorsTheRarestClassDoubtAndContrastInTurn) {
  //                      0     1     2     3     4     5     6     7
  Given method(margins({-1.0, -2.0, 3.0, 1.5, -0.1, -4.0, 2.0, -3.0}));
  // Wrong: 2 (surest) and 3. Class 1 is the rarest: 6 alone is right there, 4 is wrong.
  const Domain domain = domain_of({0, 0, 0, 0, 1, 0, 1, 0});
  const std::vector<int64_t> all = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<ChosenItem> four =
      items_worth_a_look(method, domain, all, 4, 1.0, {"licit", "illicit"});
  EXPECT_EQ(ids(four), (std::vector<int64_t>{2, 6, 4, 5}));
  EXPECT_THAT(four[0].why, HasSubstr("wrong: its probability is the highest of 3 errors"));
  EXPECT_THAT(four[1].why, HasSubstr("true class illicit, the rarest: 2 of 8 items"));
  EXPECT_THAT(four[2].why, HasSubstr("entropy of 0.69 is the highest of 8 items"));
  EXPECT_THAT(four[3].why, HasSubstr("contrast: its probability is the highest"));
  // No item twice, and no more than there are.
  const std::vector<int64_t> every = ids(items_worth_a_look(method, domain, all, 20, 1.0, {}));
  EXPECT_THAT(every, testing::UnorderedElementsAreArray(all));
  EXPECT_EQ(every[4], 3);  // the second error
  // Only candidates are taken.
  EXPECT_THAT(ids(items_worth_a_look(method, domain, {0, 7}, 5, 1.0, {})),
              testing::UnorderedElementsAre(0, 7));
}

TEST(Trust04Choice, WithoutLabelsDoubtAndContrast) {
  Given method(margins({-1.0, 0.1, 3.0}));
  const Domain unknown = domain_of({-1, -1, -1});
  EXPECT_EQ(ids(items_worth_a_look(method, unknown, {0, 1, 2}, 2, 1.0, {})),
            (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(items_worth_a_look(method, unknown, {}, 2, 1.0, {}).empty());
}

}  // namespace
}  // namespace grm
