#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <functional>
#include <string>

#include "grm/core/rng.h"
#include "grm/graph/graph.h"
#include "grm/nn/parameters.h"

namespace grm::test {

inline torch::Tensor uniform(at::IntArrayRef shape, uint64_t key, double low = -1.0,
                             double high = 1.0) {
  torch::Tensor x = torch::empty(shape, torch::kFloat64);
  Stream(key).fill_uniform(x.data_ptr<double>(), x.numel(), low, high);
  return x;
}

inline torch::Tensor numbers(const std::vector<double>& values) {
  return torch::tensor(values, torch::dtype(torch::kFloat64));
}

inline AdjacencyPtr graph_of(int64_t n, const std::vector<int64_t>& source,
                             const std::vector<int64_t>& target) {
  return make_adjacency(n, n, torch::tensor(source, torch::dtype(torch::kInt64)),
                        torch::tensor(target, torch::dtype(torch::kInt64)));
}

/// The matrix A with A[i, j] = weight of j -> i.
inline torch::Tensor dense_matrix(const Adjacency& edges, const torch::Tensor& weights) {
  const auto [source, target] = edge_list(edges);
  torch::Tensor a = torch::zeros({edges.rows(), edges.cols()}, torch::kFloat64);
  const torch::Tensor w = weights.defined() ? weights : torch::ones({edges.nnz()}, torch::kFloat64);
  return a.index_put({target, source}, w);
}

/// Seven nodes: a directed cycle with chords, a self-loop at 2, a reciprocal pair, node 6 isolated.
inline AdjacencyPtr small_graph() {
  return graph_of(7, {0, 1, 2, 3, 4, 5, 2, 0, 1, 3, 5}, {1, 2, 3, 4, 5, 0, 2, 3, 0, 1, 2});
}

/// Sparse columns, dense columns and a shift, in double.
inline Features small_features(int64_t n = 7) {
  std::vector<int64_t> row, column;
  Stream draw(31);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < 4; ++c) {
      if (draw.uniform() < 0.4) row.push_back(i), column.push_back(c);
    }
  }
  Features x;
  x.sparse = make_adjacency(n, 4, torch::tensor(column, torch::dtype(torch::kInt64)),
                            torch::tensor(row, torch::dtype(torch::kInt64)));
  x.sparse_values = uniform({x.sparse->nnz()}, 32, 0.5, 1.5);
  x.dense = uniform({n, 2}, 33);
  x.shift = uniform({6}, 34, 0.0, 0.3);
  return x;
}

inline Features dense_features(const torch::Tensor& x) {
  Features features;
  features.dense = x;
  return features;
}

inline void expect_close(const torch::Tensor& got, const torch::Tensor& expected, double tolerance,
                         const std::string& what = "") {
  ASSERT_TRUE(got.defined()) << what;
  ASSERT_EQ(got.sizes(), expected.sizes()) << what;
  const double worst = (got.detach().to(torch::kFloat64) - expected.detach().to(torch::kFloat64))
                           .abs()
                           .max()
                           .item<double>();
  EXPECT_LE(worst, tolerance) << what;
}

/// The gradients of loss() against central differences, for every entry of every tensor.
inline void expect_gradients(const std::function<torch::Tensor()>& loss,
                             const nn::ParameterSet::Named& tensors, double tolerance = 1e-7) {
  for (const auto& entry : tensors) {
    torch::Tensor tensor = entry.second;
    tensor.mutable_grad().reset();
  }
  loss().backward();
  const double step = 1e-6;
  for (const auto& [name, tensor] : tensors) {
    ASSERT_TRUE(tensor.grad().defined()) << name;
    const torch::Tensor gradient = tensor.grad().contiguous();
    double* p = tensor.data_ptr<double>();
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      const double kept = p[i];
      at::NoGradGuard no_grad;
      p[i] = kept + step;
      const double up = loss().item<double>();
      p[i] = kept - step;
      const double down = loss().item<double>();
      p[i] = kept;
      EXPECT_NEAR(gradient.data_ptr<double>()[i], (up - down) / (2 * step), tolerance)
          << name << " entry " << i;
    }
  }
}

}  // namespace grm::test
