#include "grm/graph/device_nets.h"

#include "grm/core/error.h"
#include "place.h"
#ifdef GRM_CUDA
#include "cuda/ego_kernels.h"
#endif

namespace grm {
namespace {

constexpr int64_t kMostNodes = 64;
constexpr size_t kMostHops = 8;

/// Nodes that an ego-net can have.
int64_t capacity_of(const std::vector<int64_t>& fanout) {
  int64_t nodes = 1, reach = 1;
  for (const int64_t most : fanout) {
    if (most == 0) break;
    reach *= most;
    nodes += reach;
    if (nodes > kMostNodes) break;
  }
  return nodes;
}

}  // namespace

bool DeviceNets::fit(const std::vector<int64_t>& fanout) {
  return fanout.size() <= kMostHops && capacity_of(fanout) <= kMostNodes;
}

#ifdef GRM_CUDA

namespace {

static_assert(kMostNodes == cuda::kMaxEgoNodes && kMostHops == cuda::kMaxHops);

cuda::EgoNets nets_of(int64_t graphs, int64_t capacity, const torch::Tensor& nodes,
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
  cuda::EgoFanout most;
  for (const int64_t count : fanout) {
    if (count == 0) break;
    most.most[most.hops++] = static_cast<int>(count);
  }
  cuda::ego_sample(
      here.in.offset(), here.in.index(), targets.contiguous().data_ptr<int64_t>(), most,
      {draws.key(), draws.place()},
      nets_of(graphs_, capacity_, nodes_, mask_, node_offset_, edge_offset_, loop_offset_),
      place.stream);
}

GraphBatch DeviceNets::batch() const {
  GraphBatch batch;
  batch.graphs = graphs_;
  batch.node_offsets = node_offset_;
  batch.nodes = torch::empty({graphs_ * capacity_}, node_offset_.options());
  batch.graph_of_node = torch::empty_like(batch.nodes);
  batch.counted = node_offset_.narrow(0, graphs_, 1);
  batch.most = capacity_;
  cuda::ego_rows(
      nets_of(graphs_, capacity_, nodes_, mask_, node_offset_, edge_offset_, loop_offset_),
      batch.nodes.data_ptr<int64_t>(), batch.graph_of_node.data_ptr<int64_t>(),
      place_of(nodes_).stream);
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
  const cuda::EgoPattern out{
      pattern->in.offsets.data_ptr<int64_t>(), pattern->in.indices.data_ptr<int32_t>(),
      pattern->out.offsets.data_ptr<int64_t>(), pattern->out.indices.data_ptr<int32_t>(),
      pattern->out_edge.data_ptr<int64_t>()};
  const cuda::EgoNets nets =
      nets_of(graphs_, capacity_, nodes_, mask_, node_offset_, edge_offset_, loop_offset_);
  if (kipf) *kipf = torch::empty({most}, longs.dtype(dtype));
  void* stream = place_of(nodes_).stream;
  AT_DISPATCH_FLOATING_TYPES(dtype, "ego_pattern", [&] {
    cuda::ego_pattern<scalar_t>(nets, loops, out, kipf ? kipf->data_ptr<scalar_t>() : nullptr,
                                stream);
  });
  return pattern;
}

#else

DeviceNets::DeviceNets(const Adjacency&, const torch::Tensor&, const std::vector<int64_t>&,
                       const Stream&)
    : graphs_(0), capacity_(0) {
  fail(ErrorKind::device, "DeviceNets: this program was built without CUDA");
}
GraphBatch DeviceNets::batch() const {
  GraphBatch none;
  none.most = graphs_ * capacity_;
  return none;
}
AdjacencyPtr DeviceNets::pattern(bool, torch::Dtype, torch::Tensor*) const {
  return nullptr;
}

#endif

}  // namespace grm
