#pragma once

#include <string>

#include "grm/train/model_file.h"

namespace grm {

/// The prediction of a model as TorchScript: forward(edge_index, x) gives the logits of all nodes,
/// in plain operators of torch. Error(config) for a method whose prediction is not a fixed formula
/// of these two, naming those that can be exported. For tests and for readers.
std::string script_source(const ModelAbout& about, const std::string& path);

/// Writes it with the weights as a file that torch.jit.load and torch::jit::load read. It has the
/// methods forward and probabilities, and the attributes temperature, labels and features.
void export_script(const ModelFile& file, const std::string& path);

}  // namespace grm
