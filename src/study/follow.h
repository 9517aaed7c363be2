#pragma once

#include <functional>
#include <string>

#include "study/runner.h"

namespace grm::study {

/// Error(config) for a file: it cannot be shared between machines. `what` is who asks.
void require_server(const std::string& database, const std::string& what);

/// Watches others run a planned phase until nothing is left; sees to it that a cluster has jobs.
Outcome follow_phase(const std::string& study, const std::string& phase,
                     const RunnerOptions& options, const RunnerHooks& hooks, Store& store,
                     double first_estimate);

/// Takes cells of one study, or of all ("") that a server's database has, wherever they were planned,
/// and plans the last runs of searches whose trials have ended. Ends when nothing is left to do or being
/// done; `wait`: goes on until it is interrupted.
Outcome work(const std::string& study, const RunnerOptions& options, const RunnerHooks& hooks,
             bool wait);

/// How fast a study goes ("" for all), and who works on it.
struct Pace {
  std::vector<WorkerRow> workers;
  double per_hour = -1;  // cells that ended, lately; below 0: unknown
  double left = -1;      // seconds; below 0: unknown
};
Pace pace_of(const Store& store, const std::string& study);

}  // namespace grm::study
