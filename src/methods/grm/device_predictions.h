#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "graph/cuda_torch.h"
#include "grm/graph/graph.h"

namespace grm {

/// Predictions of a GPU that are asked for after every few epochs: what they launch is recorded as
/// a CUDA graph, and replayed with the parameters of the day.
class DevicePredictions {
 public:
  /// What predict() gives for these items of a graph. It must have run for them before, launch the
  /// same work whenever it is called, and not wait for the device.
  torch::Tensor get(const Graph& graph, const torch::Tensor& items,
                    const std::function<torch::Tensor()>& predict);
  void forget() { kept_.clear(); }

 private:
  struct Kept {
    AdjacencyPtr edges;
    Features x;
    torch::Tensor items;
    std::unique_ptr<cuda_torch::RecordedWork> work;
    torch::Tensor result;  // where the record leaves it
  };
  std::deque<Kept> kept_;
};

}  // namespace grm
