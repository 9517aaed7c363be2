#pragma once

#include <string>

#include "grm/train/model_file.h"

namespace grm {

/// The prediction of a model as TorchScript, in plain operators of torch: forward(edge_index, x) gives
/// the logits of all nodes, forward(edge_index, x, graph, edge_attr, edge_weight) those of the graphs
/// of a set.
struct ScriptSource {
  std::string code;
  std::string remark;  // what differs from the program's prediction; empty: nothing
};

/// For tests and for readers. Error(config) for a model whose prediction is not a fixed formula of
/// these inputs, with the reason and the methods that can be exported.
ScriptSource script_source(const ModelAbout& about, const std::string& path);

/// Writes it with the weights as a file that torch.jit.load and torch::jit::load read. It has the
/// methods forward and probabilities (regression: values), and the attributes temperature, labels
/// and features.
void export_script(const ModelFile& file, const std::string& path);

}  // namespace grm
