// A study, phase by phase: planned here, and run here or by workers elsewhere.
#include "grm/core/error.h"
#include "study/follow.h"
#include "study/runner.h"

namespace grm::study {

std::string cell_title(const CellRow& cell) {
  return fmt::format("{} {}{}{}{} seed {}", cell.dataset, cell.method,
                     cell.variant.empty() ? "" : " ", cell.variant,
                     cell.phase == "trial" ? fmt::format(" trial {}", cell.trial) : "", cell.seed);
}

Outcome run_phase(const StudySpec& spec, const std::string& phase,
                  const std::vector<PlannedCell>& cells, double expected_minutes,
                  const RunnerOptions& given, const RunnerHooks& hooks) {
  const RunnerOptions options = with_defaults(given);
  if (options.on != Place::here) require_server(options.database, "--on " + to_string(options.on));
  Store store(options.database, Open::create);
  for (const std::string& line : store.plan(spec, phase, cells)) {
    if (hooks.on_message) hooks.on_message(line);
  }
  for (const std::string& line : distrust_changed_data(store, spec.name, phase, options.data)) {
    if (hooks.on_message) hooks.on_message(line);
  }
  store.reopen(spec.name, phase, options.retry_failed);
  const Forecast ahead = forecast(&store, spec, phase, cells, expected_minutes, options);
  if (hooks.on_start) hooks.on_start(ahead);
  if (options.on == Place::here) {
    return take_cells(spec.name, phase, options, hooks, store, ahead.seconds);
  }
  return follow_phase(spec.name, phase, options, hooks, store, ahead.seconds);
}

Outcome run_study(const StudySpec& spec, const RunnerOptions& options, const RunnerHooks& hooks) {
  return run_phase(spec, "run", expand(spec), spec.expected_minutes, options, hooks);
}

}  // namespace grm::study
