#pragma once

#include <torch/types.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "grm/core/rng.h"
#include "grm/data/task.h"
#include "grm/methods/method.h"

namespace grm::test {

// A set of small graphs: a random tree of 4 to 8 nodes with a motif of three nodes hung on it, a
// triangle for label 1 and a path for label 0. The motif's nodes carry the label in the first of
// three feature columns; the other columns are noise. Edges inside the motif are the true ones.
// With `edge_columns` every edge has features of that width.
inline Domain small_graphs(uint64_t seed, int64_t graphs, const std::string& name,
                           int64_t edge_columns = 0) {
  Stream draw = Rng(seed).stream("graphs");
  std::vector<int64_t> source, target, parts{0}, y;
  std::vector<float> x;
  std::vector<bool> in_motif;
  for (int64_t g = 0; g < graphs; ++g) {
    const int64_t first = parts.back(), base = 4 + static_cast<int64_t>(draw.below(5));
    const int64_t label = g % 2;
    const auto link = [&](int64_t a, int64_t b) {
      source.insert(source.end(), {first + a, first + b});
      target.insert(target.end(), {first + b, first + a});
    };
    for (int64_t i = 1; i < base; ++i) link(i, static_cast<int64_t>(draw.below(i)));
    link(base, base + 1);
    link(base + 1, base + 2);
    if (label == 1) link(base, base + 2);
    link(base, static_cast<int64_t>(draw.below(base)));
    for (int64_t i = 0; i < base + 3; ++i) {
      const float sign = label == 1 ? 1.0f : -1.0f;
      in_motif.push_back(i >= base);
      x.push_back((i >= base ? sign : 0.0f) + 0.3f * static_cast<float>(draw.normal()));
      x.push_back(static_cast<float>(draw.normal()));
      x.push_back(static_cast<float>(draw.uniform()));
    }
    parts.push_back(first + base + 3);
    y.push_back(label);
  }
  const int64_t n = parts.back();
  const auto ints = [](const std::vector<int64_t>& v) { return torch::tensor(v, torch::kInt64); };
  Graph graph;
  graph.name = name;
  graph.parts = ints(parts);
  graph.edges = make_adjacency(n, n, ints(source), ints(target));
  graph.x.dense = torch::tensor(x).view({n, 3});
  const auto [from, to] = edge_list(*graph.edges);
  const int64_t edges = graph.edges->nnz();
  if (edge_columns > 0) {
    graph.edge_x.dense = torch::empty({edges, edge_columns}, torch::kFloat32);
    Rng(seed).stream("edges").fill_normal(graph.edge_x.dense.data_ptr<float>(),
                                          edges * edge_columns);
  }
  Domain domain = make_domain(graph, ints(y));
  domain.labels.edge_truth = torch::zeros({edges}, torch::kUInt8);
  for (int64_t e = 0; e < edges; ++e) {
    domain.labels.edge_truth[e] =
        static_cast<int64_t>(in_motif[from[e].item<int64_t>()] && in_motif[to[e].item<int64_t>()]);
  }
  return domain;
}

// 40 training graphs: two steps with batches of 32.
inline Task small_graph_task(LossKind loss = LossKind::softmax, int64_t edge_columns = 0) {
  Task task;
  task.name = "small graphs";
  task.level = Level::graph;
  task.classes = 2;
  task.loss = loss;
  task.training = {small_graphs(1, 40, "a", edge_columns)};
  task.validation = {small_graphs(2, 20, "b", edge_columns)};
  task.test = {small_graphs(3, 20, "c", edge_columns)};
  return task;
}

// A method of the graph level from a preset and some options, built without a dataset.
using Values = std::vector<std::pair<std::string, std::string>>;
inline std::unique_ptr<Method> build_graph_method(const std::string& name, const Task& task,
                                                  const Values& values = {}, uint64_t seed = 1,
                                                  const std::string& preset = "") {
  const MethodEntry& entry = find_method(name, Level::graph);
  const std::unique_ptr<MethodRecipe> recipe = entry.make();
  OptionList options;
  recipe->declare(options);
  const auto set = [&](const Values& list) {
    for (const auto& [key, value] : list) {
      if (key.rfind("train.", 0) != 0) options.set("method", key, value);
    }
  };
  for (const Preset& candidate : entry.presets) {
    if (candidate.name == (preset.empty() ? entry.presets.front().name : preset)) {
      set(candidate.values);
    }
  }
  set(values);
  return recipe->build(task.train_view(), Rng(seed));
}

}  // namespace grm::test
