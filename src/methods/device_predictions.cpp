#include "methods/device_predictions.h"

#include <torch/types.h>

#include "core/stages.h"

namespace grm {
namespace {

constexpr size_t kMostKept = 64;  // records; older ones go

bool same(const Features& a, const Features& b) {
  return a.sparse == b.sparse && a.sparse_values.is_same(b.sparse_values) &&
         a.dense.is_same(b.dense) && a.shift.is_same(b.shift);
}

}  // namespace

DevicePredictions::Kept* DevicePredictions::find(const Graph& graph, const torch::Tensor& items) {
  for (const auto& each : kept_) {
    if (each->edges == graph.edges && same(each->x, graph.x) &&
        each->edge_weights.is_same(graph.edge_weights) && same(each->edge_x, graph.edge_x) &&
        torch::equal(each->items, items)) {
      return each.get();
    }
  }
  return nullptr;
}

torch::Tensor DevicePredictions::get(const Graph& graph, const torch::Tensor& items,
                                     const torch::Device& device,
                                     const std::function<torch::Tensor()>& predict) {
  Kept* known = find(graph, items);
  if (known && recorded(*known, device, predict)) {
    known->work->replay();
    return known->result.clone();  // the next replay writes to the same place
  }
  if (known) return predict();
  if (kept_.size() >= kMostKept) kept_.pop_front();
  kept_.push_back(std::make_unique<Kept>());
  Kept& fresh = *kept_.back();
  fresh.edges = graph.edges;
  fresh.x = graph.x;
  fresh.edge_weights = graph.edge_weights;
  fresh.edge_x = graph.edge_x;
  fresh.items = items;
  torch::Tensor result;
  cuda_torch::in_side_stream([&] {
    const HostCopies::Use use(fresh.copies, device);
    result = predict();
  });
  return result;
}

bool DevicePredictions::recorded(Kept& kept, const torch::Device& device,
                                 const std::function<torch::Tensor()>& predict) {
  if (kept.work) return true;
  if (kept.refused || StageRecorder::current()) return false;
  kept.copies.seal();
  auto work = std::make_unique<cuda_torch::RecordedWork>();
  try {
    work->record([&] {
      const HostCopies::Use use(kept.copies, device);
      kept.result = predict();
    });
  } catch (const std::exception&) {
    kept.refused = true;
    return false;
  }
  if (!kept.copies.complete()) {
    kept.refused = true;
    return false;
  }
  kept.work = std::move(work);
  return true;
}

}  // namespace grm
