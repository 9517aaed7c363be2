// The result database: who gets a cell, what becomes of it, and that nothing is done twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "study/store_fixture.h"
#include "support/expect_error.h"

namespace grm::study::store_tests {
namespace {

using test::error_of;
using testing::HasSubstr;

// Earlier versions filed own data under its path. Its folders need not be there any more.
TEST_F(StoreTest, Trust01NamesOwnDataOfEarlierVersionsHasNamesAndIsNotRunAgain) {
  const auto cell = [](const std::string& label, const std::string& path) {
    return PlannedCell{label, "erm", "", 0, 0, "seed = 0\n\n[dataset]\nname = \"" + path + "\"\n"};
  };
  store_.plan(study_named("s"), "run",
              {cell("./gone/a", "./gone/a"), cell("./gone/1", "./gone/1"), cell("/x/a", "/x/a")});
  for (int k = 0; k < 2; ++k) {
    const std::optional<CellRow> taken = store_.claim("s", "run", me_, kAnyFits);
    ASSERT_TRUE(taken && store_.finish(taken->id, me_, result("runs/" + std::to_string(k))));
  }
  const std::vector<ResultRow> done = store_.results("s", "run");
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].dataset, "a (gone/a)");
  EXPECT_EQ(done[1].dataset, "1");
  EXPECT_EQ(store_.missing("s").at(0).dataset, "a (x/a)");

  store_.plan(study_named("s"), "run", {cell("payments", "./gone/a"), cell("loans", "./gone/1")});
  EXPECT_FALSE(store_.claim("s", "run", me_, kAnyFits));
  const std::vector<ResultRow> again = store_.results("s", "run");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].dataset, "payments");
  EXPECT_EQ(again[0].record.folder, "runs/0");
}

TEST_F(StoreTest, CellsAreHandedOutInTheOrderOfTheStudyAndFinishedByTheirOwnerOnly) {
  store_.plan(study_named("s"), "run", cells(2));
  const std::optional<CellRow> first = store_.claim("s", "run", me_, kAnyFits);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->seed, 0);
  EXPECT_FALSE(store_.finish(first->id, "someone else", result("runs/0")));
  EXPECT_TRUE(store_.hand_over(first->id, me_, "child"));
  EXPECT_FALSE(store_.finish(first->id, me_, result("runs/0")));
  EXPECT_TRUE(store_.finish(first->id, "child", result("runs/0")));
  EXPECT_FALSE(store_.finish(first->id, "child", result("runs/again")));

  const std::vector<ResultRow> done = store_.results("s", "run");
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].record.chosen.at("val").test[0].value, 40.5);
  EXPECT_EQ(done[0].record.folder, "runs/0");
  EXPECT_EQ(done[0].metric, "accuracy");
  const std::vector<MissingRow> missing = store_.missing("s");
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].seed, 1);
  EXPECT_EQ(missing[0].reason, "not run");
  EXPECT_EQ(store_.peak_memory().at({"sbm", "erm"}), 300);
  EXPECT_EQ(store_.mean_seconds("s").at({"sbm", "erm", ""}), 2);
}

TEST_F(StoreTest, TheFirstCellThatFitsIsTaken) {
  store_.plan(study_named("s"), "run", cells(3));
  const auto cell = store_.claim("s", "run", me_, [](const CellRow& row) { return row.seed == 1; });
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->seed, 1);
  EXPECT_FALSE(store_.claim("s", "run", me_, [](const CellRow&) { return false; }));
}

TEST_F(StoreTest, ProcessesThatClaimAtOnceNeverGetTheSameCell) {
  constexpr int kCells = 40, kProcesses = 4;
  store_.plan(study_named("s"), "run", cells(kCells));
  std::vector<pid_t> children;
  for (int k = 0; k < kProcesses; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      Store own(path_);
      std::ofstream log(folder_.file("claims." + std::to_string(k)));
      std::vector<int64_t> ids;
      const std::string me = join(own);
      while (const auto cell = own.claim("s", "run", me, kAnyFits)) {
        ids.push_back(cell->id);
        own.finish(cell->id, me, result("runs/" + std::to_string(cell->seed)));
      }
      for (const int64_t id : ids) log << id << "\n";
      log.close();
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::multiset<int64_t> claimed;
  for (int k = 0; k < kProcesses; ++k) {
    std::ifstream log(folder_.file("claims." + std::to_string(k)));
    for (int64_t id; log >> id;) claimed.insert(id);
  }
  EXPECT_EQ(claimed.size(), static_cast<size_t>(kCells));
  EXPECT_EQ(std::set<int64_t>(claimed.begin(), claimed.end()).size(), claimed.size());
  EXPECT_EQ(store_.counts("s", "run").at("done"), kCells);
}

TEST_F(StoreTest, TwoStudiesWriteAtOnce) {
  const auto write = [&](const std::string& name) {
    Store own(path_);
    const std::string me = join(own);
    own.plan(study_named(name), "run", cells(30, name));
    while (const auto cell = own.claim(name, "run", me, kAnyFits)) {
      own.finish(cell->id, me, result("runs/" + name));
    }
  };
  const pid_t child = fork();
  if (child == 0) {
    write("a");
    _exit(0);
  }
  write("b");
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store_.results("a", "run").size(), 30u);
  EXPECT_EQ(store_.results("b", "run").size(), 30u);
}

TEST_F(StoreTest, ACellOfADeadProcessIsFreeAgainEvenIfItsNumberIsReused) {
  if (store_.server()) GTEST_SKIP() << "a server does not go by process numbers";
  store_.plan(study_named("s"), "run", cells(1));
  // The child ends without a word and stays a zombie until it is waited for.
  const pid_t child = fork();
  if (child == 0) {
    Store own(path_);
    own.claim("s", "run", self(), kAnyFits);
    _exit(0);
  }
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(store_.cells("s")[0].state, "running");
  std::optional<CellRow> cell = store_.claim("s", "run", me_, kAnyFits);
  ASSERT_TRUE(cell) << "a zombie keeps its cell";
  EXPECT_EQ(cell->attempts, 2);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(store_.claim("s", "run", me_, kAnyFits)) << "a living owner lost its cell";

  // This very process's number, but started at another time, or before the last boot.
  const std::string me = self();
  const std::string other_time = me.substr(0, me.rfind('/')) + "/1";
  ASSERT_TRUE(store_.hand_over(cell->id, me, other_time));
  cell = store_.claim("s", "run", me, kAnyFits);
  ASSERT_TRUE(cell);
  ASSERT_TRUE(store_.hand_over(cell->id, me, "another-boot" + me.substr(me.find('/'))));
  EXPECT_TRUE(store_.claim("s", "run", me, kAnyFits));
}

TEST_F(StoreTest, ARunThatAnotherStudyHasDoneIsCopiedAndOneThatItIsDoingIsWaitedFor) {
  store_.plan(study_named("a"), "run", cells(2));
  store_.plan(study_named("b"), "run", cells(2));
  const auto first = store_.claim("a", "run", me_, kAnyFits);
  store_.finish(first->id, me_, result("runs/0", 71));
  const auto second = store_.claim("a", "run", me_, kAnyFits);
  ASSERT_TRUE(second);
  EXPECT_FALSE(store_.claim("b", "run", me_, kAnyFits)) << "one is done, one is running";
  const std::vector<ResultRow> copied = store_.results("b", "run");
  ASSERT_EQ(copied.size(), 1u);
  EXPECT_EQ(copied[0].record.chosen.at("val").validation, 71);
  EXPECT_EQ(copied[0].record.folder, "runs/0");
  EXPECT_TRUE(store_.finished("config of seed 0"));
  EXPECT_FALSE(store_.finished("config of seed 1"));
  store_.give_up(second->id, me_, "failed", "no luck");
  const auto again = store_.claim("b", "run", me_, kAnyFits);
  ASSERT_TRUE(again) << "a failure elsewhere is no result";
  EXPECT_EQ(again->seed, 1);
}

TEST_F(StoreTest, AChangedSpecificationStartsChangedCellsAnewAndSetsOthersAside) {
  EXPECT_TRUE(store_.plan(study_named("s"), "run", cells(3)).empty());
  while (const auto cell = store_.claim("s", "run", me_, kAnyFits)) {
    store_.finish(cell->id, me_, result("runs/" + std::to_string(cell->seed)));
  }
  std::vector<PlannedCell> changed = cells(2);
  changed[1].config = "another";
  const std::vector<std::string> lines = store_.plan(study_named("s"), "run", changed);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("1 cells have other option values"));
  EXPECT_THAT(lines[1], HasSubstr("1 cells are no longer part"));
  EXPECT_EQ(store_.results("s", "run").size(), 1u);
  EXPECT_EQ(store_.missing("s").size(), 1u);
  // What was set aside comes back with its result.
  store_.plan(study_named("s"), "run", cells(3));
  const std::vector<CellRow> rows = store_.cells("s");
  EXPECT_EQ(rows[0].state, "done");
  EXPECT_EQ(rows[1].state, "todo");
  EXPECT_EQ(rows[2].state, "done");
}

TEST_F(StoreTest, CellsWithoutDataAndFailedOnesWaitForTheNextRun) {
  std::vector<PlannedCell> list = cells(4);
  for (size_t k = 0; k < 4; ++k) {
    list[k].config =
        "[dataset]\nname = " + std::string(k < 3 ? "x" : "y") + "\n[method]\n" + std::to_string(k);
  }
  store_.plan(study_named("s"), "run", list);
  auto cell = store_.claim("s", "run", me_, kAnyFits);
  store_.give_up(cell->id, me_, "failed", "boom");
  cell = store_.claim("s", "run", me_, kAnyFits);
  store_.give_up(cell->id, me_, "no_data", "x.npz:\nmissing");
  store_.spread_no_data(cell->id);
  EXPECT_EQ(store_.counts("s", "run"),
            (std::map<std::string, int64_t>{{"failed", 1}, {"no_data", 2}, {"todo", 1}}));
  EXPECT_EQ(store_.missing("s")[0].reason, "failed: boom");
  EXPECT_EQ(store_.missing("s")[1].reason, "data is missing: x.npz: missing");
  store_.reopen("s", "run", false);
  EXPECT_EQ(store_.counts("s", "run").at("todo"), 3);
  store_.reopen("s", "run", true);
  EXPECT_EQ(store_.counts("s", "run").at("todo"), 4);
}

TEST_F(StoreTest, OtherFilesAndOtherVersionsAreRefused) {
  if (store_.server()) GTEST_SKIP() << "about files";
  EXPECT_THAT(error_of(ErrorKind::data, [&] { Store(folder_.file("none.db")); }),
              HasSubstr("there is no result database"));
  folder_.write("text.db", std::string(8192, 'x'));
  EXPECT_TRUE(test::throws_error([&] { Store(folder_.file("text.db")); }));
  const std::string later = folder_.file("later.db");
  { Store(later, Open::create); }
  std::fstream file(later, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(63);  // last byte of the user version, see sqlite.org/fileformat.html
  file.put(2);
  file.close();
  EXPECT_THAT(error_of(ErrorKind::data, [&] { Store(later, Open::create); }),
              AllOf(HasSubstr("a result database of version 2"), HasSubstr("of version 1")));
  EXPECT_THAT(error_of(ErrorKind::config, [&] { store_.study("x"); }), HasSubstr("no study 'x'"));
}

}  // namespace
}  // namespace grm::study::store_tests
