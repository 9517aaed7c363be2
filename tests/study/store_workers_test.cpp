// The result database as workers see it: who is alive, all studies at once, values of any kind.
#include <sys/wait.h>

#include <set>

#include "study/store_fixture.h"

namespace grm::study::store_tests {
namespace {

TEST_F(StoreTest, ASilentWorkerLosesItsCellsAndItsName) {
  if (!store_.server()) GTEST_SKIP() << "skipped: GRM_TEST_DATABASE names no server";
  store_.plan(study_named("s"), "run", cells(2));
  Store other(path_);
  const std::string silent = join(other, 1.0);
  const auto cell = other.claim("s", "run", silent, kAnyFits);
  ASSERT_TRUE(cell);
  const std::string child = other.child_name(silent, self());
  ASSERT_TRUE(other.hand_over(cell->id, silent, child));
  EXPECT_TRUE(other.beat(silent, 0));
  EXPECT_EQ(store_.claim("s", "run", me_, kAnyFits)->seed, 1) << "the other cell";
  EXPECT_FALSE(store_.claim("s", "run", me_, kAnyFits));
  const std::vector<WorkerRow> both = store_.workers();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].running, 1);
  EXPECT_EQ(both[1].running, 1);

  usleep(1300000);
  EXPECT_EQ(store_.workers().size(), 2u);
  EXPECT_FALSE(store_.workers()[1].alive);
  const auto again = store_.claim("s", "run", me_, kAnyFits);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id, cell->id);
  EXPECT_EQ(again->attempts, 2);
  EXPECT_FALSE(other.beat(silent, 0));
  EXPECT_FALSE(other.finish(cell->id, child, result("runs/silent")));
  EXPECT_FALSE(other.give_up(cell->id, child, "failed", "too late"));
  EXPECT_TRUE(store_.finish(cell->id, me_, result("runs/second")));
  EXPECT_EQ(store_.results("s", "run")[0].record.folder, "runs/second");
}

TEST_F(StoreTest, AJobThatRunsAgainFreesWhatItsFormerRunHeld) {
  if (!store_.server()) GTEST_SKIP() << "skipped: GRM_TEST_DATABASE names no server";
  store_.plan(study_named("s"), "run", cells(2));
  const std::string first = store_.join("s", "slurm-7", 1, 1000);
  const std::string sibling = store_.join("s", "slurm-8", 1, 1000);
  ASSERT_TRUE(store_.claim("s", "run", first, kAnyFits));
  ASSERT_TRUE(store_.claim("s", "run", sibling, kAnyFits));
  const std::string second = store_.join("s", "slurm-7", 1, 1000);
  EXPECT_EQ(store_.counts("s", "run"),
            (std::map<std::string, int64_t>{{"running", 1}, {"todo", 1}}));
  EXPECT_EQ(store_.claim("s", "run", second, kAnyFits)->attempts, 2);
  store_.leave(sibling);
  EXPECT_EQ(store_.counts("s", "run").at("todo"), 1);
}

TEST_F(StoreTest, AWorkerThatDiedOnThisMachineIsNotWaitedFor) {
  if (!store_.server()) GTEST_SKIP() << "skipped: GRM_TEST_DATABASE names no server";
  store_.plan(study_named("s"), "run", cells(1));
  const pid_t child = fork();
  if (child == 0) {
    Store own(path_);
    own.claim("s", "run", join(own, 1000), kAnyFits);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(store_.counts("s", "run").count("running"), 1u);
  EXPECT_FALSE(store_.claim("s", "run", me_, kAnyFits)) << "claims go by silence alone";
  const std::string next = join(store_);
  EXPECT_EQ(store_.workers().size(), 2u);
  EXPECT_EQ(store_.claim("s", "run", next, kAnyFits)->attempts, 2);
}

TEST_F(StoreTest, AllStudiesAreMeantWhereNoneIsNamed) {
  store_.plan(study_named("a"), "run", cells(1, "a"));
  store_.plan(study_named("b"), "trial", cells(2, "b"));
  EXPECT_EQ(store_.counts("", "").at("todo"), 3);
  std::set<std::string> studies;
  while (const auto cell = store_.claim("", "", me_, kAnyFits)) {
    studies.insert(cell->study);
    store_.finish(cell->id, me_, result("runs/" + std::to_string(cell->id)));
  }
  EXPECT_EQ(studies, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(store_.counts("", "").at("done"), 3);
  EXPECT_EQ(store_.ended("b", "trial").size(), 2u);
}

TEST_F(StoreTest, WhatANumberOrATextIsComesBackAsItWas) {
  StudySpec spec = study_named("s");
  spec.about = "quotes ' and \", ? and \xc3\xa9, a line\nand $1";
  std::vector<PlannedCell> list = cells(1);
  list[0].seed = 9007199254740993;  // no double has it
  store_.plan(spec, "run", list);
  const auto cell = store_.claim("s", "run", me_, kAnyFits);
  ASSERT_TRUE(cell);
  CellResult r = result("runs/'0'?");
  r.seconds = 0.1 + 0.2;
  r.peak_mib = 1e-300;
  ASSERT_TRUE(store_.finish(cell->id, me_, r));
  const CellRow row = store_.cell(cell->id);
  EXPECT_EQ(store_.study("s").about, spec.about);
  EXPECT_EQ(row.seed, list[0].seed);
  EXPECT_EQ(row.seconds, r.seconds);
  EXPECT_EQ(row.peak_mib, r.peak_mib);
  EXPECT_EQ(row.folder, r.folder);
  EXPECT_EQ(row.record, r.record);
}

TEST(DatabaseNameTest, PasswordsAreNotShown) {
  EXPECT_EQ(shown_database("postgresql://me:secret@host:5432/x"), "postgresql://me@host:5432/x");
  EXPECT_EQ(shown_database("postgres://host:5432/x"), "postgres://host:5432/x");
  EXPECT_EQ(shown_database("postgresql:///x?host=/a@b:c&user=me"),
            "postgresql:///x?host=/a@b:c&user=me");
  EXPECT_EQ(shown_database("postgresql:///x?user=me&password=s&host=h"),
            "postgresql:///x?user=me&host=h");
  EXPECT_EQ(shown_database("postgresql:///x?user=me&password=s"), "postgresql:///x?user=me");
  EXPECT_EQ(shown_database("a:b@c.db"), "a:b@c.db");
}

}  // namespace
}  // namespace grm::study::store_tests
