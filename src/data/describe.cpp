#include "data/describe.h"

#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>
#include <numeric>

namespace grm {
namespace {

std::vector<int64_t> count_labels(const torch::Tensor& y, int64_t classes) {
  std::vector<int64_t> counts(classes, 0);
  const auto label = y.accessor<int64_t, 1>();
  for (int64_t i = 0; i < y.numel(); ++i) {
    if (label[i] >= 0 && label[i] < classes) ++counts[label[i]];
  }
  return counts;
}

double majority(const std::vector<int64_t>& counts) {
  const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  if (total == 0) return 0;
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) /
         static_cast<double>(total);
}

// Bins have the width of half the power of two that they lie in; below 4 every number has its own.
HistogramBin bin_of(int64_t value) {
  int64_t width = 1;
  while (4 * width <= value) width *= 2;
  const int64_t low = value / width * width;
  return {low, low + width - 1, 0};
}

void describe_set(const Domain& domain, DomainSummary& summary) {
  const Graph& set = domain.graph;
  summary.graphs = set.items();
  const auto graphs = static_cast<double>(summary.graphs);
  summary.mean_nodes = static_cast<double>(summary.nodes) / graphs;
  summary.mean_edges = static_cast<double>(summary.edges) / graphs;
  summary.sizes = count_histogram(set.parts.diff());
  if (set.edge_x.sparse || set.edge_x.dense.defined()) summary.edge_features = set.edge_x.width();
  if (domain.labels.edge_truth.defined()) {
    summary.truth_edges = domain.labels.edge_truth.sum().item<int64_t>();
  }
}

}  // namespace

std::vector<HistogramBin> count_histogram(const torch::Tensor& counts) {
  const torch::Tensor plain = counts.to(torch::kInt64).contiguous();
  const int64_t* begin = plain.data_ptr<int64_t>();
  const int64_t* end = begin + plain.numel();
  if (begin == end) return {};
  const int64_t last = *std::max_element(begin, end);
  std::vector<HistogramBin> bins;
  for (HistogramBin bin = bin_of(*std::min_element(begin, end)); bin.low <= last;
       bin = bin_of(bin.high + 1)) {
    bins.push_back(bin);
  }
  for (const int64_t* value = begin; value != end; ++value) {
    const auto found =
        std::lower_bound(bins.begin(), bins.end(), *value,
                         [](const HistogramBin& bin, int64_t number) { return bin.high < number; });
    ++found->count;
  }
  return bins;
}

DomainSummary describe(const Domain& domain, Role role, int64_t classes) {
  const Adjacency& edges = *domain.graph.edges;
  DomainSummary summary;
  summary.name = domain.name;
  summary.group = domain.group;
  summary.role = role;
  summary.nodes = edges.rows();
  summary.edges = edges.nnz();
  summary.features = domain.graph.x.width();
  summary.feature_nonzeros = domain.graph.x.nonzeros();
  const torch::Tensor y = domain.labels.y.index_select(0, domain.labels.evaluate);
  if (y.dim() == 2) {  // of each task, how many are known
    const torch::Tensor known = y.isnan().logical_not().sum(0).contiguous();
    const int64_t* count = known.data_ptr<int64_t>();
    summary.labels.assign(count, count + known.numel());
    summary.unlabelled = domain.labels.y.isnan().all(1).sum().item<int64_t>();
  } else {
    summary.labels = count_labels(y, classes);
    summary.majority_share = majority(summary.labels);
    summary.unlabelled = domain.labels.y.lt(0).sum().item<int64_t>();
  }
  for (int64_t i = 0; i < edges.rows(); ++i) {
    const int64_t begin = edges.in.offset()[i], end = edges.in.offset()[i + 1];
    const bool receives = end > begin;
    const bool sends = edges.out.offset()[i + 1] > edges.out.offset()[i];
    summary.no_in += !receives;
    summary.no_out += !sends;
    summary.isolated += !receives && !sends;
    summary.self_loops += std::binary_search(edges.in.index() + begin, edges.in.index() + end, i);
  }
  if (summary.nodes > 0) {
    summary.mean_degree = static_cast<double>(summary.edges) / static_cast<double>(summary.nodes);
  }
  summary.degrees = count_histogram(edges.in.offsets.diff());
  if (domain.graph.level() == Level::graph) describe_set(domain, summary);
  return summary;
}

std::vector<DomainSummary> describe(const Task& task) {
  std::vector<DomainSummary> summaries;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      summaries.push_back(describe(domain, role, task.classes));
    }
  }
  return summaries;
}

std::string label_note(const torch::Tensor& y, int64_t classes) {
  const std::vector<int64_t> counts = count_labels(y, classes);
  return fmt::format("labels {}, majority share {:.3f}", fmt::join(counts, " "), majority(counts));
}

}  // namespace grm
