#include "graph/padded.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "graph/kernels.h"
#include "graph/place.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm {
namespace {

using torch::Tensor;

constexpr double kSmallestRoom = 1.125;  // of what graphs of mean size take
constexpr double kNextRoom = 1.25;       // times the room before
constexpr int64_t kSpareShare = 16;  // a sixteenth of the rows more, among which padding is spread

// A pattern that a kernel fills.
Csr padded_csr(int64_t rows, int64_t entries, int64_t longest, const torch::TensorOptions& longs) {
  Csr csr;
  csr.rows = csr.cols = rows;
  csr.offsets = torch::empty({rows + 1}, longs);
  csr.indices = torch::empty({entries}, longs.dtype(torch::kInt32));
  csr.longest = longest;
  return csr;
}

}  // namespace

GraphRooms::GraphRooms(const Tensor& parts, const std::vector<const Adjacency*>& patterns) {
  const int64_t graphs = parts.numel() - 1;
  ensure(graphs > 0, "GraphRooms: the set has no graphs");
  sizes_.push_back({parts.contiguous()});
  for (const Adjacency* pattern : patterns) {
    sizes_.push_back({pattern->in.offsets.index_select(0, parts)});
  }
  for (Sizes& sizes : sizes_) {
    const int64_t* at = sizes.offsets.data_ptr<int64_t>();
    sizes.mean = static_cast<double>(at[graphs] - at[0]) / static_cast<double>(graphs);
    for (int64_t g = 0; g < graphs; ++g) sizes.most = std::max(sizes.most, at[g + 1] - at[g]);
  }
}

int64_t GraphRooms::Sizes::capacity(int64_t graphs, int64_t room) const {
  const double smallest = mean * static_cast<double>(graphs) * kSmallestRoom;
  return static_cast<int64_t>(std::ceil(smallest * std::pow(kNextRoom, static_cast<double>(room))));
}

int64_t GraphRooms::rows(int64_t graphs, int64_t room) const {
  const int64_t nodes = sizes_[0].capacity(graphs, room);
  return nodes + nodes / kSpareShare + 1;
}

int64_t GraphRooms::entries(size_t pattern, int64_t graphs, int64_t room) const {
  return sizes_[pattern + 1].capacity(graphs, room);
}

int64_t GraphRooms::room_of(const Tensor& ids) const {
  const Tensor chosen = ids.contiguous();
  const int64_t* id = chosen.data_ptr<int64_t>();
  int64_t room = 0;
  for (const Sizes& sizes : sizes_) {
    const int64_t* at = sizes.offsets.data_ptr<int64_t>();
    int64_t needed = 0;
    for (int64_t b = 0; b < chosen.numel(); ++b) needed += at[id[b] + 1] - at[id[b]];
    while (sizes.capacity(chosen.numel(), room) < needed) ++room;
  }
  return room;
}

PaddedGraphs::PaddedGraphs(const Tensor& parts, const Tensor& ids, int64_t rows)
    : parts_(parts.contiguous()), ids_(ids.contiguous()) {
  const int64_t graphs = ids.numel();
  batch_.graphs = graphs;
  batch_.node_offsets = torch::empty({graphs + 1}, ids.options());
  batch_.counted = batch_.node_offsets.narrow(0, graphs, 1);
  batch_.nodes = torch::empty({rows}, ids.options());
  batch_.graph_of_node = torch::empty({rows}, ids.options());
  launch<kernels::padded_rows>(place_of(ids), chosen(), batch_.node_offsets.data_ptr<int64_t>(),
                               batch_.nodes.data_ptr<int64_t>(),
                               batch_.graph_of_node.data_ptr<int64_t>());
}

kernels::ChosenGraphs PaddedGraphs::chosen() const {
  return {parts_.data_ptr<int64_t>(), ids_.data_ptr<int64_t>(), batch_.graphs, batch_.rows()};
}

AdjacencyPtr PaddedGraphs::pattern(const Adjacency& whole, int64_t entries,
                                   Tensor* edge_ids) const {
  const int64_t rows = batch_.rows();
  const auto longs = ids_.options();
  auto block = std::make_shared<Adjacency>();
  block->in = padded_csr(rows, entries, whole.in.longest, longs);
  block->out = padded_csr(rows, entries, whole.out.longest, longs);
  block->out_edge = torch::empty({entries}, longs);
  const Tensor ids = torch::empty({entries}, longs);
  const Tensor entry_offset = torch::empty({batch_.graphs + 1}, longs);
  launch<kernels::padded_pattern>(
      place_of(ids), chosen(), batch_.node_offsets.data_ptr<int64_t>(),
      batch_.nodes.data_ptr<int64_t>(), batch_.graph_of_node.data_ptr<int64_t>(),
      kernels::WholePattern{whole.in.offset(), whole.out.offset(),
                            whole.out_edge.data_ptr<int64_t>(), whole.in.index(),
                            whole.out.index()},
      entry_offset.data_ptr<int64_t>(),
      kernels::PaddedPattern{
          block->in.offsets.data_ptr<int64_t>(), block->out.offsets.data_ptr<int64_t>(),
          block->in.indices.data_ptr<int32_t>(), block->out.indices.data_ptr<int32_t>(),
          block->out_edge.data_ptr<int64_t>(), ids.data_ptr<int64_t>(), entries});
  if (edge_ids) *edge_ids = ids;
  return block;
}

PaddedPart padded_part(const Adjacency& edges, const Tensor& counted, const Tensor& keep) {
  const int64_t rows = edges.rows(), entries = edges.nnz();
  const auto longs = counted.options();
  const Tensor marks = keep.contiguous();
  const auto numbers = [&](int64_t n) { return torch::empty({n}, longs); };
  PaddedPart part;
  part.nodes = numbers(rows);
  part.row_place = numbers(rows);
  part.new_row = numbers(rows + 1);
  part.counted = part.new_row.narrow(0, rows, 1);
  part.edge_ids = numbers(entries);
  part.edge_place = numbers(entries);
  auto made = std::make_shared<Adjacency>();
  made->in = padded_csr(rows, entries, edges.in.longest, longs);
  made->out = padded_csr(rows, entries, edges.out.longest, longs);
  made->out_edge = numbers(entries);
  const Tensor before = numbers(entries + 1), out_before = numbers(entries + 1);
  const Tensor out_ids = numbers(entries);
  const auto at = [](const Tensor& t) { return t.data_ptr<int64_t>(); };
  launch<kernels::padded_cut>(
      place_of(counted),
      kernels::CutBatch{rows, entries, edges.in.offset(), edges.out.offset(), at(edges.out_edge),
                        edges.in.index(), edges.out.index(), at(counted), marks.data_ptr<bool>()},
      kernels::CutPart{at(part.nodes), at(part.row_place), at(part.new_row), at(part.edge_ids),
                       at(part.edge_place), at(made->in.offsets), at(made->out.offsets),
                       at(made->out_edge), made->in.indices.data_ptr<int32_t>(),
                       made->out.indices.data_ptr<int32_t>(), at(before), at(out_before),
                       at(out_ids)});
  part.edges = std::move(made);
  return part;
}

Features pick_dense_rows(const Features& x, const Tensor& rows) {
  const torch::Device device = rows.device();
  const Features there = x.on(device);
  Features picked;
  picked.shift = there.shift;
  if (there.dense.defined()) picked.dense = there.dense.index_select(0, rows);
  if (!there.sparse) return picked;
  const Adjacency& pattern = there.sparse->on(device);
  const Tensor made =
      torch::empty({rows.numel(), pattern.cols()}, torch::dtype(torch::kFloat32).device(device));
  const Tensor values = there.sparse_values.defined()
                            ? there.sparse_values.to(torch::kFloat32).contiguous()
                            : Tensor();
  launch<kernels::spread_rows>(
      place_of(made), pattern.in.offset(), pattern.nnz() > 0 ? pattern.in.index() : nullptr,
      values.defined() ? values.data_ptr<float>() : nullptr, rows.data_ptr<int64_t>(), rows.numel(),
      pattern.cols(), made.data_ptr<float>());
  picked.dense = picked.dense.defined() ? torch::cat({made, picked.dense}, 1) : made;
  return picked;
}

}  // namespace grm
