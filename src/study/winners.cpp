// The choice at the end of a search, from validation scores alone.
#include <map>

#include "grm/core/error.h"
#include "study/tune.h"
#include "train/recorded_config.h"

namespace grm::study {
namespace {

std::vector<Setting> difference(const std::string& from, const std::string& to) {
  std::vector<Setting> list;
  const std::map<std::string, std::string> before = config_values(from);
  for (const auto& [key, value] : config_values(to)) {
    if (key == ".seed") continue;
    const auto old = before.find(key);
    if (old == before.end() || old->second != value) list.push_back({key, value, ""});
  }
  return list;
}

}  // namespace

size_t best_trial(const std::vector<TrialScores>& trials) {
  ensure(!trials.empty(), "best_trial: no trials");
  std::vector<double> means;
  for (const TrialScores& trial : trials) {
    ensure(!trial.validation.empty(), "best_trial: a trial without scores");
    double sum = 0;
    for (const double value : trial.validation) sum += value;
    means.push_back(sum / static_cast<double>(trial.validation.size()));
  }
  size_t best = 0;
  for (size_t k = 1; k < trials.size(); ++k) {
    if (means[k] > means[best] ||
        (means[k] == means[best] && trials[k].trial < trials[best].trial)) {
      best = k;
    }
  }
  return best;
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
      trial.scores.validation.push_back(cell.run_record().chosen.at("val").validation);
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
    double mean = 0;
    for (const double value : best.validation) {
      mean += value / static_cast<double>(best.validation.size());
    }
    list.push_back({name[0], name[1], name[2], best.trial, mean,
                    static_cast<int64_t>(candidates.size()),
                    difference(search.trials.at(0).config, search.trials.at(best.trial).config)});
  }
  return list;
}

}  // namespace grm::study
