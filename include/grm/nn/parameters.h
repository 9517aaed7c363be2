#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "grm/core/rng.h"

namespace grm::nn {

/// The trainable tensors and buffers of a model, by name and in order of creation. Layers create
/// their tensors here and keep handles; saving, loading and optimisers go over this list.
/// Each initial draw comes from the stream "init" of its own name, so it does not depend on what
/// else the model contains.
class ParameterSet {
 public:
  explicit ParameterSet(const Rng& init, torch::Dtype dtype = torch::kFloat32)
      : init_(init), dtype_(dtype) {}
  ParameterSet(const ParameterSet&) = delete;
  ParameterSet& operator=(const ParameterSet&) = delete;

  /// Uniform in [-bound, bound], trainable.
  torch::Tensor uniform(const std::string& name, at::IntArrayRef shape, double bound);
  /// Uniform in +- sqrt(6 / (fan_in + fan_out)), shape [fan_in, fan_out].
  torch::Tensor glorot(const std::string& name, int64_t fan_in, int64_t fan_out);
  torch::Tensor constant(const std::string& name, at::IntArrayRef shape, double value);
  /// A trainable tensor with the given initial values.
  torch::Tensor parameter(const std::string& name, const torch::Tensor& initial);
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

  /// Copies of all parameters and buffers, and the way back (names and shapes must agree).
  std::map<std::string, torch::Tensor> snapshot() const;
  void restore(const std::map<std::string, torch::Tensor>& state);

 private:
  void check_new(const std::string& name) const;
  Rng init_;
  torch::Dtype dtype_;
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

 private:
  Pass(bool training, const Stream& dropout) : training_(training), key_(dropout.key()) {}
  bool training_;
  uint64_t key_;
  uint64_t calls_ = 0;
};

}  // namespace grm::nn
