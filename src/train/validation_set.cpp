#include "train/validation_set.h"

#include <torch/types.h>

#include <algorithm>
#include <map>
#include <vector>

#include "grm/core/error.h"

namespace grm {
namespace {

torch::Tensor as_ids(std::vector<int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return torch::tensor(ids, torch::kInt64);
}

}  // namespace

Task with_validation(const Task& task, ValidateOn rule) {
  if (rule == ValidateOn::given) return task;
  if (task.level != Level::graph || task.training.size() != 1) {
    fail(ErrorKind::config,
         "train.validate_on = {} takes the largest graphs of one training set; {} has no such set",
         to_string(rule), task.name);
  }
  if (rule == ValidateOn::largest_of_class && target_of(task.loss) != Target::classes) {
    fail(ErrorKind::config, "train.validate_on = {} is for classes, {} has {} targets",
         to_string(rule), task.name, to_string(target_of(task.loss)));
  }
  Task changed = task;
  Labels& training = changed.training.front().labels;
  const torch::Tensor sizes = changed.training.front().graph.parts.diff().contiguous();
  const torch::Tensor labels = training.y.contiguous(), trained = training.loss.contiguous();
  const int64_t* size = sizes.data_ptr<int64_t>();
  // The graphs of each class, or all of them as one.
  std::map<int64_t, std::vector<int64_t>> members;
  for (int64_t k = 0; k < trained.numel(); ++k) {
    const int64_t id = trained.data_ptr<int64_t>()[k];
    members[rule == ValidateOn::largest ? 0 : labels[id].item<int64_t>()].push_back(id);
  }
  std::vector<int64_t> held_out, kept;
  for (auto& [label, ids] : members) {
    std::stable_sort(ids.begin(), ids.end(),
                     [&](int64_t a, int64_t b) { return size[a] > size[b]; });
    const size_t tenth = (ids.size() + 9) / 10;
    if (ids.size() <= tenth) {
      fail(ErrorKind::config, "train.validate_on = {}: {} training graphs cannot be divided",
           to_string(rule), ids.size());
    }
    held_out.insert(held_out.end(), ids.begin(), ids.begin() + static_cast<int64_t>(tenth));
    kept.insert(kept.end(), ids.begin() + static_cast<int64_t>(tenth), ids.end());
  }
  Domain validation = changed.training.front();
  validation.name = validation.group = to_string(rule) + " of " + validation.name;
  validation.labels.loss = validation.labels.evaluate = as_ids(held_out);
  training.loss = training.evaluate = as_ids(kept);
  changed.validation = {validation};
  return changed;
}

}  // namespace grm
