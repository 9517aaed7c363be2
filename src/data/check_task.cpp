#include <torch/types.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/system/mapped_file.h"
#include "grm/core/error.h"
#include "grm/data/task.h"

namespace grm {
namespace {

// "twitch, test domain ES": where a fault is.
std::string place(const Task& task, Role role, const std::string& domain) {
  return fmt::format("{}, {} domain {}", task.name, to_string(role), domain);
}

void check_finite(const torch::Tensor& values, const std::string& where, const char* part) {
  // Mapped numbers were looked at when they were written; 'grm data check' reads them all.
  if (!values.defined() || in_mapped_file(values.data_ptr())) return;
  if (torch::isfinite(values).all().item<bool>()) return;
  const torch::Tensor at = torch::nonzero(~torch::isfinite(values))[0];
  std::string index;
  for (int64_t k = 0; k < at.numel(); ++k) {
    index += fmt::format("{}{}", k > 0 ? ", " : "", at[k].item<int64_t>());
  }
  fail(ErrorKind::data, "{}: {} features hold a NaN or an infinity at [{}]", where, part, index);
}

// The graphs of a set follow each other, and no edge leaves its graph.
void check_parts(const Graph& graph, const std::string& where) {
  if (graph.level() == Level::node) return;
  const auto part = graph.parts.accessor<int64_t, 1>();
  const int64_t count = graph.items();
  if (count < 1 || part[0] != 0 || part[count] != graph.nodes()) {
    fail(ErrorKind::data, "{}: the graphs of the set do not cover its {} nodes", where,
         graph.nodes());
  }
  for (int64_t g = 0; g < count; ++g) {
    if (part[g + 1] <= part[g]) fail(ErrorKind::data, "{}: graph {} has no node", where, g);
    for (int64_t e = graph.edges->in.offset()[part[g]]; e < graph.edges->in.offset()[part[g + 1]];
         ++e) {
      const int64_t source = graph.edges->in.index()[e];
      if (source < part[g] || source >= part[g + 1]) {
        fail(ErrorKind::data, "{}: an edge leaves graph {}", where, g);
      }
    }
  }
}

void check_edge_data(const Graph& graph, const std::string& where) {
  const int64_t edges = graph.edges->nnz();
  const bool has_rows = graph.edge_x.sparse || graph.edge_x.dense.defined();
  const torch::Tensor& weights = graph.edge_weights;
  if ((has_rows && graph.edge_x.rows() != edges) ||
      (weights.defined() && weights.numel() != edges)) {
    fail(ErrorKind::data, "{}: edge features or weights are not those of {} edges", where, edges);
  }
  if (graph.level() == Level::node && weights.defined() && weights.lt(0).any().item<bool>()) {
    fail(
        ErrorKind::data,
        "{}: an edge has a negative weight; weights between nodes are 0 or more, a signed quantity "
        "is a feature of the edge",
        where);
  }
}

void check_graph(const Graph& graph, int64_t width, const std::string& where) {
  if (!graph.edges || graph.nodes() == 0) fail(ErrorKind::data, "{}: empty graph", where);
  if (graph.edges->cols() != graph.nodes()) {
    fail(ErrorKind::data, "{}: its edges are a {} x {} pattern, a square one is needed", where,
         graph.edges->rows(), graph.edges->cols());
  }
  if (!graph.x.sparse && !graph.x.dense.defined()) {
    fail(ErrorKind::data, "{}: its nodes have no features", where);
  }
  if (!graph.parted && graph.x.rows() != graph.nodes()) {
    fail(ErrorKind::data, "{}: {} rows of features for {} nodes", where, graph.x.rows(),
         graph.nodes());
  }
  if (graph.x.width() != width) {
    fail(ErrorKind::data, "{}: {} features, but the first training domain has {}", where,
         graph.x.width(), width);
  }
  check_finite(graph.x.sparse_values, where, "sparse");
  check_finite(graph.x.dense, where, "dense");
  check_finite(graph.x.shift, where, "constant");
  check_parts(graph, where);
  check_edge_data(graph, where);
}

// Nodes that count must exist, ascend and carry a label.
void check_counted(const torch::Tensor& nodes, const torch::Tensor& y, const std::string& where,
                   const char* use) {
  if (!nodes.defined() || nodes.scalar_type() != torch::kInt64) {
    fail(ErrorKind::data, "{}: the list of nodes for the {} is not an int64 tensor", where, use);
  }
  const auto node = nodes.accessor<int64_t, 1>();
  const torch::Tensor known = y.dim() == 2 ? y.isnan().all(1).logical_not() : y.ge(0);
  const auto labelled = known.accessor<bool, 1>();
  for (int64_t k = 0; k < nodes.numel(); ++k) {
    if (node[k] < 0 || node[k] >= y.size(0) || (k > 0 && node[k] <= node[k - 1])) {
      fail(ErrorKind::data, "{}: entry {} of the nodes for the {} is {}, out of range or order",
           where, k, use, node[k]);
    }
    if (!labelled[node[k]]) {
      fail(ErrorKind::data, "{}: node {} counts for the {} but has no label", where, node[k], use);
    }
  }
}

// Numbers of several tasks: [items, tasks], yes and no for multi-label targets.
void check_targets(const Domain& domain, const Task& task, const std::string& where) {
  const torch::Tensor& y = domain.labels.y;
  if (!y.defined() || y.scalar_type() != torch::kFloat32 || y.dim() != 2 ||
      y.size(0) != domain.graph.items() || y.size(1) != task.classes) {
    fail(ErrorKind::data, "{}: targets are not {} numbers for each of {} {}", where, task.classes,
         domain.graph.items(), domain.graph.level() == Level::graph ? "graphs" : "nodes");
  }
  if (torch::isinf(y).any().item<bool>()) fail(ErrorKind::data, "{}: a target is infinite", where);
  const torch::Tensor other = y.ne(0).logical_and(y.ne(1)).logical_and(y.isnan().logical_not());
  if (task.loss == LossKind::multi_label && other.any().item<bool>()) {
    fail(ErrorKind::data, "{}: a multi-label target is neither 0, 1 nor NaN (not known)", where);
  }
  check_counted(domain.labels.loss, y, where, "loss");
  check_counted(domain.labels.evaluate, y, where, "metric");
}

void check_labels(const Domain& domain, int64_t classes, const std::string& where) {
  const torch::Tensor& y = domain.labels.y;
  if (!y.defined() || y.scalar_type() != torch::kInt64 || y.dim() != 1 ||
      y.numel() != domain.graph.items()) {
    fail(ErrorKind::data, "{}: labels are not one whole number for each of {} {}", where,
         domain.graph.items(), domain.graph.level() == Level::graph ? "graphs" : "nodes");
  }
  const auto label = y.accessor<int64_t, 1>();
  for (int64_t i = 0; i < y.numel(); ++i) {
    if (label[i] < -1 || label[i] >= classes) {
      fail(ErrorKind::data, "{}: label {} of node {} is outside 0..{}", where, label[i], i,
           classes - 1);
    }
  }
  const torch::Tensor& truth = domain.labels.edge_truth;
  if (truth.defined() && truth.numel() != domain.graph.edges->nnz()) {
    fail(ErrorKind::data, "{}: {} marks of true edges for {} edges", where, truth.numel(),
         domain.graph.edges->nnz());
  }
  check_counted(domain.labels.loss, y, where, "loss");
  check_counted(domain.labels.evaluate, y, where, "metric");
}

// A metric is computed per group of domains, so what it needs is asked of the group.
void check_groups(const Task& task, Role role) {
  std::map<std::string, std::set<int64_t>> classes_of;
  for (const Domain& domain : task.domains(role)) {
    std::set<int64_t>& seen = classes_of[domain.group];
    if (target_of(task.loss) != Target::classes) {
      if (domain.labels.evaluate.numel() > 0) seen.insert({0, 1});
      continue;
    }
    const torch::Tensor y = domain.labels.y.index_select(0, domain.labels.evaluate);
    const auto label = y.accessor<int64_t, 1>();
    for (int64_t k = 0; k < y.numel(); ++k) seen.insert(label[k]);
  }
  for (const auto& [group, seen] : classes_of) {
    if (seen.empty()) {
      fail(ErrorKind::data, "{}: no labelled node to evaluate", place(task, role, group));
    }
    if (task.metric == MetricKind::roc_auc && seen.size() < 2) {
      fail(ErrorKind::data, "{}: all labels are {}, so ROC-AUC is undefined",
           place(task, role, group), *seen.begin());
    }
  }
}

}  // namespace

void check_task(const Task& task) {
  // Own data may have nothing to test on: what is asked for is predictions.
  if (task.training.empty() || task.validation.empty()) {
    fail(ErrorKind::data, "{}: {} training and {} validation domains; one of each needed",
         task.name, task.training.size(), task.validation.size());
  }
  const bool classes = target_of(task.loss) == Target::classes;
  const std::vector<MetricKind> metrics = metrics_of(target_of(task.loss));
  if (std::find(metrics.begin(), metrics.end(), task.metric) == metrics.end()) {
    fail(ErrorKind::data, "{}: the metric {} is not for {} targets", task.name,
         to_string(task.metric), to_string(target_of(task.loss)));
  }
  if (task.classes < (classes ? 2 : 1) ||
      (task.loss == LossKind::binary_pair && task.classes != 2)) {
    fail(ErrorKind::data, "{}: {} classes under the {} loss", task.name, task.classes,
         to_string(task.loss));
  }
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      const std::string where = place(task, role, domain.name);
      check_graph(domain.graph, task.features(), where);
      if (classes) {
        check_labels(domain, task.classes, where);
      } else {
        check_targets(domain, task, where);
      }
      if (role == Role::train && domain.labels.loss.numel() == 0) {
        fail(ErrorKind::data, "{}: no labelled node to train on", where);
      }
    }
    if (role != Role::train) check_groups(task, role);
  }
}

}  // namespace grm
