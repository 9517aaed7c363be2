// Explanation figures against counts by hand and against all pairs of a true and another edge.
#include "train/explain.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "grm/core/rng.h"
#include "methods/small_graph_task.h"
#include "support/expect_error.h"

namespace grm::explain_tests {
namespace {

torch::Tensor ints(const std::vector<int64_t>& v) {
  return torch::tensor(v, torch::kInt64);
}

// Two graphs: 0-1-2 with the edge 2 -> 0 in one direction only and a self-loop on 1; and 3-4.
GraphBatch two_graphs() {
  Graph set;
  set.parts = ints({0, 3, 5});
  set.edges = make_adjacency(5, 5, ints({0, 1, 1, 2, 2, 1, 3, 4}), ints({1, 0, 2, 1, 0, 1, 4, 3}));
  return pick_graphs(set, ints({0, 1}));
}

TEST(Explain, BothDirectionsAreOnePairWithTheMeanScore) {
  const GraphBatch batch = two_graphs();
  // Edge order is by target, then source: 1->0 2->0 | 0->1 1->1 2->1 | 1->2 | 4->3 | 3->4.
  const torch::Tensor scores =
      torch::tensor({0.1, 0.2, 0.5, 0.7, 0.9, 0.3, 0.25, 0.75}, torch::kFloat64);
  const torch::Tensor truth = torch::tensor({1, 0, 1, 0, 0, 0, 0, 1}, torch::kUInt8);
  const ScoredPairs pairs = tie_directions(batch, scores, truth);
  // {0,2} alone, then {0,1}, {1}, {1,2}, then {3,4}; by row of the larger end.
  EXPECT_TRUE(torch::equal(pairs.offsets, ints({0, 4, 5})));
  EXPECT_TRUE(
      torch::allclose(pairs.scores, torch::tensor({0.2, 0.3, 0.7, 0.6, 0.5}, torch::kFloat64)));
  EXPECT_TRUE(torch::equal(pairs.truth, ints({0, 1, 0, 0, 1})));
}

TEST(Explain, FiguresOfAHandExample) {
  // Graph 1: truths 0.9 and 0.2 among 0.9 0.5 0.5 0.2; of 4 (true, other) comparisons 2 are won.
  // The two highest are 0.9 (true) and one of the 0.5 (other): precision 1/2.
  // Graph 2: all pairs true, precision 1, no AUC. Graph 3: no true pair, left out.
  // Graph 4: truth 0.5 among 0.5 0.5 0.5 1.0: k = 1 takes the 1.0, precision 0, AUC (0.5+0.5)/3.
  ScoredPairs pairs;
  pairs.scores = torch::tensor({0.9, 0.5, 0.5, 0.2, 0.4, 0.3, 0.5, 0.5, 0.5, 1.0}, torch::kFloat64);
  pairs.truth = ints({1, 0, 0, 1, 1, 0, 1, 0, 0, 0});
  pairs.offsets = ints({0, 4, 5, 6, 10});
  const Explanation e = score_pairs(pairs);
  EXPECT_EQ(e.graphs, 3);
  EXPECT_DOUBLE_EQ(e.precision, 100.0 * (0.5 + 1 + 0) / 3);
  EXPECT_NEAR(e.graph_auc, 100.0 * (0.5 + 1.0 / 3) / 2, 1e-12);
}

TEST(Explain, TiesAtTheBorderCountByTheirShare) {
  // k = 2: 0.9 (other) is in, then one of three tied pairs, two of them true: (0 + 2/3) / 2.
  ScoredPairs pairs;
  pairs.scores = torch::tensor({0.9, 0.4, 0.4, 0.4, 0.1}, torch::kFloat64);
  pairs.truth = ints({0, 1, 0, 1, 0});
  pairs.offsets = ints({0, 5});
  EXPECT_NEAR(score_pairs(pairs).precision, 100.0 / 3, 1e-12);
  // Constant scores know nothing: precision is the share of true pairs, AUC one half.
  pairs.scores = torch::ones({5}, torch::kFloat64);
  EXPECT_NEAR(score_pairs(pairs).precision, 40.0, 1e-12);
  EXPECT_NEAR(score_pairs(pairs).auc, 50.0, 1e-12);
  EXPECT_NEAR(score_pairs(pairs).graph_auc, 50.0, 1e-12);
}

TEST(Explain, PooledAucComparesEveryTruePairWithEveryOther) {
  ScoredPairs pairs;
  Stream draw(7);
  std::vector<double> scores;
  std::vector<int64_t> truth;
  for (int k = 0; k < 60; ++k) {
    scores.push_back(static_cast<double>(draw.below(12)));
    truth.push_back(static_cast<int64_t>(draw.below(3) == 0));
  }
  double won = 0, all = 0;
  for (int a = 0; a < 60; ++a) {
    for (int b = 0; b < 60; ++b) {
      if (truth[a] != 1 || truth[b] != 0) continue;
      all += 1;
      won += scores[a] > scores[b] ? 1.0 : scores[a] == scores[b] ? 0.5 : 0.0;
    }
  }
  pairs.scores = torch::tensor(scores, torch::kFloat64);
  pairs.truth = ints(truth);
  pairs.offsets = ints({0, 20, 60});
  EXPECT_NEAR(score_pairs(pairs).auc, 100.0 * won / all, 1e-9);
}

// Scores that are given: the truth itself, its opposite, or nothing.
class GivenScores final : public Method {
 public:
  GivenScores(const Domain& domain, double sign) : domain_(domain), sign_(sign), set_(Rng(1)) {}
  std::vector<LossTerm> train_epoch(int64_t) override { return {}; }
  torch::Tensor logits(const Graph&, const torch::Tensor&) override { return {}; }
  torch::Tensor edge_scores(const Graph& set, const torch::Tensor& items) override {
    if (sign_ == 0) return {};
    const GraphBatch batch = pick_graphs(set, items);
    return sign_ * domain_.labels.edge_truth.index_select(0, batch.edge_ids).to(torch::kFloat32);
  }
  nn::ParameterSet& parameters() override { return set_; }
  std::vector<nn::Adam*> optimisers() override { return {}; }

 private:
  const Domain& domain_;
  double sign_;
  nn::ParameterSet set_;
};

TEST(Explain, TheTruthScores100ItsOpposite0AndNoScoresNothing) {
  Task task = test::small_graph_task();
  task.test[0].labels.evaluate = ints({1, 3, 8, 15});
  GivenScores right(task.test[0], 1), wrong(task.test[0], -1), none(task.test[0], 0);
  const std::vector<Explanation> found = explanations(right, task, Role::test);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].domain, "c");
  EXPECT_EQ(found[0].graphs, 4);
  EXPECT_DOUBLE_EQ(found[0].auc, 100);
  EXPECT_DOUBLE_EQ(found[0].graph_auc, 100);
  EXPECT_DOUBLE_EQ(found[0].precision, 100);
  EXPECT_DOUBLE_EQ(explanations(wrong, task, Role::test)[0].auc, 0);
  EXPECT_TRUE(explanations(none, task, Role::test).empty());
  task.test[0].labels.edge_truth = torch::Tensor();
  EXPECT_TRUE(explanations(right, task, Role::test).empty());
}

}  // namespace
}  // namespace grm::explain_tests
