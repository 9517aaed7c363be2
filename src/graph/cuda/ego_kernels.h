#pragma once

#include <cstdint>

#include "../../core/cuda/cuda_kernels.h"

// Ego-nets on a GPU, the same ones as grm::ego_batch draws; the conventions of
// ops/cuda/cuda_kernels.h. The host learns nothing about their sizes, so that a whole training step
// can be captured: arrays are as long as the largest ego-nets would need, and the rows behind the
// last node belong to no graph.
namespace grm::cuda {

constexpr int64_t kMaxEgoNodes = 64;
constexpr int kMaxHops = 8;

struct EgoFanout {
  int hops = 0;
  int most[kMaxHops];
};

/// Ego-nets before they are packed. The members of net g are nodes[g * capacity ...], the target
/// first and the others ascending; bit b of mask[g * capacity + a] stands for a pair b -> a.
struct EgoNets {
  int64_t graphs;
  int64_t capacity;      // of a net, at most kMaxEgoNodes: nodes that the fan-out can reach
  int32_t* nodes;        // [graphs, capacity]
  uint64_t* mask;        // [graphs, capacity]
  int64_t* node_offset;  // [graphs + 1]
  int64_t* edge_offset;  // [graphs + 1], first pair of each net
  int64_t* loop_offset;  // [graphs + 1], the same with a self-pair for each node
};

/// Draws the nets of `target`. offset, index: pairs by target node, ascending; `key` as the stream
/// of grm::ego_batch has it.
void ego_sample(const int64_t* offset, const int32_t* index, const int64_t* target,
                const EgoFanout& fanout, StreamKey key, const EgoNets& nets, void* stream);

/// Node ids and graph numbers of graphs * capacity rows; 0 and `graphs` in those without a node.
void ego_rows(const EgoNets& nets, int64_t* nodes, int64_t* graph_of_node, void* stream);

/// The block-diagonal pattern over those rows and its transpose, with all self-pairs where `loops`.
/// Where not null, kipf[k] = 1 / sqrt(deg_i deg_j) of each pair.
struct EgoPattern {
  int64_t* in_offset;   // [rows + 1]
  int32_t* in_index;    // [graphs * capacity^2], as far as there are pairs
  int64_t* out_offset;  // likewise
  int32_t* out_index;
  int64_t* out_edge;
};
template <class T>
void ego_pattern(const EgoNets& nets, bool loops, const EgoPattern& pattern, T* kipf, void* stream);

}  // namespace grm::cuda
