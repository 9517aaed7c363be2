#pragma once

#include <string>

#include "grm/core/clock.h"
#include "grm/train/trainer.h"

namespace grm::cli {

/// Shows a run on stderr: a bar that redraws itself on a terminal, a line every tenth of the run
/// elsewhere, nothing when quiet.
class Progress {
 public:
  Progress(std::string title, bool quiet);
  void show(const EpochReport& report);
  void done();

 private:
  std::string title_;
  bool quiet_, terminal_;
  Stopwatch watch_;
  int64_t first_epoch_ = 0;  // epochs before it were done by an earlier process
  double last_drawn_ = -1.0;
};

}  // namespace grm::cli
