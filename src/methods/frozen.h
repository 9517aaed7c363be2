#pragma once

#include <torch/types.h>

#include <utility>
#include <vector>

#include "grm/nn/parameters.h"

namespace grm {

/// While it lives, the given parameters take no gradient: a phase that trains something else does
/// not pay for theirs. What they required before is put back at the end, also after an exception.
class Frozen {
 public:
  explicit Frozen(const nn::ParameterSet::Named& parameters) {
    for (const auto& entry : parameters) {
      before_.emplace_back(entry.second, entry.second.requires_grad());
      entry.second.set_requires_grad(false);
    }
  }
  ~Frozen() {
    for (const auto& [tensor, required] : before_) tensor.set_requires_grad(required);
  }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

 private:
  std::vector<std::pair<torch::Tensor, bool>> before_;
};

}  // namespace grm
