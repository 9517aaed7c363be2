#include "study/fit_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace grm::study {
namespace {

// Nominal rates, far below what two cores reach: a plan should end before its minutes do.
constexpr double kFlops = 6e9, kBytes = 3e9;  // a second
constexpr double kStep = 2e-3;                // seconds that a step costs besides
constexpr double kEvaluation = 0.5;           // of an epoch's work
constexpr double kSearchShare = 0.7;          // of the minutes; the rest is for loading and report

struct Schedule {
  std::string words;
  std::vector<Rung> rungs;
};

// From rich to poor, for n candidates.
std::vector<Schedule> schedules(int64_t n) {
  const int64_t half = (n + 1) / 2, third = std::max<int64_t>(3, (n + 2) / 3);
  return {
      {"all candidates in full length with three seeds", {{1.0, 3, 1}}},
      {"all in full length, the best four with three seeds", {{1.0, 1, 4}, {1.0, 3, 1}}},
      {"all for 30 % of their epochs, the better half in full length, the best three with three "
       "seeds",
       {{0.3, 1, half}, {1.0, 1, 3}, {1.0, 3, 1}}},
      {"all for 10 % of their epochs, the best third for 40 %, the best two in full length",
       {{0.1, 1, third}, {0.4, 1, 2}, {1.0, 1, 1}}}};
}

// At the most, whoever stays: the dearest do.
double most_seconds(const std::vector<Rung>& rungs, std::vector<double> seconds) {
  std::sort(seconds.rbegin(), seconds.rend());
  double sum = 0.0, share_before = 0.0;
  int64_t seeds_before = 0;
  auto live = seconds.size();
  for (const Rung& rung : rungs) {
    for (size_t k = 0; k < live; ++k) {
      const double done = share_before * static_cast<double>(seeds_before);
      sum += seconds[k] * std::max(0.0, rung.share * static_cast<double>(rung.seeds) - done);
    }
    share_before = rung.share;
    seeds_before = rung.seeds;
    live = std::min(live, static_cast<size_t>(rung.keep));
  }
  return sum;
}

}  // namespace

double counted_seconds(const RunConfig& config, const Task& task) {
  const RunShape run(task, config.train.epochs, {config.train.batch, config.train.fanout});
  const EpochShape epoch = config.method.recipe().epoch(run.training);
  const std::optional<WorkCount> work = config.method.recipe().work(run);
  double seconds = kStep * static_cast<double>(epoch.steps);
  if (work) seconds += work->flops() / kFlops + work->bytes() / kBytes;
  const double evaluations = kEvaluation / static_cast<double>(config.train.eval_every);
  return seconds * (1.0 + evaluations) * static_cast<double>(config.train.epochs);
}

FitPlan plan_fit(const std::vector<double>& seconds, double minutes) {
  FitPlan plan;
  plan.budget = kSearchShare * 60.0 * minutes;
  plan.candidates.resize(seconds.size());
  std::iota(plan.candidates.begin(), plan.candidates.end(), size_t{0});
  for (;;) {
    std::vector<double> taking_part;
    for (const size_t k : plan.candidates) taking_part.push_back(seconds[k]);
    for (const Schedule& schedule : schedules(static_cast<int64_t>(taking_part.size()))) {
      plan.schedule = schedule.words;
      plan.rungs = schedule.rungs;
      plan.seconds = most_seconds(schedule.rungs, taking_part);
      if (plan.seconds <= plan.budget) break;
    }
    if (plan.seconds <= plan.budget || plan.candidates.size() <= 1) break;
    const auto dearest = std::max_element(taking_part.begin(), taking_part.end());
    const auto at = plan.candidates.begin() + (dearest - taking_part.begin());
    plan.left_out.push_back(*at);
    plan.candidates.erase(at);
  }
  std::sort(plan.left_out.begin(), plan.left_out.end());
  return plan;
}

int64_t epochs_at(const RunConfig& config, double share) {
  const int64_t all = config.train.epochs, every = config.train.eval_every;
  const auto wanted = static_cast<int64_t>(std::ceil(share * static_cast<double>(all) - 1e-9));
  return std::min(all, (std::max<int64_t>(wanted, 1) + every - 1) / every * every);
}

}  // namespace grm::study
