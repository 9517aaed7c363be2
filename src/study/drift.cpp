#include "study/drift.h"

#include <algorithm>
#include <cmath>

#include "grm/core/error.h"
#include "study/statistics.h"

namespace grm::study {
namespace {

constexpr double kFewestDegrees = 3.0;

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

double squares_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

}  // namespace

DriftReference::DriftReference(const std::vector<Sample>& level,
                               const std::vector<Sample>& others) {
  for (const Sample& sample : level) sorted_.insert(sorted_.end(), sample.begin(), sample.end());
  ensure(!sorted_.empty(), "DriftReference: no items");
  std::sort(sorted_.begin(), sorted_.end());
  for (int what = 0; what < 2; ++what) {
    Law& law = law_[what];
    double squares = 0.0, items = 0.0, between = 0.0;
    std::vector<double> inverse_items;
    for (const std::vector<Sample>* kind : {&level, &others}) {
      std::vector<double> means;
      for (const Sample& sample : *kind) {
        if (sample.empty()) continue;
        std::vector<double> scores;
        for (const double value : sample) scores.push_back(score(value, what));
        means.push_back(mean_of(scores));
        squares += squares_of(scores);
        items += static_cast<double>(scores.size() - 1);
        inverse_items.push_back(1.0 / static_cast<double>(scores.size()));
      }
      if (kind == &level) {
        law.centre = mean_of(means);
        law.domains = static_cast<double>(means.size());
      }
      if (means.size() < 2) continue;
      between += squares_of(means);
      law.freedom += static_cast<double>(means.size() - 1);
    }
    law.items = static_cast<double>(sorted_.size());
    law.within = items > 0.0 ? squares / items : 0.0;
    law.between = law.freedom > 0.0 ? between / law.freedom : 0.0;
    law.sampled = law.within * mean_of(inverse_items);
  }
}

double DriftReference::rank(double value) const {
  const auto [low, high] = std::equal_range(sorted_.begin(), sorted_.end(), value);
  const auto below = static_cast<double>(low - sorted_.begin());
  return (below + 0.5 * static_cast<double>(high - low)) / static_cast<double>(sorted_.size());
}

double DriftReference::score(double value, int what) const {
  return what == 0 ? rank(value) : std::abs(rank(value) - 0.5);
}

DriftTest DriftReference::compare(const Sample& sample, int what) const {
  if (sample.empty()) return {};
  const Law& law = law_[what];
  double sum = 0.0;
  for (const double value : sample) sum += score(value, what);
  const auto items = static_cast<double>(sample.size());
  DriftTest test;
  test.effect = sum / items - law.centre;
  const bool known = law.freedom >= kFewestDegrees;
  if (std::abs(test.effect) < (known ? kLeastEffect : kLeastEffectUnknown)) return test;
  // A new domain varies as the reference domains do, and more if it has fewer items than they have;
  // never less than chance alone gives. A constant has no variance: half an item stands for it.
  const double least = 0.25 / (law.items * law.items);
  double of_new = law.within / items, of_centre = law.within / law.items;
  if (known) {
    const double between = std::max(law.between, law.sampled);
    of_new = between + std::max(0.0, law.within / items - law.sampled);
    of_centre = between / law.domains;
  }
  const double t = test.effect / std::sqrt(std::max(of_new + of_centre, least));
  test.p = known ? two_sided_p(t, law.freedom) : std::erfc(std::abs(t) / std::sqrt(2.0));
  return test;
}

double alpha_of(double alpha, int64_t k) {
  return alpha / (static_cast<double>(k) * static_cast<double>(k + 1));
}

}  // namespace grm::study
