#include "grm/nn/adam.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/stages.h"
#include "graph/place.h"
#include "grm/core/error.h"
#include "nn/kernels.h"

namespace grm::nn {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEps = 1e-8;

torch::Tensor host_copy(const torch::Tensor& t) {
  return t.to(torch::kCPU, t.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

Adam::Adam(const ParameterSet::Named& parameters, double lr, double weight_decay, bool decoupled)
    : lr_(lr), weight_decay_(weight_decay), decoupled_(decoupled) {
  for (const auto& [name, parameter] : parameters) {
    ensure(parameter.is_contiguous(), "Adam: a parameter is not contiguous");
    slots_.push_back({name, parameter, torch::zeros_like(parameter.detach()),
                      torch::zeros_like(parameter.detach()), 0});
  }
}

kernels::AdamStep Adam::numbers(int64_t steps) const {
  const double t = static_cast<double>(steps);
  kernels::AdamStep step;
  step.beta1 = kBeta1;
  step.beta2 = kBeta2;
  step.eps = kEps;
  const double lr = lr_ * scale_;
  step.keep = decoupled_ ? 1.0 - lr * weight_decay_ : 1.0;
  step.coupled_decay = decoupled_ ? 0.0 : weight_decay_;
  step.step_size = lr / (1.0 - std::pow(kBeta1, t));
  step.second_scale = 1.0 / std::sqrt(1.0 - std::pow(kBeta2, t));
  return step;
}

// Tensors that have taken equally many steps go together, which is nearly always all of them.
template <class T>
void Adam::step_all() {
  std::map<int64_t, std::vector<kernels::AdamTensor<T>>> by_steps;
  std::vector<torch::Tensor> held;  // gradients that had to be copied live until the launch
  Place place;
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    held.push_back(slot.parameter.grad().contiguous());
    place = place_of(slot.parameter);
    by_steps[++slot.steps].push_back({slot.parameter.data_ptr<T>(), held.back().data_ptr<T>(),
                                      slot.first.data_ptr<T>(), slot.second.data_ptr<T>(),
                                      slot.parameter.numel()});
  }
  for (const auto& [steps, tensors] : by_steps) {
    launch<kernels::adam<T>>(place, tensors, numbers(steps), nullptr);
  }
}

void Adam::step() {
  const Stage stage("optimiser");
  if (slots_.empty()) return;
  AT_DISPATCH_FLOATING_TYPES(slots_.front().parameter.scalar_type(), "adam",
                             [&] { step_all<scalar_t>(); });
}

std::vector<size_t> Adam::with_gradients() const {
  std::vector<size_t> which;
  for (size_t k = 0; k < slots_.size(); ++k) {
    if (slots_[k].parameter.grad().defined()) which.push_back(k);
  }
  return which;
}

std::array<double, 7> Adam::next_step(const std::vector<size_t>& which) {
  static_assert(sizeof(kernels::AdamStep) == sizeof(std::array<double, 7>));
  int64_t steps = 0;
  for (const size_t k : which) steps = std::max(steps, ++slots_[k].steps);
  const kernels::AdamStep step = numbers(steps);
  std::array<double, 7> all;
  std::memcpy(all.data(), &step, sizeof(step));
  return all;
}

template <class T>
void Adam::step_at_place(const kernels::AdamStep* place) {
  std::vector<kernels::AdamTensor<T>> tensors;
  std::vector<torch::Tensor> held;  // gradients that had to be copied live until the launch
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    held.push_back(slot.parameter.grad().contiguous());
    tensors.push_back({slot.parameter.data_ptr<T>(), held.back().data_ptr<T>(),
                       slot.first.data_ptr<T>(), slot.second.data_ptr<T>(),
                       slot.parameter.numel()});
  }
  launch<kernels::adam<T>>(place_of(slots_.front().parameter), tensors, kernels::AdamStep(), place);
}

void Adam::step_at(const void* place) {
  const Stage stage("optimiser");
  AT_DISPATCH_FLOATING_TYPES(slots_.front().parameter.scalar_type(), "adam", [&] {
    step_at_place<scalar_t>(static_cast<const kernels::AdamStep*>(place));
  });
}

void Adam::zero_grad() {
  const Stage stage("optimiser");
  for (Slot& slot : slots_) slot.parameter.mutable_grad().reset();
}

std::map<std::string, torch::Tensor> Adam::state() const {
  std::map<std::string, torch::Tensor> state;
  for (const Slot& slot : slots_) {
    state[slot.name + ".first"] = host_copy(slot.first);
    state[slot.name + ".second"] = host_copy(slot.second);
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
    const auto moment = [&](const char* which) {
      const torch::Tensor saved = find(slot.name + which, numel, dtype).contiguous().view(shape);
      return saved.to(slot.parameter.device(), dtype, /*non_blocking=*/false, /*copy=*/true);
    };
    slot.first = moment(".first");
    slot.second = moment(".second");
    slot.steps = find(slot.name + ".steps", 1, torch::kInt64).item<int64_t>();
  }
  if (state.size() != 3 * slots_.size()) {
    fail(ErrorKind::data, "the saved optimiser state has {} tensors, but {} are expected",
         state.size(), 3 * slots_.size());
  }
  // In place: a recorded step writes where the moments were.
  for (size_t k = 0; k < slots_.size(); ++k) {
    slots_[k].first.copy_(restored[k].first);
    slots_[k].second.copy_(restored[k].second);
    slots_[k].steps = restored[k].steps;
  }
}

}  // namespace grm::nn
