#pragma once

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <string>

namespace grm::nn {

/// While it lives, the parameter sets of this thread allocate at most so many bytes: what would go
/// beyond is refused (Error of kind data) before it is allocated. For models that others describe:
/// a file of a few kilobytes may claim options that ask for any amount.
class ParameterBudget {
 public:
  explicit ParameterBudget(int64_t bytes);
  ~ParameterBudget();
  ParameterBudget(const ParameterBudget&) = delete;
  ParameterBudget& operator=(const ParameterBudget&) = delete;

  /// Called before a tensor is allocated; does nothing where there is no budget.
  static void spend(const std::string& name, c10::IntArrayRef shape, int64_t element_bytes);

 private:
  int64_t bytes_;
  double left_;  // products of sizes may be beyond any integer
  ParameterBudget* outer_;
};

}  // namespace grm::nn
