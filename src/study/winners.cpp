// The choice at the end of a search, from validation scores and losses alone.
#include <algorithm>
#include <cmath>
#include <map>

#include "grm/core/error.h"
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

std::vector<Winner> winners(const Store& store, const std::string& study) {
  struct Trial {
    TrialScores scores;
    bool complete = true;
    std::string config;  // of its first seed
  };
  struct Search {
    std::map<int64_t, Trial> trials;
    bool ended = true;
  };
  std::vector<std::vector<std::string>> order;
  std::map<std::vector<std::string>, Search> searches;
  for (const CellRow& cell : store.cells(study, "trial")) {
    const std::vector<std::string> name = {cell.dataset, cell.method, cell.variant};
    if (!searches.count(name)) order.push_back(name);
    Search& search = searches[name];
    Trial& trial = search.trials[cell.trial];
    trial.scores.trial = cell.trial;
    if (trial.config.empty()) trial.config = cell.config;
    if (cell.state == "todo" || cell.state == "running") search.ended = false;
    if (cell.state == "done") {
      const Chosen chosen = cell.run_record().chosen.at("val");
      trial.scores.validation.push_back(chosen.validation);
      trial.scores.errors = chosen.smaller_is_better;
      if (!std::isnan(chosen.validation_loss)) {
        trial.scores.losses.push_back(chosen.validation_loss);
      }
    } else {
      trial.complete = false;
    }
  }
  std::vector<Winner> list;
  for (const std::vector<std::string>& name : order) {
    const Search& search = searches[name];
    std::vector<TrialScores> candidates;
    for (const auto& [number, trial] : search.trials) {
      if (trial.complete) candidates.push_back(trial.scores);
    }
    if (!search.ended || candidates.empty()) continue;
    const TrialScores& best = candidates[best_trial(candidates)];
    list.push_back({name[0], name[1], name[2], best.trial, mean(best.validation),
                    static_cast<int64_t>(candidates.size()),
                    difference(search.trials.at(0).config, search.trials.at(best.trial).config)});
  }
  return list;
}

}  // namespace grm::study
