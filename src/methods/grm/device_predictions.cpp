#include "methods/grm/device_predictions.h"

#include <torch/types.h>

#include <algorithm>

namespace grm {
namespace {

bool same(const Features& a, const Features& b) {
  return a.sparse == b.sparse && a.sparse_values.is_same(b.sparse_values) &&
         a.dense.is_same(b.dense) && a.shift.is_same(b.shift);
}

}  // namespace

torch::Tensor DevicePredictions::get(const Graph& graph, const torch::Tensor& items,
                                     const std::function<torch::Tensor()>& predict) {
  auto kept = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) {
    return each.edges == graph.edges && same(each.x, graph.x) && torch::equal(each.items, items);
  });
  if (kept == kept_.end()) {
    Kept fresh{graph.edges, graph.x, items, std::make_unique<cuda_torch::RecordedWork>(), {}};
    fresh.work->record([&] { fresh.result = predict(); });
    kept = kept_.insert(kept_.end(), std::move(fresh));
  }
  kept->work->replay();
  return kept->result.clone();  // the next replay writes to the same place
}

}  // namespace grm
