#include "harness.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "grm/core/threads.h"

namespace grm::test {

Result run(const Problem& problem, const std::vector<bool>& wanted) {
  Tensors leaves;
  for (size_t k = 0; k < problem.inputs.size(); ++k) {
    leaves.push_back(problem.inputs[k].detach().requires_grad_(wanted[k]));
  }
  Result result;
  result.outputs = problem.op(leaves);
  torch::Tensor loss = torch::zeros({}, result.outputs[0].options());
  for (size_t k = 0; k < result.outputs.size(); ++k) {
    const torch::Tensor& y = result.outputs[k];
    const std::string name = "cotangent" + std::to_string(k);
    loss = loss + (y * normal(name, y.sizes().vec(), y.scalar_type())).sum();
  }
  if (loss.requires_grad()) loss.backward();
  for (const torch::Tensor& leaf : leaves) result.gradients.push_back(leaf.grad());
  return result;
}

namespace {

using torch::Tensor;

const std::vector<int64_t> kWidths = {1, 3, 7, 16, 33, 128, 200};

class Ops : public testing::TestWithParam<OpCase> {
 protected:
  std::vector<AdjacencyPtr> fitting(const std::vector<AdjacencyPtr>& patterns) const {
    std::vector<AdjacencyPtr> result;
    for (const AdjacencyPtr& a : patterns) {
      if (!GetParam().square || a->rows() == a->cols()) result.push_back(a);
    }
    return result;
  }
};

double scale_of(const Tensor& t) {
  return t.numel() > 0 ? std::max(1.0, t.abs().max().item<double>()) : 1.0;
}

void expect_close(const Tensor& is, const Tensor& expected, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(is.sizes(), expected.sizes()) << what;
  if (is.numel() == 0) return;
  const double error =
      (is.to(torch::kFloat64) - expected.to(torch::kFloat64)).abs().max().item<double>();
  EXPECT_LE(error, tolerance * scale_of(expected)) << what;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
         std::memcmp(a.contiguous().data_ptr(), b.contiguous().data_ptr(), a.nbytes()) == 0;
}

std::string place(const AdjacencyPtr& a, int64_t d) {
  return fmt::format("pattern [{}, {}] with {} pairs, d = {}", a->rows(), a->cols(), a->nnz(), d);
}

Tensors in_double(const Tensors& inputs) {
  Tensors result;
  for (const Tensor& t : inputs) result.push_back(t.to(torch::kFloat64));
  return result;
}

TEST_P(Ops, AgreesWithTheNaiveReference) {
  for (const AdjacencyPtr& a : fitting({power_law(60, 60, 500), power_law(40, 90, 300)})) {
    for (int64_t d : kWidths) {
      for (torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
        const Problem problem = GetParam().make({a, d, type});
        const Tensors is = problem.op(problem.inputs);
        const Tensors expected = problem.reference(in_double(problem.inputs));
        ASSERT_EQ(is.size(), expected.size());
        for (size_t k = 0; k < is.size(); ++k) {
          EXPECT_EQ(is[k].scalar_type(), type);
          expect_close(is[k], expected[k], type == torch::kFloat32 ? 2e-6 : 1e-14, place(a, d));
        }
      }
    }
  }
}

TEST_P(Ops, GradientsAgreeWithFiniteDifferences) {
  constexpr double kStep = 1e-5;
  for (const AdjacencyPtr& a : fitting({power_law(9, 9, 25), power_law(6, 11, 22)})) {
    for (int64_t d : kWidths) {
      const Problem problem = GetParam().make({a, d, torch::kFloat64});
      const Result at = run(problem);
      const auto loss = [&](const Tensors& inputs) {
        double sum = 0;
        const Tensors outputs = problem.op(inputs);
        for (size_t k = 0; k < outputs.size(); ++k) {
          const std::string name = "cotangent" + std::to_string(k);
          const Tensor& y = outputs[k];
          sum += (y * normal(name, y.sizes().vec(), torch::kFloat64)).sum().item<double>();
        }
        return sum;
      };
      Stream choice = Rng(3).stream("elements");
      for (size_t k = 0; k < problem.inputs.size(); ++k) {
        const int64_t numel = problem.inputs[k].numel();
        ASSERT_TRUE(at.gradients[k].defined()) << "input " << k;
        for (int64_t e : choice.choose(numel, std::min<int64_t>(numel, 20))) {
          double side[2];
          for (int s = 0; s < 2; ++s) {
            Tensors moved = problem.inputs;
            moved[k] = moved[k].clone();
            moved[k].view(-1)[e] += s == 0 ? kStep : -kStep;
            side[s] = loss(moved);
          }
          const double expected = (side[0] - side[1]) / (2 * kStep);
          EXPECT_NEAR(at.gradients[k].contiguous().view(-1)[e].item<double>(), expected,
                      1e-6 * std::max(1.0, std::abs(expected)))
              << "input " << k << " element " << e << ", " << place(a, d);
        }
      }
    }
  }
}

TEST_P(Ops, FloatGradientsAgreeWithDouble) {
  for (const AdjacencyPtr& a : fitting({power_law(60, 60, 500), power_law(40, 90, 300)})) {
    for (int64_t d : kWidths) {
      const Problem narrow = GetParam().make({a, d, torch::kFloat32});
      Problem wide = narrow;
      wide.inputs = in_double(narrow.inputs);
      const Result is = run(narrow), expected = run(wide);
      for (size_t k = 0; k < narrow.inputs.size(); ++k) {
        // The cotangents were rounded to float as well.
        expect_close(is.gradients[k], expected.gradients[k], 5e-6,
                     fmt::format("input {}, {}", k, place(a, d)));
      }
    }
  }
}

TEST_P(Ops, EqualBitsForAnyNumberOfThreads) {
  const int before = threads();
  for (const AdjacencyPtr& a :
       fitting({power_law(1500, 1500, 25000), power_law(300, 900, 15000)})) {
    for (int64_t d : {1, 33, 128}) {
      for (torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
        const Problem problem = GetParam().make({a, d, type});
        set_threads(1);
        const Result expected = run(problem);
        for (int count : {2, 3}) {
          set_threads(count);
          const Result is = run(problem);
          const auto expect_same = [&](const Tensor& t, const Tensor& first, size_t k) {
            const std::string what = fmt::format("{}, {} threads, {}", k, count, place(a, d));
            if (GetParam().blas) {
              expect_close(t, first, type == torch::kFloat32 ? 2e-6 : 1e-14, what);
            } else {
              EXPECT_TRUE(same_bits(t, first)) << what;
            }
          };
          for (size_t k = 0; k < is.outputs.size(); ++k) {
            expect_same(is.outputs[k], expected.outputs[k], k);
          }
          for (size_t k = 0; k < is.gradients.size(); ++k) {
            expect_same(is.gradients[k], expected.gradients[k], k);
          }
        }
      }
    }
  }
  set_threads(before);
}

TEST_P(Ops, PatternsWithoutPairsOrRowsAreFine) {
  for (const AdjacencyPtr& a : fitting({power_law(5, 5, 0), power_law(4, 3, 0), power_law(0, 0, 0),
                                        power_law(0, 3, 0), power_law(3, 0, 0)})) {
    for (int64_t d : {1, 16, 33}) {
      const Problem problem = GetParam().make({a, d, torch::kFloat64});
      const Result is = run(problem);
      const Tensors expected = problem.reference(problem.inputs);
      for (size_t k = 0; k < is.outputs.size(); ++k) {
        expect_close(is.outputs[k], expected[k], 1e-14, place(a, d));
      }
      for (size_t k = 0; k < is.gradients.size(); ++k) {
        ASSERT_TRUE(is.gradients[k].defined()) << place(a, d);
        EXPECT_EQ(is.gradients[k].sizes(), problem.inputs[k].sizes()) << place(a, d);
        EXPECT_TRUE(is.gradients[k].isfinite().all().item<bool>()) << place(a, d);
      }
    }
  }
}

TEST_P(Ops, GradientOfOneInputDoesNotNeedTheOthers) {
  const AdjacencyPtr a = power_law(40, 40, 300);
  const Problem problem = GetParam().make({a, 33, torch::kFloat64});
  const Result all = run(problem);
  for (size_t k = 0; k < problem.inputs.size(); ++k) {
    std::vector<bool> wanted(problem.inputs.size(), false);
    wanted[k] = true;
    const Result one = run(problem, wanted);
    for (size_t other = 0; other < problem.inputs.size(); ++other) {
      EXPECT_EQ(one.gradients[other].defined(), other == k);
    }
    expect_close(one.gradients[k], all.gradients[k], 1e-14, fmt::format("input {}", k));
  }
}

TEST_P(Ops, StridedInputsGiveTheSameBits) {
  const AdjacencyPtr a = power_law(40, 40, 300);
  const Problem plain = GetParam().make({a, 7, torch::kFloat64});
  Problem strided = plain;
  for (Tensor& t : strided.inputs) {
    // Every other element of a tensor twice as long in its last dimension.
    t = torch::stack({t, t + 1}, -1).flatten(-2).slice(-1, 0, 2 * t.size(-1), 2);
    ASSERT_FALSE(t.is_contiguous());
  }
  const Result expected = run(plain), is = run(strided);
  for (size_t k = 0; k < is.outputs.size(); ++k) {
    EXPECT_TRUE(same_bits(is.outputs[k], expected.outputs[k]));
  }
  for (size_t k = 0; k < is.gradients.size(); ++k) {
    EXPECT_TRUE(same_bits(is.gradients[k], expected.gradients[k])) << "input " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ops, testing::ValuesIn(op_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace grm::test
