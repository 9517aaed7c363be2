#pragma once

#include <string>

#include "grm/methods/method.h"
#include "grm/train/config.h"

namespace grm {

/// Writes the method's current parameters as model.safetensors, with what is needed to rebuild it
/// in the metadata: configuration, seed, epoch, shape of the problem, hashes of the training data.
void write_model(const std::string& path, Method& method, const RunConfig& config, const Task& task,
                 int64_t seed, int64_t epoch);

}  // namespace grm
