#include "data/domain_classifier.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "grm/core/threads.h"

namespace grm {
namespace {

constexpr int64_t kMostItems = 5000;   // sampled on each side
constexpr int64_t kFewestItems = 20;   // below that a half says nothing
constexpr int kSteps = 60;             // gradient steps with momentum
constexpr int kPowerSteps = 10;        // of the power iteration that finds the step size
constexpr double kRidge = 0.01;        // holds down columns that only a few rows have
constexpr int64_t kRowsAtATime = 256;  // of one thread

std::vector<int64_t> sorted_choice(Stream draws, int64_t n, int64_t count) {
  std::vector<int64_t> ids = draws.choose(n, std::min(n, count));
  std::sort(ids.begin(), ids.end());
  return ids;
}

// A logistic regression on standardised columns, fitted by full-batch gradient steps. Columns are
// never standardised in memory: scale and mean act on the weights.
class Regression {
 public:
  // Row i belongs to class 1 if i >= split; `fit` are the rows to fit to.
  Regression(const ItemRows& rows, int64_t split, std::vector<int64_t> fit)
      : rows_(rows), split_(split), fit_(std::move(fit)) {
    standardise();
    descend();
  }

  std::vector<double> margins(const std::vector<int64_t>& which) const {
    return margins(which, weights_);
  }

 private:
  // x_i . u for every listed row, by raw columns.
  std::vector<double> raw_products(const std::vector<int64_t>& which,
                                   const std::vector<double>& u) const {
    std::vector<double> block(rows_.shifts.size(), 0.0);
    for (size_t b = 0; b < block.size(); ++b) {
      for (size_t j = 0; j < rows_.shifts[b].size(); ++j) block[b] += rows_.shifts[b][j] * u[j];
    }
    std::vector<double> z(which.size());
    const double* dense_u = u.data() + rows_.sparse_width;
    parallel_chunks(static_cast<int64_t>(z.size()), kRowsAtATime, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const int64_t i = which[k];
        double sum = -block[rows_.block[i]];
        for (int64_t e = rows_.first[i]; e < rows_.first[i + 1]; ++e) {
          sum += rows_.value[e] * u[rows_.column[e]];
        }
        const float* dense = rows_.dense.data() + i * rows_.dense_width;
        for (int64_t j = 0; j < rows_.dense_width; ++j) sum += dense[j] * dense_u[j];
        z[k] = sum;
      }
    });
    return z;
  }

  // sum_k r_k x_k over the rows to fit to, by raw columns; `square` takes x^2 instead. One thread:
  // the order of a sum must not depend on their number.
  std::vector<double> raw_sums(const std::vector<double>& r, bool square) const {
    std::vector<double> sum(rows_.width(), 0.0), weight(rows_.shifts.size(), 0.0);
    double* dense_sum = sum.data() + rows_.sparse_width;
    for (size_t k = 0; k < fit_.size(); ++k) {
      const int64_t i = fit_[k];
      weight[rows_.block[i]] += r[k];
      const std::vector<double>& shift = rows_.shifts[rows_.block[i]];
      for (int64_t e = rows_.first[i]; e < rows_.first[i + 1]; ++e) {
        const int32_t j = rows_.column[e];
        const double x = rows_.value[e];
        sum[j] += r[k] * (!square ? x : shift.empty() ? x * x : x * (x - 2 * shift[j]));
      }
      const float* dense = rows_.dense.data() + i * rows_.dense_width;
      for (int64_t j = 0; j < rows_.dense_width; ++j) {
        dense_sum[j] += r[k] * (square ? static_cast<double>(dense[j]) * dense[j] : dense[j]);
      }
    }
    for (size_t b = 0; b < weight.size(); ++b) {
      for (size_t j = 0; j < rows_.shifts[b].size(); ++j) {
        const double s = rows_.shifts[b][j];
        sum[j] += weight[b] * (square ? s * s : -s);
      }
    }
    return sum;
  }

  void standardise() {
    const auto n = static_cast<double>(fit_.size());
    const std::vector<double> equal(fit_.size(), 1.0 / n);
    mean_ = raw_sums(equal, false);
    inverse_ = raw_sums(equal, true);
    for (size_t j = 0; j < mean_.size(); ++j) {
      const double variance = inverse_[j] - mean_[j] * mean_[j];
      // Differences of rounding make no column.
      inverse_[j] = variance > 1e-10 * inverse_[j] ? 1 / std::sqrt(variance) : 0.0;
    }
    for (const int64_t i : fit_) ++(i >= split_ ? ones_ : zeros_);
  }

  // Margins of standardised rows; the last weight is the constant.
  std::vector<double> margins(const std::vector<int64_t>& which,
                              const std::vector<double>& w) const {
    std::vector<double> u(mean_.size());
    double constant = w.back();
    for (size_t j = 0; j < u.size(); ++j) {
      u[j] = w[j] * inverse_[j];
      constant -= mean_[j] * u[j];
    }
    std::vector<double> z = raw_products(which, u);
    for (double& value : z) value += constant;
    return z;
  }

  // The transpose of margins() over the rows to fit to.
  std::vector<double> pull_back(const std::vector<double>& r) const {
    std::vector<double> g = raw_sums(r, false);
    double total = 0;
    for (const double value : r) total += value;
    for (size_t j = 0; j < g.size(); ++j) g[j] = (g[j] - total * mean_[j]) * inverse_[j];
    g.push_back(total);
    return g;
  }

  double row_weight(size_t k) const {  // both classes weigh the same
    return 0.5 / static_cast<double>(fit_[k] >= split_ ? ones_ : zeros_);
  }

  // Largest eigenvalue of the weighted second moment of the rows.
  double largest_eigenvalue() const {
    std::vector<double> v(mean_.size() + 1);
    Stream(1).fill_normal(v.data(), static_cast<int64_t>(v.size()));
    double length = 1;
    for (int step = 0; step < kPowerSteps; ++step) {
      length = 0;
      for (const double value : v) length += value * value;
      length = std::sqrt(length);
      for (double& value : v) value /= length;
      std::vector<double> z = margins(fit_, v);
      for (size_t k = 0; k < z.size(); ++k) z[k] *= row_weight(k);
      v = pull_back(z);
    }
    length = 0;
    for (const double value : v) length += value * value;
    return std::sqrt(length);
  }

  // Nesterov's steps; the curvature of the loss is at most a quarter of the second moment.
  void descend() {
    const double step = 1 / (1.5 * largest_eigenvalue() / 4 + kRidge);
    weights_.assign(mean_.size() + 1, 0.0);
    std::vector<double> ahead = weights_;
    for (int t = 0; t < kSteps; ++t) {
      std::vector<double> r = margins(fit_, ahead);
      for (size_t k = 0; k < r.size(); ++k) {
        const double target = fit_[k] >= split_ ? 1.0 : 0.0;
        r[k] = row_weight(k) * (1 / (1 + std::exp(-r[k])) - target);
      }
      const std::vector<double> g = pull_back(r);
      const double momentum = t / (t + 3.0);
      for (size_t j = 0; j < g.size(); ++j) {
        const double penalty = j + 1 < g.size() ? kRidge * ahead[j] : 0.0;
        const double next = ahead[j] - step * (g[j] + penalty);
        ahead[j] = next + momentum * (next - weights_[j]);
        weights_[j] = next;
      }
    }
  }

  const ItemRows& rows_;
  int64_t split_;
  std::vector<int64_t> fit_;
  std::vector<double> mean_, inverse_, weights_;  // inverse_: 1 / deviation, 0 for constants
  int64_t zeros_ = 0, ones_ = 0;
};

}  // namespace

DomainClassifier::DomainClassifier(const Task& task, const Rng& rng) : rng_(rng) {
  int64_t items = 0;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      training_.sparse_width = std::max(training_.sparse_width, domain.graph.x.sparse_width());
      if (role == Role::train) items += domain.graph.items();
    }
  }
  const int64_t structure = task.training.front().graph.level() == Level::graph ? 2 : 1;
  training_.dense_width = structure + task.features() - training_.sparse_width;
  const std::vector<int64_t> chosen = sorted_choice(rng_.stream("shift-train"), items, kMostItems);
  int64_t before = 0;
  auto next = chosen.begin();
  for (const Domain& domain : task.training) {
    std::vector<int64_t> ids;
    for (; next != chosen.end() && *next < before + domain.graph.items(); ++next) {
      ids.push_back(*next - before);
    }
    training_.append(domain, ids);
    before += domain.graph.items();
  }
}

std::optional<DomainClassifier::Score> DomainClassifier::tell_apart(const Domain& other,
                                                                    uint64_t number) const {
  const int64_t split = training_.rows(), count = other.graph.items();
  if (std::min(split, count) < kFewestItems) return std::nullopt;
  ItemRows rows = training_;
  rows.append(other, sorted_choice(rng_.stream("shift-items", number), count, kMostItems));
  // About half of each side is fitted to, the other half scored. An item's number decides: domains
  // may be one set of nodes seen twice, and no node may be fitted to on one side and scored on the
  // other.
  const uint64_t key = rng_.stream("shift-half").key();
  std::vector<int64_t> fit, training_half, other_half;
  for (int64_t i = 0; i < rows.rows(); ++i) {
    const bool fitted = mix64(key, static_cast<uint64_t>(rows.item[i])) % 2 == 0;
    (fitted ? fit : i < split ? training_half : other_half).push_back(i);
  }
  const int64_t fitted_to = std::lower_bound(fit.begin(), fit.end(), split) - fit.begin();
  const size_t smallest = std::min({training_half.size(), other_half.size(),
                                    static_cast<size_t>(fitted_to), fit.size() - fitted_to});
  if (smallest < kFewestItems / 4) return std::nullopt;
  const Regression regression(rows, split, std::move(fit));
  std::vector<double> low = regression.margins(training_half);
  std::vector<double> high = regression.margins(other_half);
  const auto a = static_cast<double>(low.size()), b = static_cast<double>(high.size());
  // Two standard deviations of the statistic for one law (Mann and Whitney 1947).
  const double chance = 0.5 + 2 * std::sqrt((a + b + 1) / (12 * a * b));
  return Score{rank_auc(std::move(low), std::move(high)), chance};
}

double rank_auc(std::vector<double> low, std::vector<double> high) {
  std::sort(low.begin(), low.end());
  double above = 0;
  for (const double value : high) {
    const auto range = std::equal_range(low.begin(), low.end(), value);
    above += static_cast<double>(range.first - low.begin()) +
             0.5 * static_cast<double>(range.second - range.first);
  }
  return above / (static_cast<double>(low.size()) * static_cast<double>(high.size()));
}

}  // namespace grm
