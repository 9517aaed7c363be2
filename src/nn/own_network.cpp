#include "nn/own_network.h"

#include <torch/types.h>

#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm::nn {
namespace {
thread_local OwnNetworkScope* t_own_network = nullptr;
}

OwnNetworkScope::OwnNetworkScope(OwnNetworkMaker maker)
    : maker_(std::move(maker)), outer_(t_own_network) {
  t_own_network = this;
}

OwnNetworkScope::~OwnNetworkScope() {
  t_own_network = outer_;
}

std::unique_ptr<Backbone> make_own_network(ParameterSet& set, const std::string& prefix,
                                           int64_t features, int64_t outputs) {
  if (!t_own_network) {
    fail(ErrorKind::config,
         "the model has a network of the user's own ({}), which is not in its file and not in this "
         "program; give the network: in Python, grm.Classifier(..., backbone=net) and "
         "grm.load(path, backbone=net), or encoder=net, classifier=net",
         prefix);
  }
  return t_own_network->maker_(set, prefix, features, outputs);
}

torch::Tensor DenseFeatures::get(const Features& given, const torch::Device& device) {
  constexpr size_t kKept = 16;  // edited copies and batches come and go
  if (!given.sparse && !given.shift.defined()) return given.on(device).dense;
  for (const auto& [known, value] : kept_) {
    if (known.sparse == given.sparse && known.dense.is_same(given.dense) &&
        known.sparse_values.is_same(given.sparse_values) && known.shift.is_same(given.shift)) {
      return value;
    }
  }
  if (kept_.size() >= kKept) kept_.pop_front();
  kept_.emplace_back(given, on_device(given.to_dense(), device));
  return kept_.back().second;
}

}  // namespace grm::nn
