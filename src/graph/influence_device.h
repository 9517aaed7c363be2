#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "graph/influence.h"
#include "graph/kernels.h"

namespace grm {

/// The search of influence.cpp on a GPU, many blocks of 64 nodes u at a time. What the kernels
/// cannot decide with rounded logarithms is decided on the host, so the sets are those of the host.
class DeviceBlockSearch {
 public:
  /// The lists must outlive this object.
  DeviceBlockSearch(const kernels::NeighbourLists& graph, const kernels::NeighbourLists& members,
                    const InfluenceRule& rule, const torch::Device& device);

  /// How many blocks fit the device's memory.
  int64_t blocks_at_once() const { return blocks_at_once_; }
  /// Bit u % 64 of word [i, b] tells whether u of block first + b belongs to V_i^D.   Host, int64
  /// [nodes, count], count <= blocks_at_once().
  torch::Tensor run(int64_t first, int64_t count);

 private:
  struct DeviceLists {
    torch::Tensor offsets, indices;
    kernels::NeighbourLists view() const;
  };
  template <class Count>
  void judge(int64_t blocks, int64_t stride, int64_t* sure, int64_t* unsure);
  template <class Count>
  void decide(int64_t blocks, int64_t column, torch::Tensor& sure, const torch::Tensor& unsure);

  int64_t nodes_;
  const kernels::NeighbourLists members_;  // on the host
  const InfluenceRule rule_;
  int depth_;
  torch::Device device_;
  DeviceLists graph_there_, members_there_;
  int64_t blocks_at_once_ = 1;
  torch::Tensor work_;     // [bytes]
  torch::Tensor inexact_;  // [blocks] int32
};

}  // namespace grm
