// The queue before a model: what nobody waits for any more does not keep others waiting.
#include "serve/model_worker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/stop.h"

namespace grm::serve {
namespace {

HttpReply said(const std::string& text) {
  HttpReply reply;
  reply.body = text;
  return reply;
}

HttpReply forever(Model& /*model*/) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    check_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return said("never");
}

TEST(ModelWorker, StopsWhatNobodyWaitsFor) {
  ModelWorker::Limits limits;
  limits.seconds = 0.5;
  ModelWorker worker("sbm", GRM_SOURCE_DIR "/tests/fixtures/models/sbm-grm-format2.safetensors",
                     "cpu", limits);
  EXPECT_EQ(worker.ask("", forever).status, 504);
  // It would be answered by the one before it, if that counted as an answer.
  EXPECT_EQ(worker.ask("key", forever).status, 504);
  EXPECT_EQ(worker.ask("key", [](Model&) { return said("soon"); }).body, "soon");
  EXPECT_EQ(worker.counts().late, 2u);
  EXPECT_EQ(worker.counts().computed, 1u);
}

TEST(ModelWorker, EndsWhatIsComputedWhenItStops) {
  ModelWorker worker("sbm", GRM_SOURCE_DIR "/tests/fixtures/models/sbm-grm-format2.safetensors",
                     "cpu", ModelWorker::Limits());
  std::thread end([&worker] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    worker.stop();
  });
  EXPECT_EQ(worker.ask("", forever).status, 503);
  end.join();
  EXPECT_EQ(worker.ask("", [](Model&) { return said("late"); }).status, 503);
}

}  // namespace
}  // namespace grm::serve
