#include <torch/types.h>

#include "nn/graph_layers.h"
#include "ops/sparse.h"

namespace grm::nn {

VirtualNode::VirtualNode(ParameterSet& set, const std::string& name, int64_t width, int64_t layers,
                         double dropout)
    : initial_(set.constant(name + ".initial", {1, width}, 0.0)), dropout_(dropout) {
  for (int64_t l = 1; l < layers; ++l) {
    const std::string update = name + ".update" + std::to_string(l);
    updates_.push_back({Linear(set, update + ".first", width, 2 * width),
                        Linear(set, update + ".second", 2 * width, width),
                        BatchNorm(set, update + ".inner", 2 * width),
                        BatchNorm(set, update + ".outer", width)});
  }
}

torch::Tensor VirtualNode::start(int64_t graphs) const {
  return initial_.expand({graphs, initial_.size(1)});
}

torch::Tensor VirtualNode::next(int64_t layer, const torch::Tensor& v, const torch::Tensor& rows,
                                const torch::Tensor& node_offsets, Pass& pass) {
  Update& update = updates_[layer];
  const torch::Tensor sum = ops::segment_sum(node_offsets, rows) + v;
  const torch::Tensor hidden = torch::relu(update.inner.forward(update.first.forward(sum), pass));
  const torch::Tensor out = torch::relu(update.outer.forward(update.second.forward(hidden), pass));
  return pass.dropout(out, dropout_);
}

}  // namespace grm::nn
