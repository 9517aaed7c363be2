// Names of items and domains, and agreement between explanations against counts by hand.
#include "grm/train/explain_runs.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "support/expect_error.h"

namespace grm {
namespace {

using testing::HasSubstr;

Domain named(const std::string& name, const std::vector<std::string>& items) {
  const torch::Tensor none = torch::empty({0}, torch::kInt64);
  const auto n = static_cast<int64_t>(items.size());
  Graph graph;
  graph.edges = make_adjacency(n, n, none, none);
  graph.x.dense = torch::ones({n, 1});
  Domain domain = make_domain(graph, torch::zeros({n}, torch::kInt64));
  domain.name = name;
  domain.item_names = items;
  return domain;
}

TEST(ExplainRuns, AnItemIsFoundByNameThenByIndex) {
  const Domain domain = named("may", {"x", "2", "account-4711"});
  EXPECT_EQ(find_item(domain, "account-4711"), 2);
  EXPECT_EQ(find_item(domain, "2"), 1);  // a name that looks like an index is the name
  EXPECT_EQ(find_item(domain, "0"), 0);
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { find_item(domain, "acount-4711"); }),
              HasSubstr("no node of may is called that (did you mean 'account-4711'?); or give its "
                        "index, 0 .. 2"));
  Domain unnamed = domain;
  unnamed.item_names.clear();
  for (const char* wrong : {"3", "-1", "1x", "", "99999999999999999999"}) {
    EXPECT_THAT(test::error_of(ErrorKind::config, [&] { find_item(unnamed, wrong); }),
                HasSubstr("the nodes of may are 0 .. 2"))
        << wrong;
  }
}

TEST(ExplainRuns, ADomainIsFoundByItsNameOrByTheNameOfTheItem) {
  const std::vector<Domain> domains = {named("may", {"a", "b"}), named("june", {"c"})};
  EXPECT_EQ(find_domain(domains, "june", "0").name, "june");
  EXPECT_EQ(find_domain(domains, "", "c").name, "june");
  EXPECT_EQ(find_domain(domains, "", "0").name, "may");
  EXPECT_THAT(test::error_of(ErrorKind::config, [&] { find_domain(domains, "jun", "0"); }),
              HasSubstr("did you mean 'june'?); it has may, june"));
}

TEST(ExplainRuns, PresencesAgreeOverSeedsOnTheNodesThatAllHave) {
  const auto run = [](const std::vector<int64_t>& ids, const std::vector<double>& presence) {
    ItemExplanation e;
    for (size_t k = 0; k < ids.size(); ++k) {
      ExplainedNode node;
      node.id = ids[k];
      node.presence = presence[k];
      e.nodes.push_back(node);
    }
    e.presence_samples = {presence};
    return e;
  };
  const Stability s = presence_agreement(
      {run({1, 2, 3, 4, 9}, {0.9, 0.8, 0.2, 0.1, 0.5}), run({4, 3, 2, 1}, {0.3, 0.2, 0.6, 0.7})},
      2);
  EXPECT_EQ(s.over, "seeds");
  EXPECT_EQ(s.edges, 4);
  EXPECT_DOUBLE_EQ(s.jaccard, 1.0);
  EXPECT_DOUBLE_EQ(s.spearman, 0.8);  // ranks 4 3 2 1 and 4 3 1 2: 1 - 6 * 2 / 60
  EXPECT_EQ(presence_agreement({ItemExplanation()}, 2).members, 0);
}

TEST(ExplainRuns, RankCorrelationOfHandExamples) {
  // The example of scipy.stats.spearmanr, whose documentation gives 0.82078.
  EXPECT_NEAR(spearman({1, 2, 3, 4, 5}, {5, 6, 7, 8, 7}), 0.82078268, 1e-8);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3}, {10, 100, 1000}), 1.0);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3}, {0, -1, -2}), -1.0);
  // Ranks 1 2.5 2.5 4 and 1 2 3 4: covariance 4.5 over sqrt(4.5 * 5).
  EXPECT_NEAR(spearman({1, 2, 2, 3}, {1, 2, 3, 4}), 4.5 / std::sqrt(22.5), 1e-15);
  EXPECT_TRUE(std::isnan(spearman({1, 1, 1}, {1, 2, 3})));
  EXPECT_TRUE(std::isnan(spearman({1}, {1})));
}

TEST(ExplainRuns, SharedPartOfTheTopOfHandExamples) {
  EXPECT_DOUBLE_EQ(top_jaccard({9, 8, 1, 0}, {8, 9, 0, 1}, 2), 1.0);
  EXPECT_DOUBLE_EQ(top_jaccard({9, 8, 1, 0}, {9, 1, 8, 0}, 2), 1.0 / 3);
  EXPECT_DOUBLE_EQ(top_jaccard({9, 8, 1, 0}, {0, 1, 8, 9}, 2), 0.0);
  EXPECT_DOUBLE_EQ(top_jaccard({5, 5, 5}, {5, 5, 5}, 1), 1.0);
}

ItemExplanation given(const std::vector<int64_t>& ids,
                      const std::vector<std::tuple<int64_t, int64_t, double>>& edges) {
  ItemExplanation e;
  for (const int64_t id : ids) {
    ExplainedNode node;
    node.id = id;
    e.nodes.push_back(node);
  }
  for (const auto& [source, target, weight] : edges) {
    ExplainedEdge edge;
    edge.source = source;
    edge.target = target;
    edge.weight = weight;
    e.edges.push_back(edge);
  }
  return e;
}

TEST(ExplainRuns, SeedsAreComparedOnTheEdgesThatAllOfThemHave) {
  // Rows differ between the runs; node 9 is in the first ego-net only.
  const ItemExplanation a = given({5, 1, 2, 9}, {{0, 1, .9}, {0, 2, .8}, {1, 2, .1}, {0, 3, .99}});
  const ItemExplanation b = given({5, 2, 1}, {{0, 1, .7}, {0, 2, .6}, {1, 2, .2}});
  const Stability s = agreement({a, b}, 10);
  EXPECT_EQ(s.over, "seeds");
  EXPECT_EQ(s.members, 2);
  EXPECT_EQ(s.edges, 3);
  EXPECT_EQ(s.top, 1);  // at most half of the edges
  // 5-1 5-2 1-2: ranks 1 2 3 against 2 1 3, correlation 0.5; the tops are 5-1 and 5-2.
  EXPECT_DOUBLE_EQ(s.spearman, 0.5);
  EXPECT_DOUBLE_EQ(s.jaccard, 0.0);
}

TEST(ExplainRuns, OneRunIsComparedOverItsSamples) {
  ItemExplanation e = given({0, 1, 2}, {{0, 1, 0}, {0, 2, 0}, {1, 2, 0}});
  e.samples = {{1, 2, 3}, {1, 2, 3}, {1, 3, 2}};
  const Stability s = agreement({e}, 1);
  EXPECT_EQ(s.over, "samples");
  EXPECT_EQ(s.members, 3);
  EXPECT_NEAR(s.spearman, (1 + 0.5 + 0.5) / 3, 1e-15);
  EXPECT_NEAR(s.jaccard, 1.0 / 3, 1e-15);
  e.samples = {{1, 2, 3}, {1, 2, 3}, {7, 7, 7}};  // one that tells no edges apart
  EXPECT_DOUBLE_EQ(agreement({e}, 1).spearman, 1.0);
  e.samples = {{1, 1, 1}, {1, 1, 1}};
  EXPECT_TRUE(std::isnan(agreement({e}, 1).jaccard));
  e.samples.resize(1);
  EXPECT_TRUE(std::isnan(agreement({e}, 1).spearman));
}

}  // namespace
}  // namespace grm
