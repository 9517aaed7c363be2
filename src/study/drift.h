#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Whether a new domain differs from reference domains by more than these differ from each other.
// Every quantity is replaced by its rank among the reference items, so that neither units nor long
// tails matter, and the domain, not the item, is what is drawn from a law: months differ by nature.
namespace grm::study {

using Sample = std::vector<double>;  // the values of one quantity in one domain

/// One comparison. `effect` is a difference of mean ranks: 0.5 would be "all above all".
struct DriftTest {
  double effect = 0.0;
  double p = 1.0;
};

class DriftReference {
 public:
  /// `level`: the domains that a new one should be like, at least one with an item. `others`: more
  /// domains that tell how much domains differ, though their level may be another (predictions on
  /// training domains are surer than elsewhere).
  explicit DriftReference(const std::vector<Sample>& level, const std::vector<Sample>& others = {});

  /// Whether the values lie higher or lower, and whether they lie further out or nearer.
  DriftTest location(const Sample& sample) const { return compare(sample, 0); }
  DriftTest spread(const Sample& sample) const { return compare(sample, 1); }

 private:
  struct Law {
    double centre = 0.0;   // mean of the level domains' means
    double between = 0.0;  // variance of the means of domains, within their kind
    double within = 0.0;   // variance of the items of a domain
    double sampled = 0.0;  // mean over domains of within / items: what chance alone gives
    double freedom = 0.0;
    double domains = 0.0, items = 0.0;  // of the level
  };
  double rank(double value) const;
  double score(double value, int what) const;
  DriftTest compare(const Sample& sample, int what) const;

  std::vector<double> sorted_;  // items of the level domains
  Law law_[2];
};

/// Least difference of mean ranks that is worth an alarm; where fewer than three degrees of freedom
/// tell how domains differ by nature, the larger one.
constexpr double kLeastEffect = 0.02, kLeastEffectUnknown = 0.1;

/// The share of `alpha` that the k-th domain of a series (from 1) may spend: alpha / (k (k + 1)).
/// All of them together spend alpha, however long the series gets.
double alpha_of(double alpha, int64_t k);

}  // namespace grm::study
