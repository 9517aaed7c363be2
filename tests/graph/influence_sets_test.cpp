#include <gtest/gtest.h>

#include "graph/influence.h"
#include "graph/naive_influence.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;
using test::members_of;

AdjacencyPtr some_graph(uint64_t key = 1) {
  Stream draws(key);
  std::vector<int64_t> source, target;
  for (int64_t k = 0; k < 300; ++k) {
    source.push_back(static_cast<int64_t>(draws.below(100)));
    target.push_back(static_cast<int64_t>(draws.below(100)));
  }
  return make_adjacency(100, 100, torch::tensor(source), torch::tensor(target));
}

InfluenceSets some_sets(bool sampled) {
  InfluenceRule rule;
  rule.sampled = sampled;
  rule.members = 9;
  return influence_sets(*some_graph(), rule);
}

TEST(InfluenceSets, RowsListTheAskedSetsInOrderWithTheirTranspose) {
  for (const bool sampled : {false, true}) {
    const InfluenceSets sets = some_sets(sampled);
    const std::vector<int64_t> wanted = {5, 99, 0, 5, 63, 64};
    const AdjacencyPtr rows = sets.rows(torch::tensor(wanted));
    ASSERT_EQ(rows->rows(), 6);
    ASSERT_EQ(rows->cols(), 100);
    for (size_t k = 0; k < wanted.size(); ++k) {
      const std::vector<int64_t> listed(rows->in.index() + rows->in.offset()[k],
                                        rows->in.index() + rows->in.offset()[k + 1]);
      const std::set<int64_t> expected = members_of(sets, wanted[k]);
      EXPECT_EQ(listed, std::vector<int64_t>(expected.begin(), expected.end()));
    }
    const auto [source, target] = edge_list(*rows);
    const AdjacencyPtr again = make_adjacency(6, 100, source, target);
    EXPECT_TRUE(torch::equal(rows->out.indices, again->out.indices));
    EXPECT_TRUE(torch::equal(rows->out_edge, again->out_edge));
    EXPECT_EQ(sets.rows(torch::empty({0}, torch::kInt64))->nnz(), 0);
    EXPECT_THROW(sets.rows(torch::tensor({int64_t{100}})), Error);
  }
}

TEST(InfluenceSets, MeanSizeIsTheMeanOfTheSizes) {
  for (const bool sampled : {false, true}) {
    const InfluenceSets sets = some_sets(sampled);
    double total = 0.0;
    for (int64_t i = 0; i < 100; ++i) total += static_cast<double>(members_of(sets, i).size());
    EXPECT_DOUBLE_EQ(sets.mean_size(), total / 100.0);
  }
}

TEST(InfluenceSets, SurviveTheWayThroughTensors) {
  for (const bool sampled : {false, true}) {
    const InfluenceSets sets = some_sets(sampled);
    const InfluenceSets again = InfluenceSets::from_tensors(sets.to_tensors());
    EXPECT_EQ(again.exact(), !sampled);
    ASSERT_EQ(again.nodes, sets.nodes);
    for (int64_t i = 0; i < sets.nodes; ++i) EXPECT_EQ(members_of(again, i), members_of(sets, i));
    if (sampled) {
      EXPECT_TRUE(torch::equal(again.sparse->out_edge, sets.sparse->out_edge));
    }
  }
}

TEST(InfluenceSets, RefuseTensorsThatAreNoSets) {
  const Tensors exact = some_sets(false).to_tensors(), sampled = some_sets(true).to_tensors();
  std::vector<Tensors> wrong = {{}};
  const auto change = [&](const Tensors& from, const std::string& name, auto edit) {
    wrong.push_back(from);
    wrong.back()[name] = edit(wrong.back()[name].clone());
  };
  using Tensor = torch::Tensor;
  change(exact, "bits", [](Tensor t) { return t.to(torch::kInt32); });
  change(exact, "bits", [](Tensor t) { return t.slice(1, 0, 1); });
  change(exact, "bits", [](Tensor t) { return t.flatten(); });
  change(exact, "bits", [](Tensor t) { return t[3].zero_(), t; });
  change(exact, "bits", [](Tensor t) { return t[3][1] = -1, t; });
  change(sampled, "offsets", [](Tensor t) { return t.to(torch::kInt32); });
  change(sampled, "offsets", [](Tensor t) { return t.slice(0, 0, 50); });
  change(sampled, "offsets", [](Tensor t) { return t[2] = t[1], t; });
  change(sampled, "offsets", [](Tensor t) { return t[2] = int64_t{1} << 40, t; });
  change(sampled, "offsets", [](Tensor t) { return t.slice(0, 0, 0); });
  change(sampled, "indices", [](Tensor t) { return t[0] = -1, t; });
  change(sampled, "indices", [](Tensor t) { return t[-1] = 100, t; });
  change(sampled, "indices", [](Tensor t) { return t.flip(0); });
  change(sampled, "indices", [](Tensor t) { return t.to(torch::kInt64); });
  wrong.push_back(sampled);
  wrong.back().erase("indices");
  for (size_t k = 0; k < wrong.size(); ++k) {
    try {
      InfluenceSets::from_tensors(wrong[k]);
      ADD_FAILURE() << "case " << k << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
    }
  }
}

TEST(InfluenceKey, DiffersWithTopologyAndWithEveryParameterThatMatters) {
  const AdjacencyPtr edges = some_graph();
  InfluenceRule rule;
  std::set<std::string> keys = {influence_key(*edges, rule), influence_key(*some_graph(2), rule)};
  size_t expected = 2;
  const auto add = [&](const InfluenceRule& changed) {
    keys.insert(influence_key(*edges, changed));
    EXPECT_EQ(keys.size(), ++expected);
  };
  InfluenceRule changed = rule;
  changed.max_length = 2.0;
  add(changed);
  changed = rule;
  changed.min_paths = 1.5000000001;
  add(changed);
  changed = rule;
  changed.sampled = true;
  add(changed);
  changed.seed = 1;
  add(changed);
  changed.members = 65;
  add(changed);
  changed.neighbours = 9;
  add(changed);
  changed = rule;
  changed.seed = 5;  // exact sets draw nothing
  EXPECT_EQ(influence_key(*edges, changed), influence_key(*edges, rule));
  EXPECT_EQ(influence_key(*some_graph(), rule), influence_key(*edges, rule));
}

TEST(InfluenceBytes, CoverTheBitMatrixAndGrowWithTheSquare) {
  EXPECT_GT(exact_influence_bytes(10000), 10000.0 * 10000.0 / 8.0);
  EXPECT_LT(exact_influence_bytes(10000), 10000.0 * (10000.0 / 8.0 + 8.0 + 3000.0 * threads()));
  EXPECT_GT(exact_influence_bytes(1000000), 1e12 / 8.0);
}

}  // namespace
}  // namespace grm
