#include "train/metrics.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grm/core/error.h"
#include "train/confusion.h"
#include "train/target_metrics.h"

namespace grm {

torch::Tensor predicted_class(const torch::Tensor& logits) {
  const torch::Tensor x = logits.to(torch::kFloat64).contiguous();
  const int64_t n = x.size(0), classes = x.size(1);
  torch::Tensor result = torch::empty({n}, torch::kInt64);
  for (int64_t i = 0; i < n; ++i) {
    const double* row = x.data_ptr<double>() + i * classes;
    result.data_ptr<int64_t>()[i] = std::max_element(row, row + classes) - row;
  }
  return result;
}

double accuracy(const torch::Tensor& logits, const torch::Tensor& y) {
  const int64_t right = predicted_class(logits).eq(y).sum().item<int64_t>();
  return 100.0 * static_cast<double>(right) / static_cast<double>(y.numel());
}

double roc_auc_of_scores(const torch::Tensor& scores, const torch::Tensor& y) {
  const torch::Tensor s = scores.to(torch::kFloat64).contiguous();
  const torch::Tensor truth = y.to(torch::kInt64).contiguous();
  const double* score = s.data_ptr<double>();
  const int64_t* label = truth.data_ptr<int64_t>();
  const int64_t n = s.numel();
  // What equals nothing, not even itself, would never end a run of ties.
  ensure(std::none_of(score, score + n, [](double each) { return std::isnan(each); }),
         "roc_auc_of_scores: a score is not a number");
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return score[a] < score[b]; });
  double positive_ranks = 0.0;
  int64_t positives = 0;
  for (int64_t begin = 0; begin < n;) {
    int64_t end = begin;
    while (end < n && score[order[end]] == score[order[begin]]) ++end;
    const double middle = 0.5 * static_cast<double>(begin + 1 + end);  // mean of ranks begin+1..end
    for (int64_t k = begin; k < end; ++k) {
      if (label[order[k]] == 1) {
        positive_ranks += middle;
        ++positives;
      }
    }
    begin = end;
  }
  const int64_t negatives = n - positives;
  if (positives == 0 || negatives == 0) {
    fail(ErrorKind::data, "ROC-AUC needs both classes, but all {} labels are {}", n,
         positives == 0 ? 0 : 1);
  }
  const double p = static_cast<double>(positives);
  return 100.0 * (positive_ranks - p * (p + 1) / 2) / (p * static_cast<double>(negatives));
}

double roc_auc(const torch::Tensor& logits, const torch::Tensor& y) {
  const torch::Tensor x = logits.to(torch::kFloat64);
  return roc_auc_of_scores(x.select(1, 1) - x.select(1, 0), y);
}

F1Scores f1_scores(const torch::Tensor& predicted, const torch::Tensor& y, int64_t classes) {
  const torch::Tensor guess = predicted.to(torch::kInt64).contiguous();
  const torch::Tensor truth = y.to(torch::kInt64).contiguous();
  std::vector<double> hit(classes), guessed(classes), true_count(classes);
  for (int64_t i = 0; i < truth.numel(); ++i) {
    const int64_t t = truth.data_ptr<int64_t>()[i], g = guess.data_ptr<int64_t>()[i];
    ++true_count[t];
    ++guessed[g];
    if (t == g) ++hit[t];
  }
  F1Scores result{0, 0, 0};
  int64_t present = 0;
  for (int64_t c = 0; c < classes; ++c) {
    const double sum = true_count[c] + guessed[c];  // 2 TP + FP + FN
    if (sum == 0) continue;
    const double f1 = 100.0 * 2 * hit[c] / sum;
    ++present;
    result.macro += f1;
    result.weighted += f1 * true_count[c] / static_cast<double>(truth.numel());
    if (c == 1) result.positive = f1;
  }
  result.macro /= static_cast<double>(std::max<int64_t>(present, 1));
  return result;
}

double score(MetricKind metric, const torch::Tensor& logits, const torch::Tensor& y) {
  const bool numbers =
      metric == MetricKind::rmse || metric == MetricKind::mae || metric == MetricKind::r2;
  if (numbers) return regression_score(metric, logits, y);
  if (y.dim() == 2) return multi_label_score(metric, logits, y);
  switch (metric) {
    case MetricKind::accuracy:
    case MetricKind::micro_f1:  // the same for one class of several
      return accuracy(logits, y);
    case MetricKind::roc_auc:
      return roc_auc(logits, y);
    case MetricKind::macro_f1:
      return f1_scores(predicted_class(logits), y, logits.size(1)).macro;
    case MetricKind::average_precision: {
      const torch::Tensor x = logits.to(torch::kFloat64);
      return average_precision_of_scores(x.select(1, 1) - x.select(1, 0), y);
    }
    case MetricKind::matthews:
      return 100.0 * Confusion(predicted_class(logits), y, logits.size(1)).matthews();
    case MetricKind::rmse:
    case MetricKind::mae:
    case MetricKind::r2:
      break;
  }
  throw InternalError("score: not a metric of classes");
}

}  // namespace grm
