#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/clock.h"
#include "train/trainer.h"

namespace grm::cli {

/// Shows a run on stderr: a bar that redraws itself and fits the width on a terminal, a line every
/// tenth of the run elsewhere, nothing when quiet. Epochs with their rate, all loss terms by name,
/// the validation score with the best so far, and the time left.
class Progress {
 public:
  Progress(std::string title, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  void show(const EpochReport& report);
  /// Wipes the bar away.
  void done();

 private:
  struct Piece {
    int rank;  // the lowest are shown first where there is not room for all
    std::string text;
    bool bold = false;
  };
  std::vector<Piece> pieces(const EpochReport& report) const;
  std::string line(const EpochReport& report) const;
  std::string drawn(const EpochReport& report, size_t width);

  std::string title_;
  bool quiet_, terminal_;
  Stopwatch watch_;
  int64_t first_epoch_ = 0;  // the first one seen; epochs before it were another process's
  double first_time_ = 0.0;  // when it ended
  double now_ = 0.0;
  bool scored_ = false;  // whether there is a validation score yet
  double last_drawn_ = -1.0;
  std::map<int, size_t> widest_;  // of each piece so far: nothing moves when a number gets shorter
};

}  // namespace grm::cli
