// Every operator gives on a GPU what it gives on the CPU, forward and backward, twice the same
// bits.
#include <torch/types.h>

#include "devices.h"
#include "ops/harness.h"

namespace grm::test {
namespace {

using torch::Tensor;

struct Found {
  Tensors outputs, gradients;
};

Found run_on(const Problem& problem, const torch::Device& device) {
  Tensors inputs;
  for (const Tensor& t : problem.inputs) {
    inputs.push_back(t.detach().to(device).clone().set_requires_grad(true));
  }
  Found found;
  found.outputs = problem.op(inputs);
  Tensor sum;
  for (size_t k = 0; k < found.outputs.size(); ++k) {
    const Tensor& y = found.outputs[k];
    EXPECT_EQ(y.device(), device);
    const Tensor weight =
        normal("cotangent" + std::to_string(k), y.sizes().vec(), y.scalar_type()).to(device);
    const Tensor part = (y * weight).sum();
    sum = sum.defined() ? sum + part : part;
  }
  sum.backward();
  for (const Tensor& t : inputs) found.gradients.push_back(t.grad());
  return found;
}

void expect_near(const char* what, const Tensors& cpu, const Tensors& cuda, double limit) {
  ASSERT_EQ(cpu.size(), cuda.size());
  for (size_t k = 0; k < cpu.size(); ++k) {
    ASSERT_EQ(cpu[k].defined(), cuda[k].defined()) << what << " " << k;
    if (!cpu[k].defined()) continue;
    EXPECT_LE(difference(cpu[k], cuda[k]), limit) << what << " " << k;
  }
}

class EveryOp : public testing::TestWithParam<size_t> {};

TEST_P(EveryOp, IsTheSameOnBothDevicesAndRepeats) {
  const OpCase& each = op_cases()[GetParam()];
  const OnDevice here(gpu());
  const torch::Device device = gpu();
  struct Shape {
    int64_t rows, cols, pairs;
  };
  for (const Shape& shape : {Shape{1, 1, 1}, {60, 45, 400}, {45, 60, 0}, {900, 900, 30000}}) {
    const AdjacencyPtr pattern =
        power_law(shape.rows, each.square ? shape.rows : shape.cols, shape.pairs);
    for (const int64_t d : {1, 6, 64, 130}) {
      for (const auto type : {torch::kFloat32, torch::kFloat64}) {
        SCOPED_TRACE(testing::Message() << each.name << ", " << shape.rows << " rows, width " << d
                                        << ", " << torch::toString(type));
        const Problem problem = each.make({pattern, d, type});
        const Found cpu = run_on(problem, torch::Device(torch::kCPU));
        const Found cuda = run_on(problem, device), again = run_on(problem, device);
        const double limit = type == torch::kFloat32 ? 5e-5 : 1e-10;
        expect_near("output", cpu.outputs, cuda.outputs, limit);
        expect_near("gradient", cpu.gradients, cuda.gradients, limit);
        for (size_t k = 0; k < cuda.outputs.size(); ++k) {
          EXPECT_TRUE(torch::equal(cuda.outputs[k], again.outputs[k])) << "output " << k;
        }
        for (size_t k = 0; k < cuda.gradients.size(); ++k) {
          EXPECT_TRUE(torch::equal(cuda.gradients[k], again.gradients[k])) << "gradient " << k;
        }
      }
    }
  }
}

std::vector<size_t> numbers() {
  std::vector<size_t> all;
  for (size_t k = 0; k < op_cases().size(); ++k) all.push_back(k);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOp, testing::ValuesIn(numbers()),
                         [](const auto& each) { return op_cases()[each.param].name; });

}  // namespace
}  // namespace grm::test
