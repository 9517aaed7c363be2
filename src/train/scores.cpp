#include "train/scores.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "grm/core/error.h"
#include "train/metrics.h"

namespace grm {
namespace {

std::vector<int64_t> numbers_of(const torch::Tensor& tensor) {
  const torch::Tensor whole = tensor.to(torch::kInt64).contiguous();
  return {whole.data_ptr<int64_t>(), whole.data_ptr<int64_t>() + whole.numel()};
}

// Mean of the numbers among them.
double mean_defined(const std::vector<double>& values) {
  double sum = 0.0, known = 0.0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    known += 1.0;
  }
  return known == 0.0 ? std::numeric_limits<double>::quiet_NaN() : sum / known;
}

}  // namespace

torch::Tensor class_log_odds(const torch::Tensor& logits, double temperature) {
  const torch::Tensor z =
      (logits.detach().to(torch::kCPU, torch::kFloat64) / temperature).contiguous();
  const int64_t n = z.size(0), classes = z.size(1);
  torch::Tensor odds = torch::empty_like(z);
  std::vector<double> others;
  for (int64_t i = 0; i < n; ++i) {
    const double* row = z.data_ptr<double>() + i * classes;
    for (int64_t c = 0; c < classes; ++c) {
      others.assign(row, row + classes);
      others.erase(others.begin() + c);
      // In order of size, so that rows with the same numbers get the same bits.
      std::sort(others.begin(), others.end());
      double sum = 0.0;
      for (const double other : others) sum += std::exp(other - others.back());
      odds.data_ptr<double>()[i * classes + c] = row[c] - others.back() - std::log(sum);
    }
  }
  return odds;
}

ScoredItems::ScoredItems(const torch::Tensor& logits, const torch::Tensor& y, double temperature)
    : classes_(logits.size(1)), y_(numbers_of(y)), predicted_(numbers_of(predicted_class(logits))) {
  ensure(classes_ >= 2 && y_.size() == predicted_.size() && !y_.empty(),
         "ScoredItems: a row of logits for each label");
  const torch::Tensor odds = class_log_odds(logits, temperature);
  for (int64_t c = 0; c < classes_; ++c) {
    std::vector<double> scores(y_.size());
    std::vector<uint8_t> positive(y_.size());
    for (size_t i = 0; i < y_.size(); ++i) {
      scores[i] = odds.data_ptr<double>()[static_cast<int64_t>(i) * classes_ + c];
      positive[i] = y_[i] == c;
    }
    rankings_.emplace_back(std::move(scores), std::move(positive));
  }
}

Confusion ScoredItems::confusion(const ItemCounts& counts) const {
  Confusion result(classes_);
  for (size_t i = 0; i < y_.size(); ++i) {
    result.add(y_[i], predicted_[i], counts.empty() ? 1.0 : static_cast<double>(counts[i]));
  }
  return result;
}

ScoreValues ScoredItems::values(const ItemCounts& counts) const {
  const Confusion confused = confusion(counts);
  std::vector<double> auc, precision;
  for (int64_t c = classes_ == 2 ? 1 : 0; c < classes_; ++c) {
    auc.push_back(ranking(c).roc_auc(counts));
    precision.push_back(ranking(c).average_precision(counts));
  }
  return {confused.accuracy(), confused.balanced_accuracy(), confused.macro_f1(),
          mean_defined(auc),   mean_defined(precision),      confused.matthews()};
}

std::vector<ClassScores> ScoredItems::by_class() const {
  const Confusion confused = confusion();
  std::vector<ClassScores> result;
  for (int64_t c = 0; c < classes_; ++c) {
    result.push_back({confused.items_of(c), confused.predicted_as(c), confused.precision(c),
                      confused.recall(c), confused.f1(c), ranking(c).roc_auc(),
                      ranking(c).average_precision()});
  }
  return result;
}

}  // namespace grm
