#pragma once

#include <torch/types.h>

#include <cstdint>
#include <utility>

// The generated graph as one operator. Edges over all ordered pairs of the nodes of a small graph,
// i = j included, e_ij = sigmoid(<f_i, f_j>), are made where they are used: logits, weights,
// degrees, propagation, divergence and all gradients of a graph stay in cache, and no array over
// pairs is ever written to memory. Equal to sddmm, generate_edges, normalise, spmm and
// segment_mean over all_pairs(). Graphs may have any size. float and double; results do not depend
// on the number of threads; second derivatives are refused.
namespace grm::ops {

/// A batch of graphs: the nodes of graph g are the rows offsets[g] .. offsets[g + 1).
struct GeneratedTiles {
  torch::Tensor offsets;  // [graphs + 1] int64, from 0 to the number of rows
  int64_t graphs = 0;
  int64_t most = 0;  // nodes of the largest graph
};

/// Nodes of the largest graph that one kernel of a GPU generates.
int64_t most_generated_nodes();

/// From offsets on the host.
GeneratedTiles generated_tiles(const torch::Tensor& offsets);

/// y = D^-1/2 E D^-1/2 x inside each graph, D the degrees of E, or y = E x if not `normalised`.
/// f: [rows, d_e], x: [rows, d] -> [rows, d]. Gradients reach f, through the degrees too, and x.
torch::Tensor generated_product(const GeneratedTiles& tiles, const torch::Tensor& f,
                                const torch::Tensor& x, bool normalised);

/// KL(Bernoulli(e) || Bernoulli(theta)), the mean or the sum over the pairs of each graph:
/// [graphs], 0 for a graph without nodes.   0 < theta < 1.
torch::Tensor generated_kl(const GeneratedTiles& tiles, const torch::Tensor& f, double theta,
                           bool mean);

/// Both, with one pass over the graphs forward and one backward.
std::pair<torch::Tensor, torch::Tensor> generated_product_and_kl(const GeneratedTiles& tiles,
                                                                 const torch::Tensor& f,
                                                                 const torch::Tensor& x,
                                                                 bool normalised, double theta,
                                                                 bool mean);

}  // namespace grm::ops
