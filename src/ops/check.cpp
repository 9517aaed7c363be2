#include "check.h"

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
  if (!t.device().is_cpu()) {
    fail(ErrorKind::device, "{}: {} lives on {}, the CPU was expected", op, argument,
         t.device().str());
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
}

void check_pattern(const char* op, const AdjacencyPtr& a) {
  if (!a) fail(ErrorKind::shape, "{}: the pattern is null", op);
}

torch::Tensor check_index(const char* op, const char* argument, const torch::Tensor& t) {
  if (!t.defined() || t.dim() != 1 || t.scalar_type() != torch::kInt64 || !t.device().is_cpu()) {
    fail(ErrorKind::shape, "{}: {} is {}, an int64 vector on the CPU was expected", op, argument,
         t.defined() ? describe(t) : "undefined");
  }
  return t.contiguous();
}

void check_first_order(const char* op) {
  if (at::GradMode::is_enabled()) {
    throw InternalError(fmt::format("{}: second derivatives are not available", op));
  }
}

kernels::Pattern pattern_in(const Adjacency& a) {
  return {a.rows(), a.in.offset(), a.nnz() > 0 ? a.in.index() : nullptr, nullptr};
}

kernels::Pattern pattern_out(const Adjacency& a) {
  const bool some = a.nnz() > 0;
  return {a.cols(), a.out.offset(), some ? a.out.index() : nullptr,
          some ? a.out_edge.data_ptr<int64_t>() : nullptr};
}

void save_pattern(torch::autograd::AutogradContext* context, const AdjacencyPtr& a) {
  context->saved_data["pattern"] = c10::IValue::make_capsule(c10::make_intrusive<SavedPattern>(a));
}

AdjacencyPtr saved_pattern(torch::autograd::AutogradContext* context) {
  const auto held = context->saved_data["pattern"].toCapsule();
  return static_cast<const SavedPattern*>(held.get())->pattern;
}

}  // namespace grm::ops
