#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "grm/nn/parameters.h"

namespace grm::kernels {
struct AdamStep;
}

namespace grm::nn {

/// Adam and AdamW. `decoupled` (AdamW): p <- p - lr wd p before the step. Otherwise (Adam): wd p is
/// added to the gradient. betas 0.9 / 0.999, eps 1e-8; decay applies to all parameters, biases and
/// normalisation included.
class Adam {
 public:
  Adam(const ParameterSet& set, double lr, double weight_decay, bool decoupled)
      : Adam(set.parameters(), lr, weight_decay, decoupled) {}
  /// Some parameters of a set: the others are neither stepped nor zeroed.
  Adam(const ParameterSet::Named& parameters, double lr, double weight_decay, bool decoupled);

  /// Uses and keeps the gradients; a parameter without gradient is left alone.
  void step();
  void zero_grad();

  /// For steps that a GPU records and replays, where no host code runs: the parameters that have a
  /// gradient now, which must have taken equally many steps; the numbers of their next step, to be
  /// copied to the device, which count as taken; and the step with the numbers that stand at `place`
  /// there.
  std::vector<size_t> with_gradients() const;
  std::array<double, 7> next_step(const std::vector<size_t>& which);
  void step_at(const void* place);

  /// For schedules: a function of the epoch, so nothing about it needs saving.
  void set_lr(double lr) { lr_ = lr; }
  /// What the learning rate is multiplied with from now on.
  void scale_lr(double scale) { scale_ = scale; }

  /// Moments and step counts by parameter name, on the host, for exact resume.
  std::map<std::string, torch::Tensor> state() const;
  void restore(const std::map<std::string, torch::Tensor>& state);

 private:
  struct Slot {
    std::string name;
    torch::Tensor parameter, first, second;
    int64_t steps = 0;
  };
  kernels::AdamStep numbers(int64_t steps) const;
  template <class T>
  void step_all();
  template <class T>
  void step_at_place(const kernels::AdamStep* place);
  std::vector<Slot> slots_;
  double lr_, weight_decay_, scale_ = 1.0;
  bool decoupled_;
};

}  // namespace grm::nn
