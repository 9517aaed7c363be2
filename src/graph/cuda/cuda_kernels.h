#pragma once

#include <cstddef>
#include <cstdint>

#include "../cpu/path_block.h"

// Searches of kernels::PathBlock on a GPU, for many blocks of 64 sources at once; the conventions
// of ops/cuda/cuda_kernels.h. Count is float (exact below 2^24) or double (below 2^53).
namespace grm::cuda {

using kernels::NeighbourLists;
using kernels::PathLimits;

/// Memory of `blocks` searches: about 1 kB (Count = double: 1.8 kB) for each node and block.
template <class Count>
size_t path_workspace_bytes(int64_t nodes, int64_t blocks);

/// Breadth-first searches from the nodes first .. first + 64 * blocks (as far as they exist), up to
/// `depth` <= 255 steps. inexact[b] becomes 1 where a count of block b left the exact range of
/// Count, else 0: such a block has no meaning and is to be searched with Count = double.
template <class Count>
void path_search(const NeighbourLists& graph, int64_t first, int64_t blocks, int depth, void* work,
                 int32_t* inexact, void* stream);

/// PathBlock::judge for the members of all nodes: sure[i * stride + b] and unsure[...] are the
/// verdicts over the sources of block b for row i of `members`; both 0 for an empty row.
template <class Count>
void path_judge(const NeighbourLists& members, int64_t graph_nodes, int64_t blocks,
                const PathLimits& limits, const void* work, uint64_t* sure, uint64_t* unsure,
                int64_t stride, void* stream);

/// out[k] = number of shortest paths from source number source[k] (0 .. 64 * blocks) to node[k],
/// for what judge could not decide.
template <class Count>
void path_counts(int64_t graph_nodes, int64_t blocks, const void* work, const int32_t* node,
                 const int32_t* source, int64_t count, double* out, void* stream);

}  // namespace grm::cuda
