#pragma once

#include <torch/types.h>

#include "grm/core/rng.h"
#include "grm/data/task.h"

namespace grm::test {

// A connected random graph with sparse 0/1 features and two dense columns; labels follow a feature.
inline Domain small_domain(uint64_t seed, int64_t n = 14, const std::string& name = "small") {
  Stream draw = Rng(seed).stream("small");
  std::vector<int64_t> source, target;
  const auto link = [&](int64_t a, int64_t b) {
    source.insert(source.end(), {a, b});
    target.insert(target.end(), {b, a});
  };
  for (int64_t i = 1; i < n; ++i) link(i, static_cast<int64_t>(draw.below(i)));
  for (int64_t k = 0; k < n; ++k) {
    const int64_t a = static_cast<int64_t>(draw.below(n)), b = static_cast<int64_t>(draw.below(n));
    if (a != b) link(a, b);
  }
  std::vector<int64_t> row, column;
  std::vector<int64_t> y;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t c = static_cast<int64_t>(draw.below(3));
    row.push_back(i);
    column.push_back(c);
    y.push_back(c == 0 ? 1 : 0);
    row.push_back(i);
    column.push_back(3 + static_cast<int64_t>(draw.below(4)));
  }
  const auto ints = [](const std::vector<int64_t>& v) { return torch::tensor(v, torch::kInt64); };
  Graph graph;
  graph.name = name;
  graph.edges = make_adjacency(n, n, ints(source), ints(target));
  graph.x.sparse = make_adjacency(n, 7, ints(column), ints(row));
  graph.x.dense = torch::empty({n, 2}, torch::kFloat32);
  Rng(seed).stream("dense").fill_normal(graph.x.dense.data_ptr<float>(), 2 * n);
  y[0] = 1;
  y[1] = 0;
  return make_domain(graph, ints(y));
}

inline Task small_task(LossKind loss = LossKind::softmax) {
  Task task;
  task.name = "small";
  task.classes = 2;
  task.loss = loss;
  task.training = {small_domain(1, 30, "a")};
  task.validation = {small_domain(2, 20, "b")};
  task.test = {small_domain(3, 20, "c"), small_domain(4, 20, "d")};
  return task;
}

}  // namespace grm::test
