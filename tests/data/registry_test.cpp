#include <torch/types.h>

#include <filesystem>
#include <set>

#include "core/files.h"
#include "data/describe.h"
#include "data/helpers.h"
#include "data/twitch_files.h"

namespace grm {
namespace {

using test::load_dataset;
using ::testing::HasSubstr;

TEST(Registry, HoldsTheDatasetsOfBothLevelsOnceEach) {
  std::set<std::string> names, sets;
  for (const DatasetEntry& entry : datasets()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    if (entry.level == Level::graph) sets.insert(entry.name);
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_EQ(entry.published_at.empty(), entry.make()->files().empty()) << entry.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{
                       "sbm",          "cora",      "cora-mix",     "photo",       "twitch",
                       "fb100",        "elliptic",  "arxiv",        "spmotif",     "molhiv",
                       "graph-sst2",   "sst2-tree", "mnist75sp",    "scale",       "good-motif",
                       "good-cbas",    "good-hiv",  "good-pcba",    "good-cmnist", "good-webkb",
                       "good-twitch",  "good-sst2", "good-twitter", "good-cora",   "good-arxiv",
                       "drugood-ec50", "bace",      "bbbp",         "clintox",     "sider",
                       "tox21",        "nci1",      "nci109",       "proteins",    "webkb"}));
  EXPECT_EQ(sets, (std::set<std::string>{
                      "spmotif",      "molhiv",       "graph-sst2", "sst2-tree",   "mnist75sp",
                      "good-motif",   "good-hiv",     "good-pcba",  "good-cmnist", "good-sst2",
                      "good-twitter", "drugood-ec50", "bace",       "bbbp",        "clintox",
                      "sider",        "tox21",        "nci1",       "nci109",      "proteins"}));
}

TEST(Registry, UnknownNameSuggestsTheNearest) {
  try {
    find_dataset("twich");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'twitch'?"));
  }
}

TEST(Registry, EveryDatasetHasSymmetriseAndCentre) {
  for (const DatasetEntry& entry : datasets()) {
    DatasetChoice choice(entry.name);
    std::set<std::string> keys;
    for (const Option& option : choice.options().options()) {
      EXPECT_TRUE(keys.insert(option.key).second) << entry.name << " " << option.key;
    }
    EXPECT_EQ(keys.count("symmetrise") + keys.count("centre"), 2u) << entry.name;
  }
}

TEST(Registry, EmptyDataRootSaysHowToSetIt) {
  for (const DatasetEntry& entry : datasets()) {
    if (entry.make()->files().empty()) continue;
    const std::string message = test::data_error([&] { load_dataset(entry.name, ""); });
    EXPECT_THAT(message, HasSubstr("GRM_DATA")) << entry.name;
    EXPECT_THAT(message, HasSubstr("--data-root")) << entry.name;
  }
}

TEST(Registry, MissingFilesAreListedWithFullPathAndPublisher) {
  const test::TempFolder folder;
  for (const DatasetEntry& entry : datasets()) {
    const std::vector<std::string> files = entry.make()->files();
    if (files.empty()) continue;
    const std::string message = test::data_error([&] { load_dataset(entry.name, folder.path()); });
    for (const std::string& file : files) EXPECT_THAT(message, HasSubstr(folder.file(file)));
    EXPECT_THAT(message, HasSubstr(entry.published_at));
    EXPECT_THAT(message, HasSubstr("No test domain can run without them"));
  }
}

TEST(MissingFiles, MessageNamesTheTestDomainsThatCanRun) {
  const test::TempFolder folder;
  test::write_twitch(folder);
  std::filesystem::remove(folder.file("twitch/FR/musae_FR_edges.csv"));
  const std::string message = test::data_error([&] { load_dataset("twitch", folder.path()); });
  EXPECT_THAT(message, HasSubstr(folder.file("twitch/FR/musae_FR_edges.csv")));
  EXPECT_THAT(message, HasSubstr("test domain FR"));
  EXPECT_THAT(message, HasSubstr("ES, PTBR, RU, TW; --allow-missing runs those"));
}

TEST(MissingFiles, AllowMissingLeavesOutTestDomainsAndSaysSo) {
  const test::TempFolder folder;
  test::write_twitch(folder);
  std::filesystem::remove_all(folder.file("twitch/FR"));
  std::filesystem::remove_all(folder.file("twitch/TW"));
  DataContext context;
  context.root = folder.path();
  context.allow_missing = true;
  const Task task = load_dataset("twitch", context);
  EXPECT_THAT(task.missing, ::testing::ElementsAre("FR", "TW"));
  ASSERT_EQ(task.test.size(), 3u);
  EXPECT_THAT(task.notes, ::testing::Contains(HasSubstr("test domain FR")));
  EXPECT_EQ(task.hashes.size(), 5u * 3);
}

TEST(MissingFiles, TrainingAndValidationCannotBeLeftOut) {
  for (const std::string region : {"DE", "ENGB"}) {
    const test::TempFolder folder;
    test::write_twitch(folder);
    std::filesystem::remove_all(folder.file("twitch/" + region));
    DataContext context;
    context.root = folder.path();
    context.allow_missing = true;
    const std::string message = test::data_error([&] { load_dataset("twitch", context); });
    EXPECT_THAT(message, HasSubstr("domain " + region));
    EXPECT_THAT(message, HasSubstr("No test domain can run"));
  }
}

TEST(MissingFiles, AllTestDomainsMissingIsAnError) {
  const test::TempFolder folder;
  test::write_twitch_region(folder, "DE");
  test::write_twitch_region(folder, "ENGB");
  DataContext context;
  context.root = folder.path();
  context.allow_missing = true;
  EXPECT_THAT(test::data_error([&] { load_dataset("twitch", context); }),
              HasSubstr("No test domain can run"));
}

TEST(Hashes, AreThoseOfTheFiles) {
  const test::TempFolder folder;
  test::write_twitch(folder);
  const Task task = load_dataset("twitch", folder.path());
  ASSERT_EQ(task.hashes.size(), 21u);
  EXPECT_EQ(task.hashes.at("twitch/DE/musae_DE_edges.csv"), sha256(test::kTwitchEdges));
}

TEST(Cache, ReadingBackGivesTheSameDataAndAChangedSourceOtherData) {
  const test::TempFolder folder, cache;
  test::write_twitch(folder);
  DataContext context;
  context.root = folder.path();
  const std::string plain = fingerprint(load_dataset("twitch", context));
  context.cache = cache.path();
  EXPECT_EQ(fingerprint(load_dataset("twitch", context)), plain);
  EXPECT_EQ(fingerprint(load_dataset("twitch", context)), plain);
  test::write_twitch_region(folder, "TW", test::kTwitchTarget, "from,to\n0,2\n");
  const Task changed = load_dataset("twitch", context);
  EXPECT_EQ(test::domain_named(changed, "TW").graph.edges->nnz(), 1);
  EXPECT_NE(fingerprint(changed), plain);
}

TEST(Symmetrise, AddsReversePairsAndKeepsSharedTopologyShared) {
  const test::TempFolder folder;
  test::write_twitch(folder);
  const Task task = load_dataset("twitch", folder.path(), {{"symmetrise", "true"}});
  for (const Domain& domain : task.test) {
    EXPECT_EQ(domain.graph.edges->nnz(), 4);
    EXPECT_TRUE(test::is_symmetric(*domain.graph.edges));
  }
  const Task shared = load_dataset("sbm", "", {{"symmetrise", "true"}, {"nodes", "100"}});
  for (const Domain& domain : shared.test) {
    EXPECT_EQ(domain.graph.edges, shared.training[0].graph.edges);
  }
}

TEST(Centre, EveryDomainHasZeroMeanAndStaysSparse) {
  const test::TempFolder folder;
  test::write_twitch(folder);
  const Task task = load_dataset("twitch", folder.path(), {{"centre", "domain"}});
  for (const Domain& domain : task.test) {
    EXPECT_LT(domain.graph.x.to_dense().mean(0).abs().max().item<float>(), 1e-6);
    EXPECT_FALSE(domain.graph.x.dense.defined());
    EXPECT_EQ(domain.graph.x.nonzeros(), 5);
  }
}

TEST(Centre, RemovesTheArtificialShift) {
  const Task task = load_dataset("sbm", "", {{"centre", "domain"}, {"nodes", "300"}});
  const torch::Tensor first = task.training[0].graph.x.to_dense();
  for (const Domain& domain : task.test) {
    EXPECT_LT((domain.graph.x.to_dense() - first).abs().max().item<float>(), 1e-5);
  }
}

}  // namespace
}  // namespace grm
