#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "grm/core/words.h"
#include "grm/graph/graph.h"
#include "grm/nn/parameters.h"

namespace grm::nn {

/// y = x W + b, W: [in, out]. Initialised uniformly in +- 1/sqrt(in), weight and bias.
struct Linear {
  torch::Tensor weight, bias;
  Linear() = default;
  Linear(ParameterSet& set, const std::string& name, int64_t in, int64_t out,
         bool with_bias = true);
  torch::Tensor forward(const torch::Tensor& x) const;
  torch::Tensor forward(const Features& x) const;
};

/// Batch normalisation over rows: eps 1e-5, momentum 0.1, unbiased running variance.
/// Every training pass updates the running statistics; one row alone has no unbiased variance, so
/// it moves the running mean only. Sums are kept in double and do not depend on the thread count.
struct BatchNorm {
  static constexpr double kEps = 1e-5;
  torch::Tensor gamma, beta, mean, variance;
  BatchNorm() = default;
  BatchNorm(ParameterSet& set, const std::string& name, int64_t width);
  /// `counted` ([1] int64 on a GPU): the number of leading rows that enter the statistics, for
  /// batches whose size the host does not know; undefined: all.
  torch::Tensor forward(const torch::Tensor& x, const Pass& pass,
                        const torch::Tensor& counted = {});
  /// Moves the running statistics towards those of `rows` rows: mean and biased variance.
  void update(const torch::Tensor& m, const torch::Tensor& v, int64_t rows);
};

enum class Conv { sum, kipf };
GRM_WORDS(Conv, "sum", "kipf")

/// The linear operator that one graph convolution applies to node rows.
/// `sum`:  no self-loop, no normalisation. `kipf`: self-loops and symmetric normalisation.
/// weights undefined means all ones.
struct Propagation {
  AdjacencyPtr pattern;
  torch::Tensor weights;
  torch::Tensor apply(const torch::Tensor& rows) const;
};

/// Builds the operator of `conv` for stored edges with optional weights [nnz];
/// gradients reach the weights, through the degrees too. An existing self-loop keeps its weight;
/// missing ones are added with weight 1. The operator's weights live on `device`.
Propagation make_propagation(Conv conv, const AdjacencyPtr& edges,
                             const torch::Tensor& weights = {},
                             torch::Dtype dtype = torch::kFloat32,
                             const torch::Device& device = torch::kCPU);

/// Mean over the in-neighbours: each pair j -> i weighs 1 / (number of pairs into i).
Propagation mean_propagation(const AdjacencyPtr& edges, torch::Dtype dtype = torch::kFloat32,
                             const torch::Device& device = torch::kCPU);

/// The operator of layer `l` of a sample. Degrees are those of the larger graph, and a neighbour
/// that was drawn counts for the ones that were not, so that sums are right in the mean; where
/// nothing is left out, it is the operator of the larger graph. `weights` [nnz]: of the data, for
/// all edges of the sample.
Propagation sampled_propagation(Conv conv, const GraphSample& sample, int64_t l,
                                const torch::Tensor& weights, torch::Dtype dtype = torch::kFloat32,
                                const torch::Device& device = torch::kCPU);

/// The same operator with its matrix transposed: a node receives from its out-neighbours.
Propagation transposed(const Propagation& p);

/// Unweighted operators of the graphs in use, built once per graph. A graph is known by its
/// ownership, not by its address, and is not kept alive: its operator is forgotten some time after
/// the last owner let the graph go, so passing a new graph at every step does not pile up memory.
class PropagationCache {
 public:
  using Builder = std::function<Propagation(const AdjacencyPtr&)>;
  explicit PropagationCache(Conv conv, torch::Dtype dtype = torch::kFloat32,
                            const torch::Device& device = torch::kCPU);
  explicit PropagationCache(Builder build) : build_(std::move(build)) {}
  Propagation get(const AdjacencyPtr& edges);
  int64_t size() const { return static_cast<int64_t>(seen_.size()); }

 private:
  Builder build_;
  // A null pattern stands for the graph itself.
  std::map<std::weak_ptr<const Adjacency>, Propagation, std::owner_less<>> seen_;
};

/// Operators of graphs in use whose edges get other weights at every pass (masks): what depends on
/// the edges alone is built once per graph.
class WeightedPropagation {
 public:
  WeightedPropagation(Conv conv, torch::Dtype dtype, const torch::Device& device);
  /// As make_propagation.
  Propagation get(const AdjacencyPtr& edges, const torch::Tensor& weights);

 private:
  Conv conv_;
  torch::Dtype dtype_;
  torch::Device device_;
  PropagationCache loops_;  // with self-loops; for weights the positions of the stored edges
};

/// X W of a first layer, for several passes over the same features with the same weights (views
/// that differ in their edges): the first of them fills it in, the others take it from here.
/// Gradients of all passes meet in it, so one backward pass over the sum of their losses computes
/// X^T dZ once.
struct SharedProduct {
  torch::Tensor value;
};

/// Z = P (X W) + b with a GCN's initialisation: W glorot, b zero.
struct GcnLayer {
  torch::Tensor weight, bias;
  GcnLayer() = default;
  GcnLayer(ParameterSet& set, const std::string& name, int64_t in, int64_t out);
  torch::Tensor forward(const torch::Tensor& x, const Propagation& p) const;
  torch::Tensor forward(const Features& x, const Propagation& p,
                        SharedProduct* shared = nullptr) const;
};

}  // namespace grm::nn
