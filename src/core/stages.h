#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace grm {

struct StageTime {
  std::string name;
  double seconds = 0.0;
  int64_t calls = 0;
};

/// Where the time of this thread goes while the recorder lives. Code marks its stages with `Stage`;
/// without a recorder a mark costs one look at a pointer. A second counts once, for the innermost
/// stage that is open. Recorders may be nested: the inner one takes over while it lives.
class StageRecorder {
 public:
  /// `synchronise`, if given, is called at every mark: for work that goes on elsewhere after the
  /// call that asked for it.
  explicit StageRecorder(std::function<void()> synchronise = {});
  ~StageRecorder();
  StageRecorder(const StageRecorder&) = delete;
  StageRecorder& operator=(const StageRecorder&) = delete;

  /// The stages met so far, in the order of their first mark.
  const std::vector<StageTime>& times() const { return times_; }
  /// What note_size() told, by name, in order.
  const std::map<std::string, std::vector<double>>& sizes() const { return sizes_; }
  /// Forgets times and sizes; no stage may be open.
  void reset();

  /// The recorder of this thread, or null.
  static StageRecorder* current();

 private:
  friend class Stage;
  friend void note_size(const char* name, double value);
  using Clock = std::chrono::steady_clock;
  void enter(const char* name);
  void leave();
  void charge_open_stage();

  std::function<void()> synchronise_;
  StageRecorder* outer_;
  std::vector<StageTime> times_;
  std::vector<size_t> open_;  // positions in times_
  Clock::time_point since_;   // of the last mark
  std::map<std::string, std::vector<double>> sizes_;
};

/// Marks a stage from here to the end of the block: `const Stage stage("encode");`.
class Stage {
 public:
  explicit Stage(const char* name) : recorder_(StageRecorder::current()) {
    if (recorder_) recorder_->enter(name);
  }
  ~Stage() {
    if (recorder_) recorder_->leave();
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

 private:
  StageRecorder* recorder_;
};

/// Tells the recorder, if there is one, how large something turned out to be that cannot be known
/// from the shapes of the data, such as the number of influential nodes.
void note_size(const char* name, double value);

}  // namespace grm
