#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grm/train/config.h"
#include "train/run_files.h"

namespace grm {

/// The numbers of metrics.jsonl once more, for other programs: metrics.csv, a row for each epoch,
/// and an event file for TensorBoard. A run that resumes writes them anew from the lines that it
/// keeps, so no epoch appears twice.
class RunLogs {
 public:
  /// `folder` of the run; `metrics` is its metrics.jsonl as far as it is kept.
  RunLogs(RunLog which, const Task& task, const std::string& folder, const std::string& metrics);
  /// A line of metrics.jsonl.
  void add(const std::string& line);

 private:
  std::vector<std::string> tests_;  // groups that are scored, in order
  std::vector<std::string> terms_;  // of the loss, from the first line
  std::unique_ptr<MetricsLog> csv_, events_;
};

constexpr char kCsvLog[] = "metrics.csv";
constexpr char kEventLog[] = "events.out.tfevents.grm";

}  // namespace grm
