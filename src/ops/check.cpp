#include "ops/check.h"

#include <torch/custom_class.h>

#include <algorithm>

namespace grm::ops {
namespace {

std::string list(const std::vector<int64_t>& sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) text += ", ";
    text += sizes[i] < 0 ? "any" : std::to_string(sizes[i]);
  }
  return text + "]";
}

struct SavedPattern : torch::CustomClassHolder {
  explicit SavedPattern(AdjacencyPtr a) : pattern(std::move(a)) {}
  AdjacencyPtr pattern;
};

}  // namespace

std::string describe(const torch::Tensor& t) {
  return fmt::format("{} {}", list(t.sizes().vec()), torch::toString(t.scalar_type()));
}

void check_numbers(const char* op, const char* argument, const torch::Tensor& t) {
  if (!t.defined()) {
    fail(ErrorKind::shape, "{}: {} is undefined, a float or double tensor was expected", op,
         argument);
  }
  if (!t.device().is_cpu() && !(t.device().is_cuda() && built_with_cuda())) {
    fail(ErrorKind::device, "{}: {} lives on {}, {} was expected", op, argument, t.device().str(),
         built_with_cuda() ? "the CPU or a GPU" : "the CPU");
  }
  if (t.scalar_type() != torch::kFloat32 && t.scalar_type() != torch::kFloat64) {
    fail(ErrorKind::shape, "{}: {} is {}, float or double was expected", op, argument, describe(t));
  }
}

void check_shape(const char* op, const char* argument, const torch::Tensor& t,
                 const std::vector<int64_t>& expected) {
  check_numbers(op, argument, t);
  const bool same = t.dim() == static_cast<int64_t>(expected.size()) &&
                    std::equal(expected.begin(), expected.end(), t.sizes().begin(),
                               [](int64_t want, int64_t is) { return want < 0 || want == is; });
  if (!same) {
    fail(ErrorKind::shape, "{}: {} is {}, shape {} was expected", op, argument, describe(t),
         list(expected));
  }
}

void check_same_type(const char* op, const char* first_argument, const torch::Tensor& first,
                     const char* second_argument, const torch::Tensor& second) {
  if (first.scalar_type() != second.scalar_type()) {
    fail(ErrorKind::shape, "{}: {} is {} but {} is {}, one type of number was expected", op,
         first_argument, describe(first), second_argument, describe(second));
  }
  if (first.device() != second.device()) {
    fail(ErrorKind::device, "{}: {} lives on {} but {} on {}, one device was expected", op,
         first_argument, first.device().str(), second_argument, second.device().str());
  }
}

void check_theta(const char* op, double theta) {
  if (!(theta > 0 && theta < 1)) {
    fail(ErrorKind::config, "{}: theta is {}, a probability between 0 and 1 was expected", op,
         theta);
  }
}

void check_pattern(const char* op, const AdjacencyPtr& a) {
  if (!a) fail(ErrorKind::shape, "{}: the pattern is null", op);
}

torch::Tensor check_index(const char* op, const char* argument, const torch::Tensor& t) {
  if (!t.defined() || t.dim() != 1 || t.scalar_type() != torch::kInt64) {
    fail(ErrorKind::shape, "{}: {} is {}, an int64 vector was expected", op, argument,
         t.defined() ? describe(t) : "undefined");
  }
  return t.contiguous();
}

int64_t check_offsets(const char* op, const torch::Tensor& offsets, const torch::Tensor& x) {
  const int64_t count = offsets.numel();
  if (!offsets.device().is_cpu()) {
    if (count == 0) fail(ErrorKind::shape, "{}: offsets are empty, 0 was expected first", op);
    return -1;
  }
  const int64_t* at = offsets.data_ptr<int64_t>();
  if (count == 0 || at[0] != 0 || at[count - 1] != x.size(0)) {
    fail(ErrorKind::shape,
         "{}: offsets of {} numbers go from {} to {}, but x is {}: from 0 to {} "
         "was expected",
         op, count, count > 0 ? at[0] : 0, count > 0 ? at[count - 1] : 0, describe(x), x.size(0));
  }
  int64_t longest = 0;
  for (int64_t k = 1; k < count; ++k) {
    if (at[k] < at[k - 1]) {
      fail(ErrorKind::shape,
           "{}: offsets fall from {} to {} at position {}, ascending ones were "
           "expected",
           op, at[k - 1], at[k], k);
    }
    longest = std::max(longest, at[k] - at[k - 1]);
  }
  return longest;
}

void check_first_order(const char* op) {
  if (at::GradMode::is_enabled()) {
    throw InternalError(fmt::format("{}: second derivatives are not available", op));
  }
}

void save_pattern(torch::autograd::AutogradContext* context, const AdjacencyPtr& a) {
  context->saved_data["pattern"] = c10::IValue::make_capsule(c10::make_intrusive<SavedPattern>(a));
}

AdjacencyPtr saved_pattern(torch::autograd::AutogradContext* context) {
  const auto held = context->saved_data["pattern"].toCapsule();
  return static_cast<const SavedPattern*>(held.get())->pattern;
}

kernels::Pattern rows_of(const Csr& csr, const int64_t* edge) {
  const int64_t entries = csr.nnz();
  const bool some = entries > 0;
  return {csr.rows, csr.offset(), some ? csr.index() : nullptr, some ? edge : nullptr,
          entries,  csr.longest};
}

kernels::Pattern rows_in(const Place& place, const Adjacency& a) {
  return rows_of(a.on(place.torch_device()).in, nullptr);
}

kernels::Pattern rows_out(const Place& place, const Adjacency& a) {
  const Adjacency& there = a.on(place.torch_device());
  return rows_of(there.out, there.nnz() > 0 ? there.out_edge.data_ptr<int64_t>() : nullptr);
}

}  // namespace grm::ops
