#pragma once

#include <cstdint>

// Kernels of ops/generated.h. The same rules as in kernels.h.
namespace grm::kernels {

/// A batch of small graphs: the nodes of graph g are the rows offset[g] .. offset[g + 1).
struct GeneratorBatch {
  int64_t graphs;
  const int64_t* offset;  // [graphs + 1]
  int64_t max_nodes;      // of one graph
  int64_t edge_width;     // columns of f
  int64_t width;          // columns of x and y
  double theta;
  bool normalised;  // y = D^-1/2 E D^-1/2 x with D the degrees of E, else y = E x
  bool mean_kl;     // kl is the mean over the ordered pairs of a graph, else the sum
};

/// With e_ij = sigmoid(<f_i, f_j>) for all ordered pairs of a graph: y as above, and kl[g] = sum or
/// mean of KL(Bernoulli(e) || Bernoulli(theta)). x and y may both be null, and kl.
template <class T>
void generate_forward(const GeneratorBatch& batch, const T* f, const T* x, T* y, T* kl);

/// Gradients for dy (null: y is not used; x and dx are then ignored) and dkl (null likewise).
/// df and dx may be null.
template <class T>
void generate_backward(const GeneratorBatch& batch, const T* f, const T* x, const T* dy,
                       const T* dkl, T* df, T* dx);

}  // namespace grm::kernels
