#include "core/stages.h"

#include <algorithm>

#include "grm/core/error.h"

namespace grm {
namespace {
thread_local StageRecorder* g_recorder = nullptr;
}

StageRecorder::StageRecorder(std::function<void()> synchronise)
    : synchronise_(std::move(synchronise)), outer_(g_recorder) {
  g_recorder = this;
}

StageRecorder::~StageRecorder() {
  g_recorder = outer_;
}

StageRecorder* StageRecorder::current() {
  return g_recorder;
}

void StageRecorder::reset() {
  ensure(open_.empty(), "StageRecorder: reset inside a stage");
  times_.clear();
  sizes_.clear();
}

void StageRecorder::charge_open_stage() {
  if (synchronise_) synchronise_();
  const Clock::time_point now = Clock::now();
  if (!open_.empty()) {
    times_[open_.back()].seconds += std::chrono::duration<double>(now - since_).count();
  }
  since_ = now;
}

void StageRecorder::enter(const char* name) {
  charge_open_stage();
  auto found = std::find_if(times_.begin(), times_.end(),
                            [&](const StageTime& stage) { return stage.name == name; });
  if (found == times_.end()) found = times_.insert(times_.end(), {name, 0.0, 0});
  ++found->calls;
  open_.push_back(static_cast<size_t>(found - times_.begin()));
}

void StageRecorder::leave() {
  charge_open_stage();
  open_.pop_back();
}

void note_size(const char* name, double value) {
  if (g_recorder) g_recorder->sizes_[name].push_back(value);
}

}  // namespace grm
