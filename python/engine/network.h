#pragma once

#include "engine.h"
#include "nn/own_network.h"

namespace grm::python {

/// Makes networks from an object of grm._network.Networks: at(prefix) is the one of that place, whose
/// tensors() are named and whose call computes. None: an empty maker.
nn::OwnNetworkMaker network_maker(const py::object& networks);

/// Hands the maker over while models are built; does nothing for an empty one.
class NetworkScope {
 public:
  explicit NetworkScope(const nn::OwnNetworkMaker& maker) {
    if (maker) scope_ = std::make_unique<nn::OwnNetworkScope>(maker);
  }

 private:
  std::unique_ptr<nn::OwnNetworkScope> scope_;
};

}  // namespace grm::python
