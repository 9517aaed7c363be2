#include "nn/own_network.h"

#include "grm/core/error.h"

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
         "grm.load(path, backbone=net), or encoder=net",
         prefix);
  }
  return t_own_network->maker_(set, prefix, features, outputs);
}

}  // namespace grm::nn
