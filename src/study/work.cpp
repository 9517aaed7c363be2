// A worker: takes cells of studies that were planned anywhere.
#include <poll.h>

#include <set>

#include "study/follow.h"
#include "study/tune.h"

namespace grm::study {
namespace {

constexpr int kWaitMilliseconds = 1000;

// The next round or the last runs of searches whose trials have all ended. Whoever notices first plans
// them.
bool plan_last_runs(Store& store, const std::string& study) {
  bool any = false;
  for (const StudyRow& row : store.studies()) {
    if ((!study.empty() && row.name != study) || !row.tuned) continue;
    const std::map<std::string, int64_t> trials = store.counts(row.name, "trial");
    if (trials.count("todo") || trials.count("running")) continue;
    if (!store.counts(row.name, "final").empty()) continue;
    const StudySpec spec = parse_spec(row.spec, row.name);
    const std::vector<PlannedCell> known = trial_cells(spec, store);
    if (known.size() > store.cells(row.name, "trial").size()) {
      store.plan(spec, "trial", known);
      any = true;
      continue;
    }
    const std::vector<Winner> chosen = winners(store, row.name);
    if (chosen.empty()) continue;
    store.plan(spec, "final", final_cells(spec, chosen));
    any = true;
  }
  return any;
}

void add(Outcome& all, Outcome part) {
  all.interrupted = part.interrupted;
  all.states = std::move(part.states);
  all.failed.insert(all.failed.end(), part.failed.begin(), part.failed.end());
  all.no_data.insert(all.no_data.end(), part.no_data.begin(), part.no_data.end());
  all.seconds += part.seconds;
  all.processes += part.processes;
  all.done += part.done;
}

bool known(const Store& store, const std::string& study) {
  for (const StudyRow& row : store.studies()) {
    if (row.name == study) return true;
  }
  return false;
}

}  // namespace

Outcome work(const std::string& study, const RunnerOptions& given, const RunnerHooks& hooks,
             bool wait) {
  RunnerOptions options = with_defaults(given);
  options.worker = true;
  require_server(options.database, "grm study work");
  if (!wait) Store(options.database, Open::read);  // says at once that there is none
  Store store(options.database, wait ? Open::create : Open::existing);
  if (!study.empty() && !wait) store.study(study);
  const auto stopped = [&] { return hooks.interrupted && hooks.interrupted(); };
  std::set<std::string> checked;
  Outcome all;
  for (;;) {
    while (wait && !study.empty() && !known(store, study) && !stopped()) {
      poll(nullptr, 0, kWaitMilliseconds);
    }
    for (const StudyRow& row : store.studies()) {
      if ((!study.empty() && row.name != study) || !checked.insert(row.name).second) continue;
      for (const char* phase : {"run", "trial", "final"}) {
        distrust_changed_data(store, row.name, phase, options.data, false);
      }
    }
    add(all, take_cells(study, "", options, hooks, store, -1,
                        [&] { return options.cells == 0 && plan_last_runs(store, study); }));
    if (!wait || all.interrupted) return all;
    while (!stopped() && !store.counts(study, "").count("todo")) {
      poll(nullptr, 0, kWaitMilliseconds);
    }
    all.interrupted = stopped();
    if (all.interrupted) return all;
  }
}

}  // namespace grm::study
