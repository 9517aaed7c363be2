#include "data/spurious.h"

#include <torch/types.h>

#include <cmath>

#include "data/describe.h"
#include "grm/core/error.h"

namespace grm {
namespace {

torch::Tensor first_argmax(const torch::Tensor& scores) {
  const int64_t n = scores.size(0), width = scores.size(1);
  torch::Tensor best = torch::zeros({n}, torch::kInt64);
  const auto score = scores.accessor<double, 2>();
  int64_t* at = best.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 1; c < width; ++c) {
      if (score[i][c] > score[i][at[i]]) at[i] = c;
    }
  }
  return best;
}

AdjacencyPtr one_hot_pattern(const torch::Tensor& y, int64_t width) {
  Csr rows;
  rows.rows = y.numel();
  rows.cols = width;
  rows.offsets = torch::arange(y.numel() + 1, torch::kInt64);
  rows.indices = y.to(torch::kInt32);
  return with_transpose(std::move(rows));
}

// N(u_e) for all e: row e is column e of N's weight, plus its bias.
torch::Tensor draw_offsets(int64_t width, Stream draws) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(kSpuriousDomains));
  torch::Tensor rows = torch::empty({kSpuriousDomains + 1, width}, torch::kFloat64);
  double* value = rows.data_ptr<double>();
  for (int64_t k = 0; k < rows.numel(); ++k) value[k] = draws.uniform(-bound, bound);
  return rows.narrow(0, 0, kSpuriousDomains) + rows[kSpuriousDomains];
}

// Puts domain e where the split wants it: 0 trains, 1 validates, 2..9 are T1..T8.
void place_domain(Task& task, int64_t e, Graph graph, const torch::Tensor& y) {
  graph.name = e < 2 ? fmt::format("domain{}", e) : fmt::format("T{}", e - 1);
  std::vector<Domain>& home = e == 0 ? task.training : e == 1 ? task.validation : task.test;
  home.push_back(make_domain(std::move(graph), y));
}

void describe_labels(Task& task, const torch::Tensor& y) {
  if (y.numel() == 0) fail(ErrorKind::data, "{}: empty graph", task.name);
  task.classes = y.max().item<int64_t>() + 1;
  task.loss = LossKind::softmax;
  task.metric = MetricKind::accuracy;
  task.notes.push_back("labels come from a random network, not from the source: " +
                       label_note(y, task.classes));
}

}  // namespace

void SpuriousOptions::declare(OptionList& list) {
  list.choice("generator", generator,
              "family of the random networks that make labels and spurious features");
  list.add("dataset_seed", dataset_seed, {0},
           "seed of the drawn part of the data: labels, spurious features, generated graphs");
}

SpuriousDraw draw_spurious(const Adjacency& edges, const Adjacency& x, GeneratorFamily family,
                           int64_t width, uint64_t seed) {
  const Rng rng(seed);
  SpuriousDraw draw;
  const RandomGenerator labels =
      draw_generator(family, x.cols(), kSpuriousDomains, rng.stream("label generator"));
  draw.y = first_argmax(run_generator(labels, edges, x));
  const RandomGenerator features =
      draw_generator(family, kSpuriousDomains, width, rng.stream("feature generator"));
  draw.base = run_generator(features, edges, *one_hot_pattern(draw.y, kSpuriousDomains));
  draw.offset = draw_offsets(width, rng.stream("domain offsets"));
  return draw;
}

void add_spurious_domains(Task& task, const AdjacencyPtr& edges, const AdjacencyPtr& x,
                          const SpuriousDraw& draw) {
  describe_labels(task, draw.y);
  for (int64_t e = 0; e < kSpuriousDomains; ++e) {
    Graph graph;
    graph.edges = edges;
    graph.x.sparse = x;
    graph.x.dense = (draw.base + draw.offset[e]).to(torch::kFloat32);
    place_domain(task, e, std::move(graph), draw.y);
  }
}

void add_mixed_domains(Task& task, const AdjacencyPtr& edges, const AdjacencyPtr& x,
                       const SpuriousDraw& draw, double ratio) {
  describe_labels(task, draw.y);
  Features original;
  original.sparse = x;
  const torch::Tensor mixed =
      (original.to_dense().to(torch::kFloat64) * (1.0 - ratio) + draw.base * ratio)
          .to(torch::kFloat32);
  for (int64_t e = 0; e < kSpuriousDomains; ++e) {
    Graph graph;
    graph.edges = edges;
    graph.x.dense = mixed;
    // A shift is subtracted; at ratio 0 there is none.
    if (ratio > 0) graph.x.shift = (draw.offset[e] * -ratio).to(torch::kFloat32);
    place_domain(task, e, std::move(graph), draw.y);
  }
}

}  // namespace grm
