#include "study/tune.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "grm/core/error.h"
#include "grm/core/rng.h"

namespace grm::study {
namespace {

const TuneSpec& tune_of(const StudySpec& spec) {
  if (!spec.tune) {
    fail(ErrorKind::config, "{}: the study has no [tune] section; 'grm study run' runs it as it is",
         spec.origin);
  }
  return *spec.tune;
}

// The dimensions of a method: those for all, then its own, which replace those of the same key.
std::vector<SpaceSpec> space_of(const TuneSpec& tune, const MethodSpec& method) {
  std::vector<SpaceSpec> space = tune.space;
  for (const std::string& name : {method.name, method.text}) {
    for (const auto& [owner, own] : tune.by_method) {
      if (owner != name) continue;
      for (const SpaceSpec& dimension : own) {
        const auto same = std::find_if(space.begin(), space.end(), [&](const SpaceSpec& other) {
          return other.key == dimension.key;
        });
        if (same == space.end())
          space.push_back(dimension);
        else
          *same = dimension;
      }
    }
    if (method.name == method.text) break;
  }
  if (space.empty()) {
    fail(ErrorKind::config, "{}: there is nothing to tune for {}; add [tune.methods.{}]",
         tune.place, method.text, method.name);
  }
  return space;
}

std::string draw(const SpaceSpec& space, Stream stream) {
  if (!space.choices.empty()) return space.choices[stream.below(space.choices.size())];
  const double high = space.whole ? space.high + 1 : space.high;  // whole numbers are cut down
  const double u = stream.uniform();
  double value =
      space.log ? space.low * std::pow(high / space.low, u) : space.low + (high - space.low) * u;
  if (space.whole) {
    value = std::min(std::floor(value), space.high);
    return fmt::format("{}", static_cast<int64_t>(value));
  }
  value = std::stod(fmt::format("{:.4g}", value));  // short enough to read and to write down
  return fmt::format("{}", std::clamp(value, space.low, space.high));
}

int64_t grid_points(const std::vector<SpaceSpec>& space) {
  int64_t points = 1;
  for (const SpaceSpec& dimension : space) {
    points *= static_cast<int64_t>(dimension.choices.size());
    if (points > 1000000) fail(ErrorKind::config, "{}: the grid is too large", dimension.place);
  }
  return points;
}

std::vector<Setting> grid_point(const std::vector<SpaceSpec>& space, int64_t index) {
  std::vector<Setting> settings;
  uint64_t rest = static_cast<uint64_t>(index);
  for (const SpaceSpec& dimension : space) {
    const size_t choices = dimension.choices.size();
    settings.push_back({dimension.key, dimension.choices[rest % choices], dimension.place});
    rest /= choices;
  }
  return settings;
}

std::vector<Setting> random_point(const std::vector<SpaceSpec>& space, const std::string& name,
                                  int64_t trial, uint64_t attempt) {
  std::vector<Setting> settings;
  for (const SpaceSpec& dimension : space) {
    const Stream stream =
        Rng(0).stream(name + "/" + dimension.key, static_cast<uint64_t>(trial), attempt);
    settings.push_back({dimension.key, draw(dimension, stream), dimension.place});
  }
  return settings;
}

// Whether these values are what the study has there anyway: trial 0 over again.
bool repeats_trial_0(const StudySpec& spec, const DatasetSpec& dataset, const MethodSpec& method,
                     const VariantSpec& variant, const std::vector<Setting>& settings) {
  RunConfig config = configure(spec, dataset, method, variant);
  const std::string before = config.to_toml(0);
  for (const Setting& setting : settings) apply_setting(config, setting, method);
  return config.to_toml(0) == before;
}

using Group = std::vector<std::string>;  // dataset, method, variant

// The runs of the trials that `trials` names for each dataset, method and variant.
std::vector<PlannedCell> cells_of(const StudySpec& spec, const std::string& test,
                                  int64_t first_seed, int64_t seeds,
                                  const std::function<std::vector<int64_t>(const Group&)>& trials) {
  std::vector<PlannedCell> cells;
  for (const DatasetSpec& dataset : spec.datasets) {
    for (const MethodSpec& method : spec.methods) {
      for (const VariantSpec& variant : spec.variants) {
        if (!variant.takes(method)) continue;
        for (const int64_t trial : trials({dataset.label, method.text, variant.name})) {
          RunConfig config = configure(spec, dataset, method, variant);
          for (const Setting& setting : trial_settings(spec, dataset, method, variant, trial)) {
            apply_setting(config, setting, method);
          }
          config.set("train.test", test);
          if (config.train.selection != Selection::val) {
            fail(ErrorKind::config,
                 "{}: a search chooses by validation; train.selection must be val", spec.origin);
          }
          for (int64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
            cells.push_back(
                {dataset.label, method.text, variant.name, trial, seed, config.to_toml(seed)});
          }
        }
      }
    }
  }
  return cells;
}

// A trial that failed (values that make a method diverge) is no failure of the study, as long as
// another one could be chosen.
void forgive_losers(std::vector<CellRow>& failed, const std::vector<Winner>& chosen,
                    const RunnerHooks& hooks) {
  const auto end = std::remove_if(failed.begin(), failed.end(), [&](const CellRow& cell) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const Winner& winner) {
      return winner.dataset == cell.dataset && winner.method == cell.method &&
             winner.variant == cell.variant;
    });
  });
  const auto count = std::distance(end, failed.end());
  failed.erase(end, failed.end());
  if (count > 0 && hooks.on_message) {
    hooks.on_message(fmt::format("{} runs of trials failed; those trials do not take part", count));
  }
}

}  // namespace

int64_t trial_count(const StudySpec& spec) {
  const TuneSpec& tune = tune_of(spec);
  if (tune.search == "random") return tune.trials;
  int64_t points = -1;
  for (const MethodSpec& method : spec.methods) {
    const int64_t own = grid_points(space_of(tune, method));
    if (points < 0) points = own;
    if (own != points) {
      fail(ErrorKind::config,
           "{}: every method gets the same number of trials, but the grid of {} has {} points and "
           "that of {} has {}",
           tune.place, spec.methods.front().text, points, method.text, own);
    }
  }
  if (tune.trials != 0 && tune.trials != points + 1) {
    fail(ErrorKind::config,
         "{}: trials = {}, but the grid has {} points and trial 0 is the method as it stands; "
         "remove 'trials'",
         tune.place, tune.trials, points);
  }
  return points + 1;
}

std::vector<Setting> trial_settings(const StudySpec& spec, const DatasetSpec& dataset,
                                    const MethodSpec& method, const VariantSpec& variant,
                                    int64_t trial) {
  const TuneSpec& tune = tune_of(spec);
  const std::vector<SpaceSpec> space = space_of(tune, method);
  if (trial == 0) return {};
  if (tune.search == "grid") return grid_point(space, trial - 1);
  // A trial that repeats an earlier one is drawn again: with few choices that happens often, and
  // a method would be given fewer trials than the others. A space may be too small to avoid it.
  constexpr uint64_t kDraws = 100;
  std::set<std::string> seen;
  std::vector<Setting> drawn;
  for (int64_t t = 1; t <= trial; ++t) {
    for (uint64_t attempt = 0; attempt < kDraws; ++attempt) {
      drawn = random_point(space, spec.name + "/" + method.text, t, attempt);
      std::string text;
      for (const Setting& setting : drawn) text += setting.value + "\n";
      if (!repeats_trial_0(spec, dataset, method, variant, drawn) && seen.insert(text).second)
        break;
    }
  }
  return drawn;
}

std::vector<PlannedCell> trial_cells(const StudySpec& spec) {
  std::vector<int64_t> all(static_cast<size_t>(trial_count(spec)));
  std::iota(all.begin(), all.end(), 0);
  const int64_t seeds = spec.tune->halving > 0 ? 1 : spec.tune->seeds;
  return cells_of(spec, "never", spec.tune->first_seed, seeds, [&](const Group&) { return all; });
}

std::vector<PlannedCell> trial_cells(const StudySpec& spec, const Store& store) {
  std::vector<PlannedCell> cells = trial_cells(spec);
  if (spec.tune->halving == 0) return cells;
  std::set<std::string> ended;
  for (const CellRow& cell : store.cells(spec.name, "trial")) {
    if (cell.state != "todo" && cell.state != "running") ended.insert(cell.config);
  }
  int64_t keep = trial_count(spec);
  for (int64_t round = 1; round < spec.tune->seeds; ++round) {
    const bool known = std::all_of(cells.begin(), cells.end(), [&](const PlannedCell& cell) {
      return ended.count(cell.config) > 0;
    });
    if (!known) break;
    keep = (keep + spec.tune->halving - 1) / spec.tune->halving;
    const auto best = survivors(spec, store, round, keep);
    const auto more =
        cells_of(spec, "never", spec.tune->first_seed + round, 1, [&](const Group& group) {
          const auto own = best.find(group);
          return own == best.end() ? std::vector<int64_t>() : own->second;
        });
    cells.insert(cells.end(), more.begin(), more.end());
  }
  return cells;
}

std::vector<PlannedCell> final_cells(const StudySpec& spec, const std::vector<Winner>& chosen) {
  return cells_of(spec, "selected", spec.first_seed, spec.seeds, [&](const Group& group) {
    std::vector<int64_t> own;
    for (const Winner& winner : chosen) {
      if (Group{winner.dataset, winner.method, winner.variant} == group)
        own.push_back(winner.trial);
    }
    return own;
  });
}

Outcome tune_study(const StudySpec& spec, const RunnerOptions& options, const RunnerHooks& hooks) {
  const std::vector<PlannedCell> first = trial_cells(spec);
  const double groups =
      static_cast<double>(spec.datasets.size() * spec.methods.size() * spec.variants.size());
  const double runs = static_cast<double>(first.size()) + groups * static_cast<double>(spec.seeds);
  const double per_cell = tune_of(spec).expected_minutes / runs;
  // Round by round, where a search halves; what is known of them already is planned at once.
  std::vector<PlannedCell> trials = trial_cells(spec, Store(options.database, Open::create));
  Outcome outcome;
  double seconds = 0;
  for (;;) {
    outcome = run_phase(spec, "trial", trials, per_cell * static_cast<double>(trials.size()),
                        options, hooks);
    seconds += outcome.seconds;
    if (outcome.interrupted) return outcome;
    std::vector<PlannedCell> more = trial_cells(spec, Store(options.database));
    if (more.size() <= trials.size()) break;
    trials = std::move(more);
  }
  outcome.seconds = seconds;
  const std::vector<Winner> chosen = winners(Store(options.database), spec.name);
  forgive_losers(outcome.failed, chosen, hooks);
  const std::vector<PlannedCell> last = final_cells(spec, chosen);
  const Outcome end =
      run_phase(spec, "final", last, per_cell * static_cast<double>(last.size()), options, hooks);
  outcome.interrupted = end.interrupted;
  for (const auto& [state, count] : end.states) outcome.states[state] += count;
  outcome.failed.insert(outcome.failed.end(), end.failed.begin(), end.failed.end());
  outcome.no_data.insert(outcome.no_data.end(), end.no_data.begin(), end.no_data.end());
  outcome.seconds += end.seconds;
  return outcome;
}

}  // namespace grm::study
