// The choice at the end of a search, from validation scores and losses alone.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/lists.h"
#include "grm/core/error.h"
#include "study/table.h"
#include "study/tune.h"
#include "train/recorded_config.h"

namespace grm::study {
namespace {

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// What an option has that a configuration does not write down: its default.
std::string unwritten(const std::string& config, const std::string& key) {
  const size_t dot = key.find('.');
  const std::string section = key.substr(0, dot);
  const ConfigHead head = config_head(config, "a trial");
  const MethodChoice method(head.method, head.preset, head.dataset);
  TrainOptions train;
  OptionList train_list;
  train.declare(train_list);
  const OptionList& list = section == "method" ? method.options() : train_list;
  for (const Option& o : list.options()) {
    if (o.key == key.substr(dot + 1)) return o.default_value;
  }
  return "";  // an option of another program
}

std::vector<Setting> difference(const std::string& from, const std::string& to) {
  std::vector<Setting> list;
  const std::map<std::string, std::string> before = config_values(from), after = config_values(to);
  for (const auto& [key, value] : after) {
    if (key == ".seed") continue;
    const auto old = before.find(key);
    const std::string was = old == before.end() ? unwritten(from, key) : old->second;
    if (was != value) list.push_back({key, value, ""});
  }
  for (const auto& [key, value] : before) {
    if (after.count(key) == 0 && unwritten(to, key) != value) {
      list.push_back({key, unwritten(to, key), ""});
    }
  }
  return list;
}

struct Trial {
  TrialScores scores;
  bool complete = true;
  std::map<std::string, std::string> configs;  // of its first seed, by dataset
};

// All trials out of which one is chosen: of a method and variant on a dataset, or on all draws of it.
struct Search {
  std::string column, method, variant;
  std::vector<std::string> datasets;
  std::map<int64_t, Trial> trials;
  bool ended = true;

  // Complete trials with the most scores: with halving, those of the last round.
  std::vector<TrialScores> candidates() const {
    size_t most = 0;
    for (const auto& [number, trial] : trials) {
      if (trial.complete) most = std::max(most, trial.scores.validation.size());
    }
    std::vector<TrialScores> list;
    for (const auto& [number, trial] : trials) {
      if (trial.complete && trial.scores.validation.size() == most) list.push_back(trial.scores);
    }
    return list;
  }
};

void add_trial(Search& search, const CellRow& cell) {
  add_once(search.datasets, cell.dataset);
  Trial& trial = search.trials[cell.trial];
  trial.scores.trial = cell.trial;
  trial.configs.try_emplace(cell.dataset, cell.config);
  if (cell.state == "todo" || cell.state == "running") search.ended = false;
  if (cell.state != "done") {
    trial.complete = false;
    return;
  }
  const Chosen chosen = cell.run_record().chosen.at("val");
  trial.scores.validation.push_back(chosen.validation);
  trial.scores.errors = chosen.smaller_is_better;
  if (!std::isnan(chosen.validation_loss)) trial.scores.losses.push_back(chosen.validation_loss);
}

// In the order of the cells, with the seeds before `behind` alone.
std::vector<Search> searches_of(const std::vector<CellRow>& cells, bool together, int64_t behind) {
  std::vector<Search> searches;
  std::map<std::vector<std::string>, size_t> places;
  for (const CellRow& cell : cells) {
    if (cell.seed >= behind) continue;
    const std::string column = together ? without_seed(cell.dataset) : cell.dataset;
    const auto [place, fresh] =
        places.insert({{column, cell.method, cell.variant}, searches.size()});
    if (fresh) searches.push_back({column, cell.method, cell.variant, {}, {}, true});
    add_trial(searches[place->second], cell);
  }
  return searches;
}

// As the study in the database says; one that cannot be read any more has no such thing.
bool draws_together(const Store& store, const std::string& study) {
  for (const StudyRow& row : store.studies()) {
    if (row.name != study) continue;
    try {
      const StudySpec spec = parse_spec(row.spec, row.name);
      return spec.tune && spec.tune->draws_together;
    } catch (const Error&) {
      return false;
    }
  }
  return false;
}

}  // namespace

size_t best_trial(const std::vector<TrialScores>& trials) {
  ensure(!trials.empty(), "best_trial: no trials");
  std::vector<const TrialScores*> order;
  for (const TrialScores& trial : trials) {
    ensure(!trial.validation.empty(), "best_trial: a trial without scores");
    order.push_back(&trial);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->trial < b->trial; });
  std::vector<double> means, losses;
  for (const TrialScores* trial : order) {
    means.push_back((trial->errors ? -1.0 : 1.0) * mean(trial->validation));
    const bool known = trial->losses.size() == trial->validation.size();
    losses.push_back(known ? mean(trial->losses) : kNoLoss);
  }
  return static_cast<size_t>(order[choose_by_validation(means, losses)] - trials.data());
}

std::map<std::vector<std::string>, std::vector<int64_t>> survivors(const StudySpec& spec,
                                                                   const Store& store,
                                                                   int64_t seeds, int64_t keep) {
  std::map<std::vector<std::string>, std::vector<int64_t>> kept;
  const int64_t behind = spec.tune->first_seed + seeds;
  for (const Search& search :
       searches_of(store.cells(spec.name, "trial"), spec.tune->draws_together, behind)) {
    std::vector<TrialScores> left = search.candidates();
    std::vector<int64_t> best;
    while (!left.empty() && static_cast<int64_t>(best.size()) < keep) {
      const size_t next = best_trial(left);
      best.push_back(left[next].trial);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
    }
    for (const std::string& dataset : search.datasets) {
      kept[{dataset, search.method, search.variant}] = best;
    }
  }
  return kept;
}

std::vector<Winner> winners(const Store& store, const std::string& study) {
  std::vector<Winner> list;
  for (const Search& search : searches_of(store.cells(study, "trial"), draws_together(store, study),
                                          std::numeric_limits<int64_t>::max())) {
    const std::vector<TrialScores> candidates = search.candidates();
    if (!search.ended || candidates.empty()) continue;
    const TrialScores& best = candidates[best_trial(candidates)];
    const auto complete = std::count_if(search.trials.begin(), search.trials.end(),
                                        [](const auto& entry) { return entry.second.complete; });
    for (const std::string& dataset : search.datasets) {
      list.push_back({dataset, search.method, search.variant, best.trial, mean(best.validation),
                      static_cast<int64_t>(complete),
                      difference(search.trials.at(0).configs.at(dataset),
                                 search.trials.at(best.trial).configs.at(dataset))});
    }
  }
  return list;
}

}  // namespace grm::study
