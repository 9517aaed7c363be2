#include "grm/train/selection.h"

#include <algorithm>
#include <numeric>

#include "grm/core/error.h"

namespace grm {

size_t first_maximum(const std::vector<double>& values) {
  ensure(!values.empty(), "first_maximum of nothing");
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

size_t choose_by_validation(const std::vector<double>& validation,
                            const std::vector<double>& losses) {
  size_t best = first_maximum(validation);
  for (size_t k = best + 1; k < losses.size(); ++k) {
    if (validation[k] == validation[best] && losses[k] < losses[best]) best = k;
  }
  return best;
}

size_t choose(Selection rule, const std::vector<Evaluation>& history, bool smaller) {
  if (rule == Selection::last) return history.size() - 1;
  const double sign = smaller ? -1.0 : 1.0;
  std::vector<double> values, losses;
  for (const Evaluation& e : history) {
    losses.push_back(e.validation_loss);
    if (rule == Selection::oracle) {
      values.push_back(sign * std::accumulate(e.test.begin(), e.test.end(), 0.0) /
                       static_cast<double>(std::max<size_t>(e.test.size(), 1)));
    } else {
      values.push_back(sign * e.validation);
    }
  }
  return rule == Selection::oracle ? first_maximum(values) : choose_by_validation(values, losses);
}

bool stops_early(StopRule rule, int64_t patience, int64_t warm_up,
                 const std::vector<Evaluation>& history, bool smaller) {
  const double sign = smaller ? -1.0 : 1.0;
  if (patience <= 0 || history.empty()) return false;
  const auto seen = static_cast<int64_t>(history.size());
  if (rule == StopRule::no_gain) {
    std::vector<double> values;
    for (const Evaluation& e : history) values.push_back(sign * e.validation);
    return seen - 1 - static_cast<int64_t>(first_maximum(values)) >= patience;
  }
  if (seen <= patience || history.back().epoch <= warm_up) return false;
  double sum = 0.0;
  for (int64_t k = seen - 1 - patience; k < seen - 1; ++k) sum += history[k].validation;
  return sign * history.back().validation < sign * sum / static_cast<double>(patience);
}

}  // namespace grm
