#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernels.h"

// The kernels of this station; core/kernel.h says how they are called.
namespace grm::kernels {

// --- the search for influence sets ---
// Count is float (exact below 2^24) or double (below 2^53).

constexpr int kPathLanes = 64;    // sources of a block
constexpr int kPathTable = 4096;  // path counts whose logarithms are kept

/// One number for each of the sources of a block.
template <class T>
struct alignas(64) Lanes {
  T at[kPathLanes];
};

/// Neighbour lists of an undirected graph without self-loops.
struct NeighbourLists {
  int64_t nodes;
  const int64_t* offset;
  const int32_t* index;
};

/// The two limits of the influence rule: on the mean length, and on the mean log2 of path counts.
struct PathLimits {
  double max_length;
  double min_log2_paths;
};

/// Sources that pass both limits for certain, and sources that pass the first while the second is
/// too close to call with rounded logarithms. One bit for each source.
struct Verdict {
  uint64_t sure;
  uint64_t unsure;
};

/// Logarithms are kept as 16-bit fixed point, with as many fraction bits as the range of Count
/// leaves: log2 is below 32 for the exact floats and below 2048 for any double.
template <class Count>
constexpr int kPathFractionBits = sizeof(Count) == 4 ? 11 : 5;

/// Breadth-first search with path counting from 64 consecutive nodes at once. Every node holds a
/// contiguous vector over the 64 sources, so that one step along an edge is a few vector additions.
template <class Count>
struct PathBlock {
  explicit PathBlock(const NeighbourLists& lists)
      : graph(lists),
        seen(lists.nodes),
        front(lists.nodes),
        next_front(lists.nodes),
        wave(lists.nodes),
        next_wave(lists.nodes),
        count(lists.nodes),
        length(lists.nodes),
        log(lists.nodes),
        log_table(kPathTable) {
    for (int c = 1; c < kPathTable; ++c) log_table[c] = fixed_log2(c);
  }
  static uint16_t fixed_log2(double count) {
    const double log = std::min(std::log2(count), 2047.0);
    return static_cast<uint16_t>(std::lround(std::ldexp(log, kPathFractionBits<Count>)));
  }

  /// Number of shortest paths from the source in `lane` to `node`; 0 beyond the searched depth.
  double paths(int64_t node, int lane) const { return count[node].at[lane]; }

  NeighbourLists graph;
  std::vector<uint64_t> seen;                 // sources that have reached the node
  std::vector<uint64_t> front, next_front;    // sources that reached it in the last, this step
  std::vector<Lanes<Count>> wave, next_wave;  // their path counts; meaningless where front is 0
  std::vector<Lanes<Count>> count;
  std::vector<Lanes<uint8_t>> length;
  std::vector<Lanes<uint16_t>> log;
  std::vector<uint16_t> log_table;  // of small counts
};

/// Searches from the nodes first .. first + sources, up to `depth` steps. False if some count left
/// the exact range of Count; the block then has no meaning.
template <class Count>
struct search_paths
    : CpuKernel<bool(PathBlock<Count>& block, int64_t first, int sources, int depth)> {};

/// Weighs all sources against the `count` > 0 nodes `members`. A source farther than `depth` from
/// some member is never selected.
template <class Count>
struct judge_paths : CpuKernel<Verdict(const PathBlock<Count>& block, const int32_t* members,
                                       int64_t count, const PathLimits& limits)> {};

/// The same on a GPU, for many blocks at once, in `work` of this size: about 1 kB (Count = double:
/// 1.8 kB) for each node and block.
template <class Count>
size_t path_workspace_bytes(int64_t nodes, int64_t blocks) {
  const size_t each = 3 * sizeof(uint64_t) + kPathLanes * (3 * sizeof(Count) + 3);
  return static_cast<size_t>(nodes * blocks) * each;
}

/// Breadth-first searches from the nodes first .. first + 64 * blocks (as far as they exist), up to
/// `depth` <= 255 steps. inexact[b] becomes 1 where a count of block b left the exact range of
/// Count, else 0: such a block has no meaning and is to be searched with Count = double.
template <class Count>
struct path_search : CudaKernel<void(const NeighbourLists& graph, int64_t first, int64_t blocks,
                                     int depth, void* work, int32_t* inexact)> {};

/// judge_paths for the members of all nodes: sure[i * stride + b] and unsure[...] are the verdicts
/// over the sources of block b for row i of `members`; both 0 for an empty row.
template <class Count>
struct path_judge : CudaKernel<void(const NeighbourLists& members, int64_t graph_nodes,
                                    int64_t blocks, const PathLimits& limits, const void* work,
                                    uint64_t* sure, uint64_t* unsure, int64_t stride)> {};

/// out[k] = number of shortest paths from source number source[k] (0 .. 64 * blocks) to node[k],
/// for what path_judge could not decide.
template <class Count>
struct path_counts
    : CudaKernel<void(int64_t graph_nodes, int64_t blocks, const void* work, const int32_t* node,
                      const int32_t* source, int64_t count, double* out)> {};

// --- ego-nets on a GPU, the same ones as grm::ego_batch draws ---
// The host learns nothing about their sizes, so that a whole training step can be captured: arrays
// are as long as the largest ego-nets would need, and the rows behind the last node belong to no
// graph.

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
struct ego_sample
    : CudaKernel<void(const int64_t* offset, const int32_t* index, const int64_t* target,
                      const EgoFanout& fanout, StreamKey key, const EgoNets& nets)> {};

/// Node ids and graph numbers of graphs * capacity rows; 0 and `graphs` in those without a node.
struct ego_rows : CudaKernel<void(const EgoNets& nets, int64_t* nodes, int64_t* graph_of_node)> {};

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
struct ego_pattern
    : CudaKernel<void(const EgoNets& nets, bool loops, const EgoPattern& pattern, T* kipf)> {};

// --- sets of graphs ---
// Batches with room for more (graph/padded.h says what stands behind the last node and the last pair).

/// Graphs ids[0 .. graphs) of a set whose graph g has the nodes part[g] .. part[g + 1).
struct ChosenGraphs {
  const int64_t* part;
  const int64_t* id;
  int64_t graphs;
  int64_t rows;  // of the batch: more than these graphs have nodes
};

/// node_offset [graphs + 1], and the node and the graph of each row.
struct padded_rows : Kernel<void(const ChosenGraphs& chosen, int64_t* node_offset, int64_t* nodes,
                                 int64_t* graph_of_node)> {};

/// A pattern that is block-diagonal over the graphs, and room for the block of a batch.
struct WholePattern {
  const int64_t *in_offset, *out_offset, *out_edge;
  const int32_t *in_index, *out_index;
};
struct PaddedPattern {
  int64_t *in_offset, *out_offset;  // [rows + 1]
  int32_t *in_index, *out_index;    // [entries]
  int64_t *out_edge, *edge_id;
  int64_t entries;
};
/// `entry_offset` [graphs + 1] receives the first entry of each graph.
struct padded_pattern
    : Kernel<void(const ChosenGraphs& chosen, const int64_t* node_offset, const int64_t* nodes,
                  const int64_t* graph_of_node, const WholePattern& whole, int64_t* entry_offset,
                  const PaddedPattern& block)> {};

/// A padded batch of which some pairs are kept, and the nodes that touch one of them.
struct CutBatch {
  int64_t rows, entries;
  const int64_t *in_offset, *out_offset, *out_edge;
  const int32_t *in_index, *out_index;
  const int64_t* counted;  // [1]
  const bool* keep;        // [entries]; the padding never counts
};
/// What graph/padded.h says of a PaddedPart, and numbers that are needed on the way.
struct CutPart {
  int64_t *nodes, *row_place;      // [rows]
  int64_t* new_row;                // [rows + 1]
  int64_t *edge_ids, *edge_place;  // [entries]
  int64_t *in_offset, *out_offset, *out_edge;
  int32_t *in_index, *out_index;
  int64_t *before,
      *out_before;   // [entries + 1]: kept entries before each one, and of the transpose
  int64_t* out_ids;  // [entries]: entry of the batch's transpose of each one
};
struct padded_cut : Kernel<void(const CutBatch& batch, const CutPart& part)> {};

/// Row k of out [count, width] is row rows[k] of a sparse matrix (offset, index), zeros included. value:
/// one number for each entry, null for ones.
struct spread_rows : Kernel<void(const int64_t* offset, const int32_t* index, const float* value,
                                 const int64_t* rows, int64_t count, int64_t width, float* out)> {};

}  // namespace grm::kernels
