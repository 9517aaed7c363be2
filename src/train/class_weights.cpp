#include "train/class_weights.h"

#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "data/own/csv_file.h"
#include "grm/core/error.h"
#include "grm/core/options.h"

namespace grm {
namespace {

const std::string kNone = "none", kBalanced = "balanced";

std::vector<std::string> class_names(const Task& task) {
  if (!task.label_names.empty()) return task.label_names;
  std::vector<std::string> names;
  for (int64_t c = 0; c < task.classes; ++c) names.push_back(std::to_string(c));
  return names;
}

double weight_from(const std::string& text, const std::string& whole) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || !std::isfinite(value) || value <= 0.0) {
    fail(ErrorKind::config,
         "train.class_weights = {}: '{}' is not a number above 0; write balanced, none, one number "
         "for each class as in 1,5, or names as in fraud=5",
         whole, text);
  }
  return value;
}

std::vector<double> by_hand(const std::string& text, const Task& task) {
  const std::vector<std::string> names = class_names(task);
  std::vector<double> weights(names.size(), 1.0);
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    parts.push_back(std::string(own::trimmed(std::string_view(text).substr(begin, comma - begin))));
    begin = comma + 1;
  }
  if (text.find('=') == std::string::npos) {
    if (parts.size() != names.size()) {
      fail(ErrorKind::config,
           "train.class_weights = {}: {} numbers came for {} classes ({}); name them as in {}=2",
           text, parts.size(), names.size(), fmt::join(names, ", "), names.back());
    }
    for (size_t c = 0; c < parts.size(); ++c) weights[c] = weight_from(parts[c], text);
    return weights;
  }
  for (const std::string& part : parts) {
    const size_t sign = part.rfind('=');
    const std::string name(
        own::trimmed(std::string_view(part).substr(0, std::min(sign, part.size()))));
    const auto found = std::find(names.begin(), names.end(), name);
    if (sign == std::string::npos || found == names.end()) {
      fail(ErrorKind::config, "train.class_weights = {}: '{}' is not a class{}; they are {}", text,
           name, did_you_mean(name, names), fmt::join(names, ", "));
    }
    weights[static_cast<size_t>(found - names.begin())] =
        weight_from(std::string(own::trimmed(std::string_view(part).substr(sign + 1))), text);
  }
  return weights;
}

torch::Tensor training_labels(const Task& task) {
  std::vector<torch::Tensor> all;
  for (const Domain& domain : task.training) {
    all.push_back(domain.labels.y.index_select(0, domain.labels.loss));
  }
  return torch::cat(all);
}

// A class that training does not have has no row to weigh, so any weight is right.
torch::Tensor class_weights(const std::string& text, const Task& task) {
  const torch::Tensor counts = torch::bincount(training_labels(task), {}, task.classes);
  const torch::Tensor n = counts.to(torch::kFloat64);
  if (text == kBalanced) {
    const torch::Tensor even = n.sum() / (static_cast<double>(task.classes) * n.clamp_min(1.0));
    return torch::where(n.gt(0), even, torch::ones_like(even)).to(torch::kFloat32);
  }
  const torch::Tensor given = torch::tensor(by_hand(text, task), torch::kFloat64);
  return (given * n.sum() / (given * n).sum()).to(torch::kFloat32);
}

torch::Tensor task_weights(const std::string& text, const Task& task) {
  if (text != kBalanced) return torch::tensor(by_hand(text, task)).to(torch::kFloat32);
  const torch::Tensor y = training_labels(task);
  const torch::Tensor yes = y.eq(1).sum(0).to(torch::kFloat64), no = y.eq(0).sum(0);
  const torch::Tensor ratio = no / yes.clamp_min(1.0);
  return torch::where(yes.gt(0).logical_and(no.gt(0)), ratio, torch::ones_like(ratio))
      .to(torch::kFloat32);
}

}  // namespace

TrainLoss train_loss(const TrainOptions& options, const Task& task) {
  TrainLoss loss = task.loss;
  const bool weighted = options.class_weights != kNone && !options.class_weights.empty();
  if (!weighted && options.focal == 0.0) return loss;
  const Target target = target_of(task.loss);
  if (target == Target::regression) {
    fail(ErrorKind::config,
         "train.{} is for classes, but {} is a regression, whose targets are numbers; leave it out",
         weighted ? "class_weights" : "focal", task.name);
  }
  loss.focal = options.focal;
  if (!weighted) return loss;
  loss.weights = target == Target::classes ? class_weights(options.class_weights, task)
                                           : task_weights(options.class_weights, task);
  return loss;
}

}  // namespace grm
