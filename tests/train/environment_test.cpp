// What a run says of the data and the arithmetic that made it.
#include "train/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "train/trainer.h"

namespace grm {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> texts(const std::vector<DataChange>& changes) {
  std::vector<std::string> list;
  for (const DataChange& change : changes) list.push_back(change.text());
  return list;
}

TEST(Trust11Data, ChangesAreNamedByFile) {
  EXPECT_THAT(data_changes({{"a", "1"}, {"b", "2"}}, {{"a", "1"}, {"b", "2"}}), IsEmpty());
  EXPECT_THAT(texts(data_changes({{"a", "1"}, {"b", "2"}}, {{"b", "3"}, {"c", "4"}})),
              ElementsAre("a (gone)", "b (changed)", "c (new)"));
  Hashes many;
  for (int k = 0; k < 9; ++k) many["f" + std::to_string(k)] = "x";
  EXPECT_THAT(changes_text(data_changes(many, {})), HasSubstr(" and 4 more"));
}

TEST(Trust11Data, FilesOnDiskAreComparedWhereTheyAre) {
  test::TempFolder folder;
  folder.write("set/dataset.toml", "name = \"set\"\n");
  folder.write("set/a.csv", "one");
  const std::string set = folder.file("set");
  // sha256sum of "one"
  const std::string one = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
  DataOnDisk disk(DataContext{});
  EXPECT_THAT(disk.changes(set, {{"a.csv", one}}), IsEmpty());
  EXPECT_THAT(disk.changes(set, {{"elsewhere.csv", one}}), IsEmpty()) << "not at hand";
  EXPECT_THAT(texts(disk.changes(set, {{"a.csv", std::string(64, '0')}})),
              ElementsAre("a.csv (changed)"));
  DataContext context;
  context.root = folder.path();
  EXPECT_THAT(texts(DataOnDisk(context).changes("cora", {{"set/a.csv", "0"}})),
              ElementsAre("set/a.csv (changed)"));
}

TEST(Trust11Data, AFinishedRunIsNotReturnedForOtherData) {
  test::TempFolder cache, runs;
  setenv("GRM_CACHE", cache.path().c_str(), 1);
  RunConfig config("sbm", "erm");
  config.set("dataset.nodes", "100");
  config.set("train.epochs", "2");
  Task task = config.dataset.load({});
  task.hashes = {{"nodes.csv", "1"}};
  const RunFolder folder = create_run_folder(runs.path(), config, 1);
  train_run(config, task, 1, folder);
  EXPECT_NO_THROW(train_run(config, task, 1, folder));
  const Hashes old = task.hashes;
  task.hashes = {{"nodes.csv", "2"}};
  EXPECT_THAT(test::error_of(ErrorKind::data, [&] { train_run(config, task, 1, folder); }),
              HasSubstr("nodes.csv (changed)"));
  // A newer run on today's data is found for today's data, the old one for the old data.
  const RunFolder newer = create_run_folder(runs.path(), config, 1);
  train_run(config, task, 1, newer);
  EXPECT_EQ(find_run_folder(runs.path(), config, 1, &task.hashes).path(), newer.path());
  EXPECT_EQ(find_run_folder(runs.path(), config, 1, &old).path(), folder.path());
}

TEST(Trust12Legs, AreAppendedAndComparedWithAllBeforeThem) {
  const int before = threads();
  set_threads(1);
  const std::string first = environment_json(Task());
  EXPECT_THAT(other_arithmetic(first, 5, "env.json"), IsEmpty());
  set_threads(2);
  EXPECT_THAT(other_arithmetic(first, 5, "env.json"), ElementsAre("threads: 1, now 2"));
  const std::string second = with_leg(first, 5, "env.json");
  set_threads(1);
  EXPECT_THAT(other_arithmetic(second, 9, "env.json"), ElementsAre("threads: 2, now 1"));
  EXPECT_THAT(mixed_arithmetic(second), ElementsAre("threads: 1, from epoch 5 on 2"));
  // The second leg left no epoch behind: going on from epoch 3 is as if it had never been.
  EXPECT_THAT(other_arithmetic(second, 3, "env.json"), IsEmpty());
  const json third = json::parse(with_leg(second, 3, "env.json"));
  set_threads(before);
  ASSERT_EQ(third["legs"].size(), 2u);
  EXPECT_EQ(third["legs"][1]["from_epoch"], 3);
  EXPECT_EQ(third["legs"][1]["threads"], 1);
  EXPECT_EQ(third["threads"], 1);
}

TEST(Trust12Legs, EnvironmentsOfOldAndDamagedRuns) {
  json old = json::parse(environment_json(Task()));
  for (const char* key : {"legs", "blas_core", "cpu_capability"}) old.erase(key);
  EXPECT_THAT(other_arithmetic(old.dump(), 2, "env.json"), IsEmpty());
  old["threads"] = threads() + 1;
  EXPECT_EQ(other_arithmetic(old.dump(), 2, "env.json").size(), 1u);
  for (const char* damaged :
       {"", "{", "[]", "{\"legs\": 3}", "{\"legs\": [7]}", "{\"legs\": [{\"from_epoch\": 1.5}]}"}) {
    EXPECT_THAT(test::error_of(ErrorKind::data, [&] { with_leg(damaged, 2, "env.json"); }),
                HasSubstr("env.json: damaged"));
    EXPECT_THAT(mixed_arithmetic(damaged), IsEmpty());
  }
  for (const char* damaged :
       {"", "[]", "{}", "{\"data_hashes\": 1}", "{\"data_hashes\": {\"a\": 1}}"}) {
    EXPECT_THAT(test::error_of(ErrorKind::data, [&] { recorded_hashes(damaged, "env.json"); }),
                HasSubstr("env.json: damaged"));
  }
}

}  // namespace
}  // namespace grm
