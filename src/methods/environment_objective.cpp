#include "methods/environment_objective.h"

#include <torch/types.h>

namespace grm {
namespace {

const std::string kHelper = "helper.";

}  // namespace

void add_helper_state(const nn::ParameterSet* helper, std::map<std::string, torch::Tensor>& state) {
  if (!helper) return;
  for (const auto& [name, tensor] : helper->snapshot()) state[kHelper + name] = tensor;
}

std::map<std::string, torch::Tensor> restore_helper(
    nn::ParameterSet* helper, const std::map<std::string, torch::Tensor>& state) {
  if (!helper) return state;
  std::map<std::string, torch::Tensor> own, rest;
  for (const auto& [name, tensor] : state) {
    const bool of_helper = name.compare(0, kHelper.size(), kHelper) == 0;
    (of_helper ? own : rest)[of_helper ? name.substr(kHelper.size()) : name] = tensor;
  }
  helper->restore(own);
  return rest;
}

}  // namespace grm
