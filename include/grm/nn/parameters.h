#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "grm/core/rng.h"
#include "grm/graph/device.h"

namespace grm::nn {

/// The trainable tensors and buffers of a model, by name and in order of creation. Layers create
/// their tensors here and keep handles; saving, loading and optimisers go over this list.
/// Each initial draw comes from the stream "init" of its own name, so it does not depend on what
/// else the model contains, nor on the device.
class ParameterSet {
 public:
  explicit ParameterSet(const Rng& init, torch::Dtype dtype = torch::kFloat32,
                        const torch::Device& device = compute_device())
      : init_(init), dtype_(dtype), device_(device) {}
  ParameterSet(const ParameterSet&) = delete;
  ParameterSet& operator=(const ParameterSet&) = delete;

  /// Uniform in [-bound, bound], trainable.
  torch::Tensor uniform(const std::string& name, at::IntArrayRef shape, double bound);
  /// Uniform in +- sqrt(6 / (fan_in + fan_out)), shape [fan_in, fan_out].
  torch::Tensor glorot(const std::string& name, int64_t fan_in, int64_t fan_out);
  torch::Tensor constant(const std::string& name, at::IntArrayRef shape, double value);
  /// A trainable tensor with the given initial values.
  torch::Tensor parameter(const std::string& name, const torch::Tensor& initial);
  /// A tensor of the caller's own, trained or only saved where it is, so that a network that others
  /// made (a module of Python) and this set speak of the same numbers. Error(shape) unless it is
  /// contiguous and has the set's type, Error(device) unless it lives where the set does.
  void adopt(const std::string& name, const torch::Tensor& tensor, bool trained);
  /// State that is saved but not trained (running statistics).
  torch::Tensor buffer(const std::string& name, at::IntArrayRef shape, double value);

  using Named = std::vector<std::pair<std::string, torch::Tensor>>;
  const Named& parameters() const { return parameters_; }
  const Named& buffers() const { return buffers_; }
  /// The parameters whose names begin with `prefix`.
  Named with_prefix(const std::string& prefix) const;
  std::vector<torch::Tensor> trainable() const;
  int64_t count() const;  // number of trainable scalars
  torch::Dtype dtype() const { return dtype_; }
  /// Where the tensors live, and with them all numbers that the model computes.
  const torch::Device& device() const { return device_; }

  /// Copies of all parameters and buffers on the host, and the way back (names and shapes must
  /// agree).
  std::map<std::string, torch::Tensor> snapshot() const;
  void restore(const std::map<std::string, torch::Tensor>& state);

 private:
  void check_new(const std::string& name) const;
  Rng init_;
  torch::Dtype dtype_;
  torch::Device device_;
  Named parameters_;
  Named buffers_;
};

/// One forward pass: training or evaluation, and where its dropout masks come from.
class Pass {
 public:
  static Pass evaluate() { return Pass(false, Stream(0)); }
  /// `dropout` must be a fresh stream for each pass, e.g. rng.stream("dropout", epoch, step).
  static Pass train(const Stream& dropout) { return Pass(true, dropout); }

  bool training() const { return training_; }
  /// x with each entry zeroed with probability p and the rest scaled by 1 / (1 - p); x itself when
  /// evaluating or p == 0.
  torch::Tensor dropout(const torch::Tensor& x, double p);
  /// The key of the stream from which the next mask of rate p is drawn, for operators that draw it
  /// themselves: element i belongs to entry i, which stays where the element is at least p.
  uint64_t next_key(double p);
  /// Masks drawn so far, and the key of the stream from which number `call` of them is drawn under
  /// the pass's own key. Where the pass has a place in device memory, its keys stand there one
  /// after the other.
  uint64_t calls() const { return calls_; }
  static uint64_t key_of_call(uint64_t key, uint64_t call) { return mix64(key, call); }

 private:
  Pass(bool training, const Stream& dropout)
      : training_(training), key_(dropout.key()), places_(dropout.place()) {}
  bool training_;
  uint64_t key_;
  const uint64_t* places_;
  uint64_t calls_ = 0;
};

}  // namespace grm::nn
