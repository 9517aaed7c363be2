#include "train/calibration.h"

#include <algorithm>
#include <cmath>

#include "grm/core/error.h"
#include "nn/losses.h"
#include "train/metrics.h"

namespace grm {
namespace {

// Rows of doubles with their labels.
struct Rows {
  torch::Tensor logits, y;
  int64_t n = 0, classes = 0;
  const double* row(int64_t i) const { return logits.data_ptr<double>() + i * classes; }
  int64_t label(int64_t i) const { return y.data_ptr<int64_t>()[i]; }
};

Rows rows_of(const torch::Tensor& logits, const torch::Tensor& y) {
  ensure(logits.dim() == 2 && y.dim() == 1 && logits.size(0) == y.size(0),
         "calibration: a row of logits for each label");
  return {logits.detach().to(torch::kCPU, torch::kFloat64).contiguous(),
          y.to(torch::kInt64).contiguous(), logits.size(0), logits.size(1)};
}

Rows rows_of(const std::vector<GroupLogits>& groups) {
  // Probabilities of several tasks and numbers have no reliability of one class.
  if (groups.empty() || groups.front().y.dim() != 1) return {};
  const GroupLogits all = joined_groups(groups);
  return rows_of(all.logits, all.y);
}

// First and second derivative of the cross-entropy by b = 1 / temperature, at b. It is convex in b.
struct Slopes {
  double first = 0.0, second = 0.0;
};
Slopes slopes_at(const Rows& rows, double b) {
  const double n = static_cast<double>(rows.n), classes = static_cast<double>(rows.classes);
  Slopes sum;
  for (int64_t i = 0; i < rows.n; ++i) {
    const double* z = rows.row(i);
    const double top = *std::max_element(z, z + rows.classes);
    double weight = 0.0, mean = 0.0, square = 0.0, even = 0.0;
    for (int64_t c = 0; c < rows.classes; ++c) {
      const double e = std::exp(b * (z[c] - top));
      weight += e;
      mean += e * (z[c] - top);
      square += e * (z[c] - top) * (z[c] - top);
      even += (z[c] - top) / classes;
    }
    mean /= weight;
    square /= weight;
    const double target = (n * (z[rows.label(i)] - top) + even) / (n + 1.0);
    sum.first += mean - target;
    sum.second += square - mean * mean;
  }
  return sum;
}

}  // namespace

torch::Tensor tempered_probabilities(const torch::Tensor& logits, double temperature) {
  if (temperature == 1.0) return nn::class_probabilities(logits);
  return torch::softmax(logits.to(torch::kFloat64) / temperature, -1).to(torch::kFloat32);
}

double fit_temperature(const std::vector<GroupLogits>& groups) {
  const Rows rows = rows_of(groups);
  if (rows.n == 0) return 1.0;
  double low = 1.0 / kMostTemperature, high = 1.0 / kLeastTemperature;
  // Not finite: logits that are, and then nothing can be said.
  const double at_low = slopes_at(rows, low).first, at_high = slopes_at(rows, high).first;
  if (!std::isfinite(at_low) || !std::isfinite(at_high)) return 1.0;
  if (at_low >= 0.0 && at_high <= 0.0) return 1.0;  // all temperatures are alike
  if (at_low >= 0.0) return kMostTemperature;
  if (at_high <= 0.0) return kLeastTemperature;
  // Newton's steps between two points that the least lies between, halved where they leave it.
  double b = std::clamp(1.0, low, high);
  for (int step = 0; step < 100; ++step) {
    const Slopes at = slopes_at(rows, b);
    (at.first < 0.0 ? low : high) = b;
    double next = at.second > 0.0 ? b - at.first / at.second : low;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (at.first == 0.0 || std::abs(next - b) <= 1e-12 * b) break;
    b = next;
  }
  return 1.0 / b;
}

Reliability reliability(const torch::Tensor& logits, const torch::Tensor& y, double temperature) {
  return reliability({{"", logits, y}}, temperature);
}

Reliability reliability(const std::vector<GroupLogits>& groups, double temperature) {
  const Rows rows = rows_of(groups);
  Reliability result;
  result.items = rows.n;
  result.bins.resize(kReliabilityBins);
  if (rows.n == 0) return result;
  const double n = static_cast<double>(rows.n);
  for (int64_t i = 0; i < rows.n; ++i) {
    const double* z = rows.row(i);
    const int64_t predicted = std::max_element(z, z + rows.classes) - z;
    double weight = 0.0;
    for (int64_t c = 0; c < rows.classes; ++c) {
      weight += std::exp((z[c] - z[predicted]) / temperature);
    }
    const double confidence = 1.0 / weight, right = predicted == rows.label(i) ? 1.0 : 0.0;
    result.nll += (std::log(weight) - (z[rows.label(i)] - z[predicted]) / temperature) / n;
    const auto bin =
        static_cast<int64_t>(std::ceil(confidence * static_cast<double>(kReliabilityBins)) - 1.0);
    ReliabilityBin& at =
        result.bins[static_cast<size_t>(std::clamp<int64_t>(bin, 0, kReliabilityBins - 1))];
    ++at.count;
    at.confidence += 100.0 * confidence;
    at.accuracy += 100.0 * right;
  }
  for (ReliabilityBin& bin : result.bins) {
    if (bin.count == 0) continue;
    result.ece += std::abs(bin.accuracy - bin.confidence) / n;
    result.confidence += bin.confidence / n;
    result.accuracy += bin.accuracy / n;
    bin.confidence /= static_cast<double>(bin.count);
    bin.accuracy /= static_cast<double>(bin.count);
  }
  return result;
}

BeforeAfter before_after(const std::vector<GroupLogits>& groups, double temperature) {
  return {reliability(groups, 1.0), reliability(groups, temperature)};
}

Calibration calibration_of(double temperature, const std::vector<GroupLogits>& validation,
                           const std::vector<GroupLogits>& test) {
  Calibration result;
  result.temperature = temperature;
  result.validation = before_after(validation, temperature);
  result.test = before_after(test, temperature);
  for (const GroupLogits& group : test) {
    const BeforeAfter of_group = before_after({group}, temperature);
    result.domains.push_back({group.name, of_group.before.ece, of_group.after.ece});
  }
  return result;
}

}  // namespace grm
