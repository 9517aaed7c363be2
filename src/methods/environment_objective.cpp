#include "methods/environment_objective.h"

#include <torch/types.h>

namespace grm {
namespace {

const std::string kHelper = "helper.";

}  // namespace

void add_helper_state(EnvironmentObjective* objective,
                      std::map<std::string, torch::Tensor>& state) {
  if (!objective || !objective->helper()) return;
  for (const auto& [name, tensor] : objective->helper()->snapshot()) state[kHelper + name] = tensor;
}

std::map<std::string, torch::Tensor> restore_helper(
    EnvironmentObjective* objective, const std::map<std::string, torch::Tensor>& state) {
  if (!objective || !objective->helper()) return state;
  std::map<std::string, torch::Tensor> own, rest;
  for (const auto& [name, tensor] : state) {
    const bool of_helper = name.compare(0, kHelper.size(), kHelper) == 0;
    (of_helper ? own : rest)[of_helper ? name.substr(kHelper.size()) : name] = tensor;
  }
  objective->helper()->restore(own);
  return rest;
}

}  // namespace grm
