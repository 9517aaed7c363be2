// Training domains for methods that need several of them.
#include "methods/domains.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdlib>
#include <filesystem>

#include "small_task.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm {
namespace {

class Domains : public testing::Test {
 protected:
  Domains() {
    const char* before = std::getenv("GRM_CACHE");
    if (before) cache_before_ = before;
    setenv("GRM_CACHE", folder_.path().c_str(), 1);
    options_.edits = 2;
    options_.eerm_epochs = 12;
    backbone_.hidden = 6;
  }
  ~Domains() override {
    if (cache_before_.empty()) {
      unsetenv("GRM_CACHE");
    } else {
      setenv("GRM_CACHE", cache_before_.c_str(), 1);
    }
  }
  std::unique_ptr<DomainProvider> provider(DomainSource kind, uint64_t seed = 1) {
    options_.domains = kind;
    return std::make_unique<DomainProvider>(options_, backbone_, view_, Rng(seed));
  }
  size_t cached() const {
    const std::string path = folder_.path() + "/domains";
    if (!std::filesystem::exists(path)) return 0;
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
  test::TempFolder folder_;
  std::string cache_before_;
  Task task_ = test::small_task();
  TrainView view_ = task_.train_view();
  DomainOptions options_;
  nn::BackboneOptions backbone_;
};

torch::Tensor dense(const Domain& domain) {  // [target, source]
  const Adjacency& edges = *domain.graph.edges;
  torch::Tensor a = torch::zeros({edges.rows(), edges.cols()}, torch::kInt64);
  const auto [source, target] = edge_list(edges);
  a.index_put_({target, source}, torch::ones({edges.nnz()}, torch::kInt64));
  return a;
}

void expect_equal(const std::vector<Domain>& a, const std::vector<Domain>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t d = 0; d < a.size(); ++d) EXPECT_TRUE(torch::equal(dense(a[d]), dense(b[d])));
}

TEST_F(Domains, EditedCopiesShareAllButTwoPairsIntoEveryNode) {
  for (const DomainSource kind :
       {DomainSource::random, DomainSource::eerm_frozen, DomainSource::eerm_online}) {
    const auto source = provider(kind);
    const std::vector<Domain>& domains = source->domains(1);
    ASSERT_EQ(domains.size(), 4u) << to_string(kind);
    EXPECT_EQ(domains[0].graph.edges, view_.training[0].graph.edges);
    for (size_t k = 1; k < 4; ++k) {
      EXPECT_TRUE(domains[k].labels.y.is_same(view_.training[0].labels.y));
      EXPECT_EQ(domains[k].graph.x.sparse, view_.training[0].graph.x.sparse);
      EXPECT_TRUE(domains[k].graph.x.dense.is_same(view_.training[0].graph.x.dense));
      const torch::Tensor changed = (dense(domains[k]) - dense(domains[0])).abs().sum(1);
      EXPECT_TRUE((changed == 2).all().item<bool>()) << to_string(kind);
      EXPECT_NE(domains[k].name, domains[k - 1].name);
    }
    EXPECT_FALSE(torch::equal(dense(domains[1]), dense(domains[2])));
    options_.include_original = false;
    EXPECT_EQ(provider(kind)->domains(1).size(), 3u);
    options_.include_original = true;
  }
}

TEST_F(Domains, AutoTakesSeveralTrainingGraphsAsTheyAre) {
  view_.training.push_back(test::small_domain(9, 24, "e"));
  const auto source = provider(DomainSource::automatic);
  EXPECT_EQ(source->domains(1).size(), 2u);
  EXPECT_EQ(source->domains(1)[1].graph.edges, view_.training[1].graph.edges);
  EXPECT_TRUE(source->training_state().empty());
  EXPECT_EQ(provider(DomainSource::random)->domains(1).size(), 8u);
}

TEST_F(Domains, WithoutEditsAllDomainsAreTheTrainingGraph) {
  options_.edits = 0;
  const auto source = provider(DomainSource::automatic);
  ASSERT_EQ(source->domains(1).size(), 4u);
  for (const Domain& domain : source->domains(1)) {
    EXPECT_TRUE(torch::equal(dense(domain), dense(view_.training[0])));
  }
}

TEST_F(Domains, FrozenDomainsStayAndSurviveACheckpoint) {
  const auto source = provider(DomainSource::automatic);
  EXPECT_TRUE(source->training_state().empty());
  const std::vector<Domain> first = source->domains(1);
  source->feedback(1, {1, 2, 3, 4});
  expect_equal(source->domains(7), first);
  const auto state = source->training_state();
  std::filesystem::remove_all(folder_.path());  // the cache is not what keeps them
  const auto resumed = provider(DomainSource::automatic, /*seed=*/2);
  resumed->restore_training_state(state);
  expect_equal(resumed->domains(8), first);
  EXPECT_EQ(cached(), 0u);
  options_.views = 5;
  const auto other = provider(DomainSource::automatic);
  test::error_of(ErrorKind::data, [&] { other->restore_training_state(state); });
}

TEST_F(Domains, FrozenDomainsAreCachedBySeedOptionsAndData) {
  const std::vector<Domain> first = provider(DomainSource::eerm_frozen)->domains(1);
  EXPECT_EQ(cached(), 1u);
  expect_equal(provider(DomainSource::eerm_frozen)->domains(1), first);
  EXPECT_EQ(cached(), 1u);
  provider(DomainSource::eerm_frozen, /*seed=*/2)->domains(1);
  EXPECT_EQ(cached(), 2u);
  options_.eerm_beta = 2.0;
  provider(DomainSource::eerm_frozen)->domains(1);
  EXPECT_EQ(cached(), 3u);
  view_.training[0].labels.y = 1 - view_.training[0].labels.y;
  provider(DomainSource::eerm_frozen)->domains(1);
  EXPECT_EQ(cached(), 4u);
  view_.validate = [](const Predictor&) { return 1.0; };
  provider(DomainSource::eerm_frozen)->domains(1);
  EXPECT_EQ(cached(), 5u);
  // A damaged file is replaced.
  options_.eerm_beta = 1.0;
  view_ = task_.train_view();
  for (const auto& file : std::filesystem::directory_iterator(folder_.path() + "/domains")) {
    std::filesystem::resize_file(file.path(), 20);
  }
  expect_equal(provider(DomainSource::eerm_frozen)->domains(1), first);
  EXPECT_EQ(cached(), 5u);
}

TEST_F(Domains, FrozenDomainsAreThoseOfTheBestValidatedEpoch) {
  // The first call is the probe of the cache key; then epochs 5, 10 and 12 are scored.
  const auto with_scores = [&](std::vector<double> scores) {
    auto calls = std::make_shared<size_t>(0);
    view_.validate = [scores, calls](const Predictor&) { return scores.at((*calls)++); };
    const std::vector<Domain> domains = provider(DomainSource::eerm_frozen)->domains(1);
    EXPECT_EQ(*calls, 4u);
    return domains;
  };
  options_.editor_lr = 0.1;  // the epochs' laws differ
  const std::vector<Domain> early = with_scores({0.1, 9, 1, 2}), tie = with_scores({0.2, 9, 9, 9});
  const std::vector<Domain> late = with_scores({0.3, 1, 2, 3});
  expect_equal(early, tie);
  EXPECT_FALSE(torch::equal(dense(early[1]), dense(late[1])));
  view_.validate = nullptr;  // without validation the last epoch
  expect_equal(provider(DomainSource::eerm_frozen)->domains(1), late);
}

TEST_F(Domains, OnlineDomainsChangeByEpochLearnAndResume) {
  const auto source = provider(DomainSource::eerm_online);
  const std::vector<Domain> first = source->domains(1);
  expect_equal(source->domains(1), first);
  source->feedback(1, {0.5, 0.1, 0.9, 0.4});
  source->feedback(1, {7, 8, 9, 1});  // only the first counts
  expect_equal(source->domains(1), first);
  EXPECT_FALSE(torch::equal(dense(source->domains(2)[1]), dense(first[1])));
  source->feedback(2, {0.5, 0.2, 0.8, 0.4});
  const auto state = source->training_state();
  // Variances with divisor 3 of the losses told.
  ASSERT_EQ(state.at("editors0.rewards").numel(), 2);
  EXPECT_NEAR(state.at("editors0.rewards")[0].item<double>(), 0.3275 / 3, 1e-12);
  EXPECT_NEAR(state.at("editors0.rewards")[1].item<double>(), 0.1875 / 3, 1e-12);
  const auto resumed = provider(DomainSource::eerm_online);
  resumed->restore_training_state(state);
  expect_equal(resumed->domains(3), source->domains(3));
}

TEST_F(Domains, SameSeedSameDomains) {
  for (const DomainSource kind : {DomainSource::random, DomainSource::eerm_online}) {
    expect_equal(provider(kind)->domains(1), provider(kind)->domains(1));
    EXPECT_FALSE(torch::equal(dense(provider(kind)->domains(1)[1]),
                              dense(provider(kind, /*seed=*/2)->domains(1)[1])));
  }
}

TEST_F(Domains, MoreEditsThanNodesAreRefused) {
  options_.edits = 31;
  test::error_of(ErrorKind::config, [&] { provider(DomainSource::random); });
}

}  // namespace
}  // namespace grm
