#include "train/summary.h"

#include <algorithm>
#include <cmath>

#include "grm/core/error.h"

namespace grm {

MeanStd mean_std(const std::vector<double>& values) {
  MeanStd result;
  if (values.empty()) return result;
  const double n = static_cast<double>(values.size());
  for (const double v : values) result.mean += v / n;
  double squares = 0.0;
  for (const double v : values) squares += (v - result.mean) * (v - result.mean);
  if (values.size() > 1) result.std = std::sqrt(squares / (n - 1));
  return result;
}

Summary summarise(const std::vector<RunRecord>& runs, const std::string& rule) {
  ensure(!runs.empty(), "summarise of no runs");
  Summary summary;
  const size_t domains = runs.front().chosen.at(rule).test.size();
  std::vector<double> validation, mins, avgs;
  for (const RunRecord& run : runs) {
    const Chosen& chosen = run.chosen.at(rule);
    validation.push_back(chosen.validation);
    mins.push_back(min_score(chosen.test));
    avgs.push_back(mean_score(chosen.test));
    summary.epochs.push_back(chosen.epoch);
  }
  for (size_t k = 0; k < domains; ++k) {
    std::vector<double> values;
    for (const RunRecord& run : runs) values.push_back(run.chosen.at(rule).test[k].value);
    summary.test.push_back({runs.front().chosen.at(rule).test[k].domain, mean_std(values)});
  }
  std::vector<double> means;
  for (const Summary::Row& row : summary.test) means.push_back(row.score.mean);
  if (!means.empty()) {
    const bool errors = runs.front().chosen.at(rule).test.front().error;
    summary.min = errors ? *std::max_element(means.begin(), means.end())
                         : *std::min_element(means.begin(), means.end());
  }
  summary.avg = mean_std(means).mean;
  summary.validation = mean_std(validation);
  summary.min_per_run = mean_std(mins);
  summary.avg_per_run = mean_std(avgs);
  return summary;
}

}  // namespace grm
