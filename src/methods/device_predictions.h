#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "graph/cuda_torch.h"
#include "graph/host_copies.h"
#include "grm/graph/graph.h"

namespace grm {

/// Predictions of a GPU that are asked for after every few epochs: what they launch is recorded as
/// a CUDA graph at the second call, and replayed with the parameters of the day from then on.
class DevicePredictions {
 public:
  /// What predict() gives for these items of a graph, on the device. It must launch the same work
  /// whenever it is called, and not wait for the device.
  torch::Tensor get(const Graph& graph, const torch::Tensor& items, const torch::Device& device,
                    const std::function<torch::Tensor()>& predict);
  void forget() { kept_.clear(); }

 private:
  struct Kept {
    AdjacencyPtr edges;
    Features x, edge_x;
    torch::Tensor edge_weights;
    torch::Tensor items;
    HostCopies copies;
    bool refused = false;  // it cannot be recorded
    std::unique_ptr<cuda_torch::RecordedWork> work;
    torch::Tensor result;  // where the record leaves it
  };
  Kept* find(const Graph& graph, const torch::Tensor& items);
  bool recorded(Kept& kept, const torch::Device& device,
                const std::function<torch::Tensor()>& predict);

  std::deque<std::unique_ptr<Kept>> kept_;
};

}  // namespace grm
