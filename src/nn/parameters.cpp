#include "grm/nn/parameters.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <cmath>

#include "graph/place.h"
#include "grm/core/error.h"
#include "nn/kernels.h"
#include "nn/parameter_budget.h"

namespace grm::nn {
namespace {

/// Dropout of a GPU, which draws its mask anew for the gradient.
struct DeviceDropout : torch::autograd::Function<DeviceDropout> {
  static torch::Tensor apply_mask(const torch::Tensor& x, double rate, uint64_t key,
                                  const uint64_t* key_place) {
    const torch::Tensor from = x.contiguous();
    torch::Tensor y = torch::empty_like(from);
    AT_DISPATCH_FLOATING_TYPES(from.scalar_type(), "dropout", [&] {
      on_gpu<kernels::dropout<scalar_t>>(place_of(from), from.data_ptr<scalar_t>(), from.numel(),
                                         rate, kernels::StreamKey{key, key_place},
                                         y.data_ptr<scalar_t>());
    });
    return y;
  }
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               double rate, int64_t key, int64_t key_place) {
    context->saved_data["rate"] = rate;
    context->saved_data["key"] = key;
    context->saved_data["key_place"] = key_place;
    return apply_mask(x, rate, static_cast<uint64_t>(key), as_place(key_place));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    ensure(!at::GradMode::is_enabled(), "dropout on a GPU has no second derivative");
    const double rate = context->saved_data["rate"].toDouble();
    const auto key = static_cast<uint64_t>(context->saved_data["key"].toInt());
    const int64_t key_place = context->saved_data["key_place"].toInt();
    return {apply_mask(gradients[0], rate, key, as_place(key_place)), torch::Tensor(),
            torch::Tensor(), torch::Tensor()};
  }
  // Saved values are integers.
  static const uint64_t* as_place(int64_t place) {
    return reinterpret_cast<const uint64_t*>(place);
  }
};

std::string shape_text(at::IntArrayRef shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t bytes_of(torch::Dtype dtype) {
  return static_cast<int64_t>(torch::elementSize(dtype));
}

// What can be used as it is: numbers of the model's own type, all of them finite.
void check_saved(const std::string& name, const torch::Tensor& saved, const torch::Tensor& own) {
  if (saved.sizes() != own.sizes()) {
    fail(ErrorKind::shape, "the saved tensor '{}' has shape {}, but the model expects {}", name,
         shape_text(saved.sizes()), shape_text(own.sizes()));
  }
  if (saved.scalar_type() != own.scalar_type()) {
    fail(ErrorKind::data, "the saved tensor '{}' is of type {}, but the model expects {}", name,
         c10::toString(saved.scalar_type()), c10::toString(own.scalar_type()));
  }
  if (!torch::isfinite(saved).all().item<bool>()) {
    fail(ErrorKind::data,
         "the saved tensor '{}' holds a number that is not finite: training had diverged, or the "
         "file was changed or damaged",
         name);
  }
}

void check_rate(double p) {
  if (!(p >= 0.0 && p < 1.0)) {
    fail(ErrorKind::config, "the dropout rate is {}, but it must be at least 0 and below 1", p);
  }
}

}  // namespace

void ParameterSet::check_new(const std::string& name) const {
  for (const Named* list : {&parameters_, &buffers_}) {
    for (const auto& entry : *list) {
      if (entry.first == name) throw InternalError("two tensors of a model are named " + name);
    }
  }
}

torch::Tensor ParameterSet::parameter(const std::string& name, const torch::Tensor& initial) {
  check_new(name);
  ParameterBudget::spend(name, initial.sizes(), bytes_of(dtype_));
  torch::Tensor value = torch::empty(initial.sizes(), torch::dtype(dtype_).device(device_));
  value.copy_(initial.detach());
  parameters_.emplace_back(name, value.set_requires_grad(true));
  return value;
}

void ParameterSet::adopt(const std::string& name, const torch::Tensor& tensor, bool trained) {
  check_new(name);
  if (tensor.scalar_type() != dtype_ || !tensor.is_contiguous()) {
    fail(ErrorKind::shape, "the tensor '{}' of a network must be contiguous {}, it is {}", name,
         c10::toString(dtype_), c10::toString(tensor.scalar_type()));
  }
  if (tensor.device().type() != device_.type()) {
    fail(ErrorKind::device, "the tensor '{}' of a network is on {}, the model on {}", name,
         tensor.device().str(), device_.str());
  }
  ParameterBudget::spend(name, tensor.sizes(), bytes_of(dtype_));
  (trained ? parameters_ : buffers_).emplace_back(name, tensor);
}

torch::Tensor ParameterSet::uniform(const std::string& name, at::IntArrayRef shape, double bound) {
  ParameterBudget::spend(name, shape, bytes_of(dtype_));
  torch::Tensor value = torch::empty(shape, torch::dtype(dtype_));
  const Stream stream = init_.stream("init/" + name);
  AT_DISPATCH_FLOATING_TYPES(dtype_, "uniform", [&] {
    stream.fill_uniform(value.data_ptr<scalar_t>(), value.numel(), static_cast<scalar_t>(-bound),
                        static_cast<scalar_t>(bound));
  });
  return parameter(name, value);
}

torch::Tensor ParameterSet::glorot(const std::string& name, int64_t fan_in, int64_t fan_out) {
  return uniform(name, {fan_in, fan_out}, std::sqrt(6.0 / static_cast<double>(fan_in + fan_out)));
}

torch::Tensor ParameterSet::constant(const std::string& name, at::IntArrayRef shape, double value) {
  ParameterBudget::spend(name, shape, bytes_of(dtype_));
  return parameter(name, torch::full(shape, value, torch::dtype(dtype_)));
}

torch::Tensor ParameterSet::buffer(const std::string& name, at::IntArrayRef shape, double value) {
  check_new(name);
  ParameterBudget::spend(name, shape, bytes_of(dtype_));
  buffers_.emplace_back(name, torch::full(shape, value, torch::dtype(dtype_).device(device_)));
  return buffers_.back().second;
}

ParameterSet::Named ParameterSet::with_prefix(const std::string& prefix) const {
  Named some;
  for (const auto& named : parameters_) {
    if (named.first.compare(0, prefix.size(), prefix) == 0) some.push_back(named);
  }
  return some;
}

std::vector<torch::Tensor> ParameterSet::trainable() const {
  std::vector<torch::Tensor> tensors;
  for (const auto& entry : parameters_) tensors.push_back(entry.second);
  return tensors;
}

int64_t ParameterSet::count() const {
  int64_t total = 0;
  for (const auto& entry : parameters_) total += entry.second.numel();
  return total;
}

std::map<std::string, torch::Tensor> ParameterSet::snapshot() const {
  std::map<std::string, torch::Tensor> state;
  for (const Named* list : {&parameters_, &buffers_}) {
    for (const auto& [name, tensor] : *list) {
      state[name] = tensor.detach().to(torch::kCPU, dtype_, /*non_blocking=*/false, /*copy=*/true);
    }
  }
  return state;
}

void ParameterSet::restore(const std::map<std::string, torch::Tensor>& state) {
  Named all = parameters_;
  all.insert(all.end(), buffers_.begin(), buffers_.end());
  // Everything is checked before anything is written: a refused state leaves the model as it was.
  for (const auto& [name, tensor] : all) {
    const auto found = state.find(name);
    if (found == state.end()) {
      fail(ErrorKind::data, "the saved model lacks the tensor '{}' of shape {}", name,
           shape_text(tensor.sizes()));
    }
    check_saved(name, found->second, tensor);
  }
  if (state.size() != all.size()) {
    std::map<std::string, torch::Tensor> rest = state;
    for (const auto& entry : all) rest.erase(entry.first);
    fail(ErrorKind::data, "the saved model has a tensor '{}' that this model does not know",
         rest.begin()->first);
  }
  at::NoGradGuard no_grad;
  for (auto& [name, tensor] : all) tensor.copy_(state.at(name));
}

uint64_t Pass::next_key(double p) {
  check_rate(p);
  return key_of_call(key_, calls_++);
}

torch::Tensor Pass::dropout(const torch::Tensor& x, double p) {
  check_rate(p);
  if (!training_ || p == 0.0) return x;
  if (x.is_cuda()) {
    const uint64_t* place = places_ ? places_ + calls_ : nullptr;
    const uint64_t key = key_of_call(key_, calls_++);
    return DeviceDropout::apply(x, p, static_cast<int64_t>(key), reinterpret_cast<int64_t>(place));
  }
  // Single precision for any x, so that float and double models drop the same entries.
  torch::Tensor mask = torch::empty(x.sizes(), torch::kFloat32);
  Stream(key_of_call(key_, calls_++))
      .fill_uniform(mask.data_ptr<float>(), mask.numel(), 0.0f, 1.0f);
  mask.ge_(p);
  return x * mask.to(x.scalar_type()).mul_(1.0 / (1.0 - p));
}

}  // namespace grm::nn
