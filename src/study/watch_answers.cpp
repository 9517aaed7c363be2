#include "study/watch_answers.h"

#include <torch/types.h>

#include <algorithm>

namespace grm::study {
namespace {

Sample sample_of(const torch::Tensor& column) {
  const torch::Tensor values = column.to(torch::kFloat64).contiguous();
  return Sample(values.data_ptr<double>(), values.data_ptr<double>() + values.numel());
}

// Mean over the targets; numbers that do not vary agree where they are equal.
double correlation(const torch::Tensor& a, const torch::Tensor& b) {
  const torch::Tensor x = a.to(torch::kFloat64), y = b.to(torch::kFloat64);
  const torch::Tensor u = x - x.mean(0), v = y - y.mean(0);
  const torch::Tensor scale = torch::sqrt(u.square().sum(0) * v.square().sum(0));
  const torch::Tensor same = x.eq(y).all(0).to(torch::kFloat64);
  const torch::Tensor each =
      torch::where(scale.gt(0.0), (u * v).sum(0) / scale.clamp_min(1e-300), same);
  return 100.0 * each.mean().item<double>();
}

}  // namespace

std::vector<std::string> answer_names(const Model& model) {
  const bool numbers = target_of(model.about().loss) == Target::regression;
  const bool classes = target_of(model.about().loss) == Target::classes;
  std::vector<std::string> names;
  if (!numbers) names.push_back("confidence");
  // Many classes each say little; the first of many tasks or targets are better than none.
  if (classes && model.classes() > kMostAnswers) return names;
  for (int64_t c = 0; c < std::min(model.classes(), kMostAnswers); ++c) {
    names.push_back((numbers ? "predicted " : "p_") + model.label(c));
  }
  return names;
}

Answers answers_of(const Model& model, const Prediction& prediction) {
  const Target target = target_of(model.about().loss);
  Answers out;
  const torch::Tensor numbers =
      (target == Target::regression ? prediction.values : prediction.probabilities)
          .to(torch::kFloat64);
  if (target == Target::regression) {
    out.each = numbers;
  } else {
    const torch::Tensor confidence = target == Target::classes
                                         ? numbers.amax(1)
                                         : torch::maximum(numbers, 1.0 - numbers).mean(1);
    out.columns.push_back(sample_of(confidence));
    out.confidence = 100.0 * confidence.mean().item<double>();
    out.each = target == Target::classes ? prediction.classes : numbers.gt(0.5);
  }
  const size_t before = out.columns.size(), wanted = answer_names(model).size();
  for (size_t c = before; c < wanted; ++c) {
    out.columns.push_back(sample_of(numbers.select(1, static_cast<int64_t>(c - before))));
  }
  return out;
}

double agreement(Target target, const std::vector<torch::Tensor>& each) {
  double sum = 0.0, pairs = 0.0;
  for (size_t a = 0; a < each.size(); ++a) {
    for (size_t b = a + 1; b < each.size(); ++b) {
      sum += target == Target::regression
                 ? correlation(each[a], each[b])
                 : 100.0 * each[a].eq(each[b]).to(torch::kFloat64).mean().item<double>();
      pairs += 1.0;
    }
  }
  return pairs == 0.0 ? 100.0 : sum / pairs;
}

}  // namespace grm::study
