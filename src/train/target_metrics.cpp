#include "train/target_metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grm/core/error.h"
#include "train/metrics.h"
#include "train/ranking.h"

namespace grm {
namespace {

// The known labels of one task and what was said of them, in double.
struct Column {
  torch::Tensor output, y;
  int64_t size() const { return y.numel(); }
  int64_t yeses() const { return y.eq(1).sum().item<int64_t>(); }
  const double* outputs() const { return output.data_ptr<double>(); }
  const double* labels() const { return y.data_ptr<double>(); }
};

std::vector<Column> columns_of(const torch::Tensor& outputs, const torch::Tensor& y) {
  ensure(outputs.dim() == 2 && outputs.sizes() == y.sizes(), "a metric: a label for each output");
  const torch::Tensor o = outputs.to(torch::kFloat64), t = y.to(torch::kFloat64);
  std::vector<Column> columns;
  for (int64_t c = 0; c < t.size(1); ++c) {
    const torch::Tensor known = torch::isnan(t.select(1, c)).logical_not();
    Column column{o.select(1, c).masked_select(known).contiguous(),
                  t.select(1, c).masked_select(known).contiguous()};
    if (column.size() > 0) columns.push_back(column);
  }
  if (columns.empty()) fail(ErrorKind::data, "no label is known, so nothing can be scored");
  return columns;
}

struct Hits {
  double right = 0.0, said = 0.0, yes = 0.0;
  double f1() const { return said + yes > 0.0 ? 200.0 * right / (said + yes) : 0.0; }
};

Hits hits_of(const Column& column) {
  const torch::Tensor said = column.output.gt(0), yes = column.y.eq(1);
  return {said.logical_and(yes).sum().item<double>(), said.sum().item<double>(),
          yes.sum().item<double>()};
}

template <class Of>
double mean_over(const std::vector<Column>& columns, const Of& of) {
  double sum = 0.0;
  for (const Column& column : columns) sum += of(column);
  return sum / static_cast<double>(columns.size());
}

double r2(const Column& column) {
  const double n = static_cast<double>(column.size());
  const double *o = column.outputs(), *t = column.labels();
  const double mean = std::accumulate(t, t + column.size(), 0.0) / n;
  double rest = 0.0, all = 0.0;
  for (int64_t i = 0; i < column.size(); ++i) {
    rest += (o[i] - t[i]) * (o[i] - t[i]);
    all += (t[i] - mean) * (t[i] - mean);
  }
  if (all == 0.0) {
    fail(ErrorKind::data, "r2 needs targets that differ, but all {} are {}", column.size(), t[0]);
  }
  return 100.0 * (1.0 - rest / all);
}

}  // namespace

double average_precision_of_scores(const torch::Tensor& scores, const torch::Tensor& y) {
  const torch::Tensor s = scores.to(torch::kFloat64).contiguous();
  const torch::Tensor truth = y.eq(1).to(torch::kUInt8).contiguous();
  const Ranking ranking({s.data_ptr<double>(), s.data_ptr<double>() + s.numel()},
                        {truth.data_ptr<uint8_t>(), truth.data_ptr<uint8_t>() + truth.numel()});
  if (ranking.positives() == 0.0) {
    fail(ErrorKind::data, "average precision needs a positive label, but none of {} is",
         ranking.items());
  }
  return ranking.average_precision();
}

double multi_label_score(MetricKind metric, const torch::Tensor& outputs, const torch::Tensor& y) {
  std::vector<Column> columns = columns_of(outputs, y);
  if (metric == MetricKind::macro_f1) {
    return mean_over(columns, [](const Column& c) { return hits_of(c).f1(); });
  }
  if (metric == MetricKind::micro_f1) {
    Hits all;
    for (const Column& column : columns) {
      const Hits hits = hits_of(column);
      all = {all.right + hits.right, all.said + hits.said, all.yes + hits.yes};
    }
    return all.f1();
  }
  if (metric == MetricKind::accuracy) {
    return mean_over(columns, [](const Column& c) {
      return 100.0 * c.output.gt(0).eq(c.y.eq(1)).to(torch::kFloat64).mean().item<double>();
    });
  }
  ensure(metric == MetricKind::roc_auc || metric == MetricKind::average_precision,
         "multi_label_score: a metric of other targets");
  const bool ranks = metric == MetricKind::roc_auc;
  columns.erase(std::remove_if(columns.begin(), columns.end(),
                               [&](const Column& c) {
                                 return c.yeses() == 0 || (ranks && c.yeses() == c.size());
                               }),
                columns.end());
  if (columns.empty()) {
    fail(ErrorKind::data, "{} is undefined: {} in any task", to_string(metric),
         ranks ? "there are not both yes and no" : "there is no yes");
  }
  return mean_over(columns, [&](const Column& c) {
    return ranks ? roc_auc_of_scores(c.output, c.y) : average_precision_of_scores(c.output, c.y);
  });
}

double regression_score(MetricKind metric, const torch::Tensor& outputs, const torch::Tensor& y) {
  const std::vector<Column> columns = columns_of(outputs, y);
  if (metric == MetricKind::rmse) {
    return mean_over(columns, [](const Column& c) {
      return std::sqrt((c.output - c.y).square().mean().item<double>());
    });
  }
  if (metric == MetricKind::mae) {
    return mean_over(columns,
                     [](const Column& c) { return (c.output - c.y).abs().mean().item<double>(); });
  }
  ensure(metric == MetricKind::r2, "regression_score: a metric of other targets");
  return mean_over(columns, r2);
}

}  // namespace grm
