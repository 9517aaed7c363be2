#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/path_block.h"
#include "grm/core/rng.h"
#include "place.h"

// Kernels on a GPU that this station uses; graph/cuda/cuda_kernels.h and core/cuda/cuda_kernels.h
// say what they do. The host's counterparts are PathBlock and Stream.
namespace grm::graph_dispatch {

void philox_uniform(const Place& place, float* out, int64_t n, const Stream& stream, float low,
                    float high);
void philox_uniform(const Place& place, double* out, int64_t n, const Stream& stream, double low,
                    double high);
void philox_normal(const Place& place, float* out, int64_t n, const Stream& stream);
void philox_normal(const Place& place, double* out, int64_t n, const Stream& stream);

template <class Count>
size_t path_workspace_bytes(int64_t nodes, int64_t blocks);
template <class Count>
void path_search(const Place& place, const kernels::NeighbourLists& graph, int64_t first,
                 int64_t blocks, int depth, void* work, int32_t* inexact);
template <class Count>
void path_judge(const Place& place, const kernels::NeighbourLists& members, int64_t graph_nodes,
                int64_t blocks, const kernels::PathLimits& limits, const void* work, uint64_t* sure,
                uint64_t* unsure, int64_t stride);
template <class Count>
void path_counts(const Place& place, int64_t graph_nodes, int64_t blocks, const void* work,
                 const int32_t* node, const int32_t* source, int64_t count, double* out);

}  // namespace grm::graph_dispatch
