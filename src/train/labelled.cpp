#include "train/labelled.h"

#include <torch/types.h>

#include <algorithm>

#include "train/memory_input.h"

namespace grm {
namespace {

// Graphs of a set predicted at a time: a multiple of the batches that methods evaluate, so that a
// set is cut as in one go. The nodes of a graph are always predicted together.
constexpr int64_t kGraphs = 2048;

}  // namespace

void predict_pieces(Model& model, const std::vector<Asked>& data, const HandlePiece& handle,
                    const std::function<void(int64_t, int64_t)>& progress) {
  int64_t all = 0, done = 0;
  for (const Asked& asked : data) all += asked.items.numel();
  for (const Asked& asked : data) {
    const int64_t items = asked.items.numel();
    const int64_t step =
        asked.domain.graph.level() == Level::graph ? kGraphs : std::max<int64_t>(items, 1);
    for (int64_t begin = 0; begin < items; begin += step) {
      if (progress) progress(done, all);
      const torch::Tensor ids = asked.items.slice(0, begin, std::min(items, begin + step));
      handle(asked.domain, ids, model.predict_prepared(asked.domain.graph, ids));
      done += ids.numel();
    }
    model.forget_graphs();
  }
  if (progress) progress(done, all);
}

void LabelledLogits::add(const Domain& domain, const torch::Tensor& items,
                         const torch::Tensor& logits) {
  unlabelled_ += items.numel();
  if (!domain.labels.y.defined() || !domain.labels.evaluate.defined()) return;
  const torch::Tensor& y = domain.labels.y;
  const torch::Tensor known = y.dim() == 2 ? y.isnan().all(1).logical_not() : y.ge(0);
  torch::Tensor counts = torch::zeros({y.size(0)}, torch::kBool);
  counts.index_fill_(0, domain.labels.evaluate, true);
  counts = counts.logical_and(known).index_select(0, items);
  const torch::Tensor rows = counts.nonzero().flatten();
  if (rows.numel() == 0) return;
  unlabelled_ -= rows.numel();
  labelled_ += rows.numel();
  const std::string& name = domain.group.empty() ? domain.name : domain.group;
  auto group =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.name == name; });
  if (group == groups_.end()) group = groups_.insert(groups_.end(), {name, {}, {}});
  group->logits.push_back(logits.index_select(0, rows));
  group->y.push_back(domain.labels.y.index_select(0, items.index_select(0, rows)));
}

std::vector<GroupLogits> LabelledLogits::groups() const {
  std::vector<GroupLogits> result;
  for (const Group& group : groups_) {
    result.push_back({group.name, torch::cat(group.logits), torch::cat(group.y)});
  }
  return result;
}

LabelledLogits labelled_logits(Model& model, const std::string& data, const DataContext& context) {
  const std::vector<Asked> asked = data_to_predict(model, data, context);
  check_memory_to_predict(model, asked);
  LabelledLogits labelled;
  predict_pieces(model, asked,
                 [&](const Domain& domain, const torch::Tensor& items, const Prediction& p) {
                   labelled.add(domain, items, p.logits);
                 });
  return labelled;
}

}  // namespace grm
