#pragma once

#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

#include "grm/core/rng.h"
#include "grm/graph/adjacency.h"

// The one harness of all operators. An operator is a case: how to make inputs for a pattern and a
// width, the operator, and a naive reference. The tests of harness_test.cpp run over all cases.
namespace grm::test {

using Tensors = std::vector<torch::Tensor>;

/// One operator on concrete inputs, all of them differentiable.
struct Problem {
  Tensors inputs;
  std::function<Tensors(const Tensors&)> op;
  std::function<Tensors(const Tensors&)> reference;  // given and giving doubles
};

struct Setting {
  AdjacencyPtr pattern;
  int64_t d;
  torch::ScalarType type;
};

struct OpCase {
  std::string name;
  bool square;  // takes square patterns only
  Problem (*make)(const Setting&);
  bool blas = false;  // uses libtorch's matrix product, whose last bits depend on the threads
};

/// The one table of cases.
const std::vector<OpCase>& op_cases();

/// Normal numbers that depend on name and sizes only.
inline torch::Tensor normal(const std::string& name, std::vector<int64_t> sizes,
                            torch::ScalarType type) {
  torch::Tensor t = torch::empty(sizes, torch::kFloat64);
  Rng(7).stream(name, t.numel()).fill_normal(t.data_ptr<double>(), t.numel());
  return t.to(type);
}

/// Positive numbers, away from 0.
inline torch::Tensor positive(const std::string& name, std::vector<int64_t> sizes,
                              torch::ScalarType type) {
  return (normal(name, std::move(sizes), torch::kFloat64).abs() + 0.2).to(type);
}

/// Both ends follow a power law, so that some rows are empty and a few are very full.
inline AdjacencyPtr power_law(int64_t rows, int64_t cols, int64_t pairs) {
  Stream stream = Rng(11).stream("pattern", rows * 1000003 + cols, pairs);
  std::vector<int64_t> source(pairs), target(pairs);
  const auto draw = [&](int64_t n) {
    const double u = stream.uniform();
    return static_cast<int64_t>(static_cast<double>(n) * u * u * u);
  };
  for (int64_t k = 0; k < pairs; ++k) {
    source[k] = draw(cols);
    target[k] = rows - 1 - draw(rows);
  }
  return make_adjacency(rows, cols, torch::tensor(source, torch::kInt64),
                        torch::tensor(target, torch::kInt64));
}

/// Outputs, and gradients of sum(output * cotangent) for the inputs marked in `wanted`.
struct Result {
  Tensors outputs, gradients;
};
Result run(const Problem& problem, const std::vector<bool>& wanted);
inline Result run(const Problem& problem) {
  return run(problem, std::vector<bool>(problem.inputs.size(), true));
}

}  // namespace grm::test
