#pragma once

#include <deque>
#include <functional>

#include "nn/backbone.h"

// Networks that are not ours: whoever starts a run (Python) hands one over for the time in which
// models are built.
namespace grm::nn {

/// Makes the network whose tensors are named `prefix`.something in the set: [n, features] ->
/// [n, outputs], as the `logits` of its output.
using OwnNetworkMaker = std::function<std::unique_ptr<Backbone>(
    ParameterSet& set, const std::string& prefix, int64_t features, int64_t outputs)>;

/// While it lives, models that this thread builds take their own networks from `maker`.
class OwnNetworkScope {
 public:
  explicit OwnNetworkScope(OwnNetworkMaker maker);
  ~OwnNetworkScope();
  OwnNetworkScope(const OwnNetworkScope&) = delete;
  OwnNetworkScope& operator=(const OwnNetworkScope&) = delete;

 private:
  OwnNetworkMaker maker_;
  OwnNetworkScope* outer_;
  friend std::unique_ptr<Backbone> make_own_network(ParameterSet&, const std::string&, int64_t,
                                                    int64_t);
};

/// Features as one matrix where a model lives; those of the graphs in use are made once.
class DenseFeatures {
 public:
  torch::Tensor get(const Features& given, const torch::Device& device);

 private:
  std::deque<std::pair<Features, torch::Tensor>> kept_;
};

/// Error(config) where nobody handed one over.
std::unique_ptr<Backbone> make_own_network(ParameterSet& set, const std::string& prefix,
                                           int64_t features, int64_t outputs);

}  // namespace grm::nn
