#include "nn/parameter_budget.h"

#include <fmt/ranges.h>

#include "grm/core/error.h"

namespace grm::nn {
namespace {

thread_local ParameterBudget* current = nullptr;
constexpr double kOfATensor = 1024.0;  // what the smallest one takes with its name and gradient

}  // namespace

ParameterBudget::ParameterBudget(int64_t bytes)
    : bytes_(bytes), left_(static_cast<double>(bytes)), outer_(current) {
  current = this;
}

ParameterBudget::~ParameterBudget() {
  current = outer_;
}

void ParameterBudget::spend(const std::string& name, c10::IntArrayRef shape,
                            int64_t element_bytes) {
  if (!current) return;
  double bytes = static_cast<double>(element_bytes);
  for (const int64_t size : shape) bytes *= static_cast<double>(size);
  current->left_ -= bytes + kOfATensor;
  if (current->left_ >= 0.0) return;
  fail(ErrorKind::data,
       "its options ask for a far larger model than its weights are: building the tensor '{}' of "
       "shape [{}] would take more than {} MiB in all; the description was changed or damaged",
       name, fmt::join(shape, ", "), current->bytes_ >> 20);
}

}  // namespace grm::nn
