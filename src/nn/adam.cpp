#include "grm/nn/adam.h"

#include <torch/types.h>

#include <cmath>

#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "kernels.h"

namespace grm::nn {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEps = 1e-8;
constexpr int64_t kChunk = 1 << 14;

}  // namespace

Adam::Adam(const ParameterSet::Named& parameters, double lr, double weight_decay, bool decoupled)
    : lr_(lr), weight_decay_(weight_decay), decoupled_(decoupled) {
  for (const auto& [name, parameter] : parameters) {
    ensure(parameter.is_contiguous(), "Adam: a parameter is not contiguous");
    slots_.push_back({name, parameter, torch::zeros_like(parameter.detach()),
                      torch::zeros_like(parameter.detach()), 0});
  }
}

void Adam::step() {
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    const torch::Tensor gradient = slot.parameter.grad().contiguous();
    const double t = static_cast<double>(++slot.steps);
    kernels::AdamStep step;
    step.beta1 = kBeta1;
    step.beta2 = kBeta2;
    step.eps = kEps;
    step.keep = decoupled_ ? 1.0 - lr_ * weight_decay_ : 1.0;
    step.coupled_decay = decoupled_ ? 0.0 : weight_decay_;
    step.step_size = lr_ / (1.0 - std::pow(kBeta1, t));
    step.second_scale = 1.0 / std::sqrt(1.0 - std::pow(kBeta2, t));
    AT_DISPATCH_FLOATING_TYPES(slot.parameter.scalar_type(), "adam", [&] {
      scalar_t* p = slot.parameter.data_ptr<scalar_t>();
      const scalar_t* g = gradient.data_ptr<scalar_t>();
      scalar_t* first = slot.first.data_ptr<scalar_t>();
      scalar_t* second = slot.second.data_ptr<scalar_t>();
      parallel_chunks(slot.parameter.numel(), kChunk, [&](int64_t begin, int64_t end) {
        kernels::adam(p + begin, g + begin, first + begin, second + begin, end - begin, step);
      });
    });
  }
}

void Adam::zero_grad() {
  for (Slot& slot : slots_) slot.parameter.mutable_grad().reset();
}

std::map<std::string, torch::Tensor> Adam::state() const {
  std::map<std::string, torch::Tensor> state;
  for (const Slot& slot : slots_) {
    state[slot.name + ".first"] = slot.first.clone();
    state[slot.name + ".second"] = slot.second.clone();
    state[slot.name + ".steps"] = torch::full({1}, slot.steps, torch::kInt64);
  }
  return state;
}

void Adam::restore(const std::map<std::string, torch::Tensor>& state) {
  // Everything is checked before anything is written.
  const auto find = [&](const std::string& name, int64_t numel, torch::Dtype dtype) {
    const auto found = state.find(name);
    if (found == state.end()) {
      fail(ErrorKind::data, "the saved optimiser state lacks the tensor '{}'", name);
    }
    const torch::Tensor& tensor = found->second;
    if (tensor.numel() != numel || tensor.scalar_type() != dtype) {
      fail(ErrorKind::shape,
           "the saved optimiser state '{}' holds {} numbers of type {}, but {} of type {} are "
           "expected",
           name, tensor.numel(), c10::toString(tensor.scalar_type()), numel, c10::toString(dtype));
    }
    return tensor;
  };
  std::vector<Slot> restored = slots_;
  for (Slot& slot : restored) {
    const int64_t numel = slot.parameter.numel();
    const torch::Dtype dtype = slot.parameter.scalar_type();
    const at::IntArrayRef shape = slot.parameter.sizes();
    slot.first = find(slot.name + ".first", numel, dtype).contiguous().view(shape).clone();
    slot.second = find(slot.name + ".second", numel, dtype).contiguous().view(shape).clone();
    slot.steps = find(slot.name + ".steps", 1, torch::kInt64).item<int64_t>();
  }
  if (state.size() != 3 * slots_.size()) {
    fail(ErrorKind::data, "the saved optimiser state has {} tensors, but {} are expected",
         state.size(), 3 * slots_.size());
  }
  slots_ = std::move(restored);
}

}  // namespace grm::nn
