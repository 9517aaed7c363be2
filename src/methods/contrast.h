#pragma once

#include <torch/types.h>

#include <cstdint>

// MARIO's contrast of two views of the same nodes and the cluster assignment it is conditioned on.
namespace grm {

/// Rows divided by their length (at least 1e-12).   z: [n, h]
torch::Tensor unit_rows(const torch::Tensor& z);

/// The mean over nodes of l_i - gamma ccl_i and both parts of it. Only `loss` has a gradient. The
/// parts are double scalars where the rows live: whoever reads them waits for a GPU.
struct ContrastTerms {
  torch::Tensor loss;
  torch::Tensor contrast;     // mean of l_i
  torch::Tensor conditional;  // mean of ccl_i
};

/// With cosines c(., .) between rows of the views z1, z2: [n, h] and clusters y1, y2: [n] int64,
///   a_i   = -log [ e^{c(z1_i,z2_i)/tau} / (sum_{j != i} e^{c(z1_i,z1_j)/tau}
///                                          + sum_j e^{c(z1_i,z2_j)/tau}) ]
///   b_i   = the same with the views swapped,  l_i = (a_i + b_i) / 2
///   ccl_i = -log [ e^{c(z1_i,z2_i)} / sum_{j: y1_j = y2_i} e^{c(z1_i,z2_j)} ]   if y1_i = y2_i
///         = 0                                                                   otherwise
/// Cosines exist in tiles of `block` x `block` nodes only, each computed twice: once for the sums
/// and once for the gradient, which is ready when this returns. Memory is O(n h + block^2); block =
/// 0 is 512, and 4096 on a GPU. A GPU keeps the tiles in between where they are few enough.
/// tau >= 0.05: exponents are (c - 1) / tau, and their sums must not vanish in single precision.
ContrastTerms contrast_loss(const torch::Tensor& z1, const torch::Tensor& z2,
                            const torch::Tensor& y1, const torch::Tensor& y2, double tau,
                            double gamma, int64_t block = 0);

/// Bytes of the tiles that a GPU keeps for n nodes; 0 where they are computed again.
double kept_tile_bytes(int64_t nodes, int64_t bytes_of_a_number = 4);

/// Balanced soft assignment of nodes to prototypes (Sinkhorn-Knopp). Q = exp(s / epsilon) is scaled
/// in turn so that all prototypes get the same share and all nodes the same share, `iterations`
/// times; nodes come last, so the rows of the result sum to 1.   s: [n, k] -> [n, k], no gradient.
torch::Tensor sinkhorn(const torch::Tensor& s, double epsilon = 0.1, int64_t iterations = 3);

}  // namespace grm
