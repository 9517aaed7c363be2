#include "graph/device_nets.h"

#include "graph/kernels.h"
#include "graph/place.h"
#include "grm/core/error.h"

namespace grm {
namespace {

/// Nodes that an ego-net can have.
int64_t capacity_of(const std::vector<int64_t>& fanout) {
  int64_t nodes = 1, reach = 1;
  for (const int64_t most : fanout) {
    if (most == 0) break;
    reach *= most;
    nodes += reach;
    if (nodes > kernels::kMaxEgoNodes) break;
  }
  return nodes;
}

}  // namespace

bool DeviceNets::fit(const std::vector<int64_t>& fanout) {
  return fanout.size() <= static_cast<size_t>(kernels::kMaxHops) &&
         capacity_of(fanout) <= kernels::kMaxEgoNodes;
}

namespace {

kernels::EgoNets nets_of(int64_t graphs, int64_t capacity, const torch::Tensor& nodes,
                         const torch::Tensor& mask, const torch::Tensor& node_offset,
                         const torch::Tensor& edge_offset, const torch::Tensor& loop_offset) {
  return {graphs,
          capacity,
          nodes.data_ptr<int32_t>(),
          reinterpret_cast<uint64_t*>(mask.data_ptr<int64_t>()),
          node_offset.data_ptr<int64_t>(),
          edge_offset.data_ptr<int64_t>(),
          loop_offset.data_ptr<int64_t>()};
}

}  // namespace

DeviceNets::DeviceNets(const Adjacency& edges, const torch::Tensor& targets,
                       const std::vector<int64_t>& fanout, const Stream& draws)
    : graphs_(targets.numel()), capacity_(capacity_of(fanout)) {
  const Place place = place_of(targets);
  ensure(place.cuda && fit(fanout), "DeviceNets: targets on the host, or nets too large");
  const Adjacency& here = edges.on(targets.device());
  const auto longs = targets.options();
  nodes_ = torch::empty({graphs_, capacity_}, longs.dtype(torch::kInt32));
  mask_ = torch::empty({graphs_, capacity_}, longs);
  node_offset_ = torch::empty({graphs_ + 1}, longs);
  edge_offset_ = torch::empty({graphs_ + 1}, longs);
  loop_offset_ = torch::empty({graphs_ + 1}, longs);
  kernels::EgoFanout most;
  for (const int64_t count : fanout) {
    if (count == 0) break;
    most.most[most.hops++] = static_cast<int>(count);
  }
  on_gpu<kernels::ego_sample>(
      place, here.in.offset(), here.in.index(), targets.contiguous().data_ptr<int64_t>(), most,
      kernels::StreamKey{draws.key(), draws.place()},
      nets_of(graphs_, capacity_, nodes_, mask_, node_offset_, edge_offset_, loop_offset_));
}

GraphBatch DeviceNets::batch() const {
  GraphBatch batch;
  batch.graphs = graphs_;
  batch.node_offsets = node_offset_;
  batch.nodes = torch::empty({graphs_ * capacity_}, node_offset_.options());
  batch.graph_of_node = torch::empty_like(batch.nodes);
  batch.counted = node_offset_.narrow(0, graphs_, 1);
  batch.most = capacity_;
  on_gpu<kernels::ego_rows>(
      place_of(nodes_),
      nets_of(graphs_, capacity_, nodes_, mask_, node_offset_, edge_offset_, loop_offset_),
      batch.nodes.data_ptr<int64_t>(), batch.graph_of_node.data_ptr<int64_t>());
  return batch;
}

AdjacencyPtr DeviceNets::pattern(bool loops, torch::Dtype dtype, torch::Tensor* kipf) const {
  const int64_t rows = graphs_ * capacity_, most = rows * capacity_;
  const auto longs = node_offset_.options();
  auto pattern = std::make_shared<Adjacency>();
  for (Csr* side : {&pattern->in, &pattern->out}) {
    side->rows = side->cols = rows;
    side->offsets = torch::empty({rows + 1}, longs);
    side->indices = torch::empty({most}, longs.dtype(torch::kInt32));  // filled as far as needed
    side->longest = capacity_;
  }
  pattern->out_edge = torch::empty({most}, longs);
  const kernels::EgoPattern out{
      pattern->in.offsets.data_ptr<int64_t>(), pattern->in.indices.data_ptr<int32_t>(),
      pattern->out.offsets.data_ptr<int64_t>(), pattern->out.indices.data_ptr<int32_t>(),
      pattern->out_edge.data_ptr<int64_t>()};
  const kernels::EgoNets nets =
      nets_of(graphs_, capacity_, nodes_, mask_, node_offset_, edge_offset_, loop_offset_);
  if (kipf) *kipf = torch::empty({most}, longs.dtype(dtype));
  AT_DISPATCH_FLOATING_TYPES(dtype, "ego_pattern", [&] {
    on_gpu<kernels::ego_pattern<scalar_t>>(place_of(nodes_), nets, loops, out,
                                           kipf ? kipf->data_ptr<scalar_t>() : nullptr);
  });
  return pattern;
}

}  // namespace grm
