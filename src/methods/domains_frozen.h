#pragma once

#include <map>
#include <string>

#include "methods/domains.h"

namespace grm {

/// The flips of eerm_frozen, by name "flips0", "flips1", ... for the training graphs, each int32
/// [views, nodes, edits]. Read from the disk cache, or found by an EERM run and stored there.
std::map<std::string, torch::Tensor> frozen_flips(const DomainOptions& options,
                                                  const nn::BackboneOptions& backbone,
                                                  const TrainView& view, const Rng& rng);

/// Error(data) unless these are flips for the training graphs.
void check_flips(const std::map<std::string, torch::Tensor>& flips, const DomainOptions& options,
                 const TrainView& view);

}  // namespace grm
