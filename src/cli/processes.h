#pragma once

#include <memory>
#include <vector>

#include "cli/cli.h"
#include "core/system/process.h"
#include "dist/group.h"
#include "grm/train/config.h"

namespace grm::cli {

/// Flags of verbs that several processes can run together.
struct ProcessFlags {
  int64_t processes = 0;  // to be started here; 0: what a launcher says
  double timeout = 60.0;
  int64_t row_cache = 64;  // MiB
};
void add_process_flags(CLI::App& verb, ProcessFlags& flags);

/// The processes that work on one command together: those of torchrun, mpirun or srun, or as many as
/// --processes starts. While it lives, only rank 0 talks on the terminal.
class Processes {
 public:
  /// `advice` says what to do about a process that is lost.
  Processes(const ProcessFlags& flags, const Common& common, const std::string& advice = "");
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  const std::shared_ptr<dist::Group>& group() const { return group_; }
  bool first() const { return group_->first(); }
  int world() const { return group_->world(); }

  /// Where data is looked for; graphs in parts are held by these processes together.
  DataContext data_context(const Common& common, const ProcessFlags& flags) const;

  /// Runs the command; if it fails here alone, the others are told why.
  int run(const std::function<int()>& command);
  /// All processes have come to an end in order.
  void leave();

 private:
  class EarlyEnds;
  void start_others(int port);

  int64_t processes_;
  std::vector<std::unique_ptr<ChildProcess>> children_;  // ranks 1, 2, ...
  std::shared_ptr<dist::Group> group_;
};

/// Several processes have nothing to share of a step that is not cut: train.shards becomes one for
/// each. Error(config) where steps cannot be cut.
void choose_shards(RunConfig& config, const Task& task, const Processes& processes);

}  // namespace grm::cli
