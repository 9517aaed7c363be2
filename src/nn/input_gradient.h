#pragma once

#include <ATen/core/grad_mode.h>

// Logits are computed without gradients, unless somebody wants to know how they depend on the
// features.
namespace grm::nn {

/// While it lives, the logits of methods in this thread can be differentiated with respect to the
/// features that they were given.
class InputGradient {
 public:
  InputGradient() : outer_(wanted()) { wanted() = true; }
  ~InputGradient() { wanted() = outer_; }
  InputGradient(const InputGradient&) = delete;
  InputGradient& operator=(const InputGradient&) = delete;

  static bool& wanted() {
    thread_local bool is_wanted = false;
    return is_wanted;
  }

 private:
  bool outer_;
};

/// What Method::logits holds while it computes.
class Evaluating {
 public:
  Evaluating() : mode_(InputGradient::wanted()) {}

 private:
  at::AutoGradMode mode_;
};

}  // namespace grm::nn
