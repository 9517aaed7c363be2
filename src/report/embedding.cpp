// Sampled items in two dimensions.
#include <algorithm>

#include "report/data_parts.h"
#include "train/metrics.h"

namespace grm::report {
namespace {

constexpr int64_t kMostItems = 900, kFewestEach = 12;
constexpr int64_t kMostColumns = 20000;  // of features that are made dense

// Evenly spread over the list.
torch::Tensor evenly(const torch::Tensor& list, int64_t count) {
  if (list.numel() <= count) return list;
  std::vector<int64_t> picked;
  const int64_t* from = list.data_ptr<int64_t>();
  for (int64_t k = 0; k < count; ++k) picked.push_back(from[k * list.numel() / count]);
  return torch::tensor(picked, torch::kLong);
}

// The features of nodes, or the means over the nodes of graphs: [items, width].
torch::Tensor item_features(const Domain& domain, const torch::Tensor& items) {
  const Graph& graph = domain.graph;
  if (graph.level() == Level::node) return pick_rows(graph.x, items).to_dense();
  const int64_t* parts = graph.parts.data_ptr<int64_t>();
  std::vector<torch::Tensor> rows;
  for (int64_t k = 0; k < items.numel(); ++k) {
    const int64_t item = items.data_ptr<int64_t>()[k];
    const torch::Tensor nodes = torch::arange(parts[item], parts[item + 1], torch::kLong);
    rows.push_back(pick_rows(graph.x, nodes).to_dense().mean(0));
  }
  return torch::stack(rows);
}

}  // namespace

EmbeddingPart::Space principal_components(const torch::Tensor& x) {
  EmbeddingPart::Space space;
  if (x.size(0) < 3 || x.size(1) < 1) return space;
  const torch::Tensor rows = x.to(torch::kCPU, torch::kDouble);
  const torch::Tensor centred = rows - rows.mean(0, true);
  // The products of the rows have the same components as the covariance of the columns, and there
  // are fewer rows than columns or few of both.
  const torch::Tensor products = centred.matmul(centred.t());
  const double all = products.trace().item<double>();
  if (!(all > 0) || !std::isfinite(all)) return space;
  const auto [values, vectors] = at::linalg_eigh(products);
  std::vector<torch::Tensor> columns;
  for (int64_t k = 0; k < 2; ++k) {
    const int64_t at = products.size(0) - 1 - k;
    const double value = std::max(0.0, values[at].item<double>());
    torch::Tensor column = vectors.select(1, at) * std::sqrt(value);
    if (column[column.abs().argmax()].item<double>() < 0) column = -column;
    columns.push_back(column);
    space.explained[k] = value / all;
  }
  space.places = torch::stack(columns, 1).contiguous();
  return space;
}

Embedding::Embedding(const Task& task) : classes_(task.classes) {
  std::vector<std::pair<Role, const Domain*>> domains;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) domains.emplace_back(role, &domain);
  }
  const int64_t each = std::max(
      kFewestEach, kMostItems / std::max<int64_t>(1, static_cast<int64_t>(domains.size())));
  part_.labels = task.label_names;
  for (auto c = static_cast<int64_t>(part_.labels.size()); c < task.classes; ++c) {
    part_.labels.push_back(std::to_string(c));
  }
  std::vector<torch::Tensor> features;
  int64_t taken = 0;
  for (const auto& [role, domain] : domains) {
    const Labels& labels = domain->labels;
    const torch::Tensor& all = labels.evaluate.numel() > 0 ? labels.evaluate : labels.loss;
    part_.of += all.numel();
    const torch::Tensor items = evenly(all, std::min(each, kMostItems - taken));
    if (items.numel() == 0) continue;
    taken += items.numel();
    samples_.push_back({domain, items});
    for (int64_t k = 0; k < items.numel(); ++k) {
      const int64_t item = items.data_ptr<int64_t>()[k];
      part_.domain.push_back(static_cast<int64_t>(part_.domains.size()));
      part_.label.push_back(labels.y.data_ptr<int64_t>()[item]);
      part_.item.push_back(domain->item_names.empty()
                               ? std::to_string(item)
                               : domain->item_names[static_cast<size_t>(item)]);
    }
    part_.domains.push_back(domain->name);
    part_.roles.push_back(to_string(role));
    if (domain->graph.x.width() <= kMostColumns) features.push_back(item_features(*domain, items));
  }
  if (features.size() != samples_.size() || features.empty()) return;
  EmbeddingPart::Space space = principal_components(torch::cat(features));
  if (!space.places.defined()) return;
  space.name = "features";
  space.about = task.level == Level::graph ? "means of the features of each graph's nodes"
                                           : "features as the models read them";
  part_.spaces.push_back(std::move(space));
}

void Embedding::add_answers(const std::string& row, int64_t seed, Method& method) {
  std::vector<torch::Tensor> logits;
  for (const Sample& sample : samples_) {
    logits.push_back(method.logits(sample.domain->graph, sample.items).to(torch::kCPU));
    method.forget_graphs();
  }
  if (logits.empty()) return;
  const torch::Tensor all = torch::cat(logits);
  part_.answers.push_back(
      {row, seed, predicted_class(all).to(torch::kCPU, torch::kLong).contiguous()});
  if (classes_ < 3) return;
  EmbeddingPart::Space space = principal_components(torch::log_softmax(all, 1));
  if (!space.places.defined()) return;
  space.name = row;
  space.about = "log-probabilities of " + row + ", seed " + std::to_string(seed);
  part_.spaces.push_back(std::move(space));
}

EmbeddingPart Embedding::finish(const std::string& dataset) {
  part_.dataset = dataset;
  return std::move(part_);
}

}  // namespace grm::report
