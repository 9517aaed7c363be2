#include "core/stages.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/clock.h"
#include "grm/core/error.h"

namespace grm {
namespace {

void spend(double seconds) {
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
  }
}

double seconds_of(const StageRecorder& recorder, const std::string& name) {
  for (const StageTime& stage : recorder.times()) {
    if (stage.name == name) return stage.seconds;
  }
  return -1.0;
}

TEST(Stages, MarksWithoutARecorderDoNothing) {
  EXPECT_EQ(StageRecorder::current(), nullptr);
  const Stage stage("unseen");
  note_size("unseen", 1.0);
  const StageRecorder recorder;
  EXPECT_TRUE(recorder.times().empty());
  EXPECT_TRUE(recorder.sizes().empty());
}

TEST(Stages, ASecondInANestedStageCountsOnceForTheInnermost) {
  StageRecorder recorder;
  const Stopwatch watch;
  {
    const Stage outer("outer");
    spend(0.01);
    {
      const Stage inner("inner");
      spend(0.02);
    }
    spend(0.01);
  }
  const double total = watch.seconds();
  const double outer = seconds_of(recorder, "outer"), inner = seconds_of(recorder, "inner");
  EXPECT_GE(outer, 0.02);
  EXPECT_GE(inner, 0.02);
  EXPECT_LE(outer + inner, total);
  EXPECT_NEAR(outer + inner, total, 0.005);
}

TEST(Stages, TimeOutsideOfEveryStageCountsForNone) {
  StageRecorder recorder;
  { const Stage stage("first"); }
  spend(0.02);
  { const Stage stage("second"); }
  EXPECT_LT(seconds_of(recorder, "first") + seconds_of(recorder, "second"), 0.01);
}

TEST(Stages, CallsAreCountedAndOrderIsThatOfTheFirstMark) {
  StageRecorder recorder;
  for (int k = 0; k < 3; ++k) {
    const Stage sample("sample");
    const Stage batch("batch");
  }
  ASSERT_EQ(recorder.times().size(), 2u);
  EXPECT_EQ(recorder.times()[0].name, "sample");
  EXPECT_EQ(recorder.times()[0].calls, 3);
  EXPECT_EQ(recorder.times()[1].name, "batch");
  recorder.reset();
  EXPECT_TRUE(recorder.times().empty());
}

TEST(Stages, SynchroniseIsCalledAtEveryMark) {
  int calls = 0;
  StageRecorder recorder([&] { ++calls; });
  {
    const Stage outer("outer");
    const Stage inner("inner");
  }
  EXPECT_EQ(calls, 4);
}

TEST(Stages, AnInnerRecorderTakesOverWhileItLives) {
  StageRecorder outer;
  {
    StageRecorder inner;
    const Stage stage("inside");
    EXPECT_EQ(StageRecorder::current(), &inner);
  }
  EXPECT_EQ(StageRecorder::current(), &outer);
  EXPECT_TRUE(outer.times().empty());
}

TEST(Stages, OtherThreadsAreNotRecorded) {
  StageRecorder recorder;
  std::thread([] { const Stage stage("elsewhere"); }).join();
  EXPECT_TRUE(recorder.times().empty());
}

TEST(Stages, SizesAreKeptInOrder) {
  StageRecorder recorder;
  note_size("members", 3.0);
  note_size("rows", 9.0);
  note_size("members", 4.0);
  EXPECT_EQ(recorder.sizes().at("members"), (std::vector<double>{3.0, 4.0}));
  recorder.reset();
  EXPECT_TRUE(recorder.sizes().empty());
}

TEST(Stages, ResetInsideAStageIsAMistakeOfOurs) {
  StageRecorder recorder;
  const Stage stage("open");
  EXPECT_THROW(recorder.reset(), InternalError);
}

}  // namespace
}  // namespace grm
