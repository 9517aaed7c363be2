#pragma once

#include "core/json.h"
#include "grm/train/config.h"

namespace grm::cli {

/// Times of the same work done with PyTorch Geometric by python3 (bench/peers.py): what the script
/// prints. Error(config) for a method that it does not know, or where python3 lacks what it needs.
nlohmann::ordered_json run_peers(const RunConfig& config, const Task& task, int64_t epochs);

}  // namespace grm::cli
