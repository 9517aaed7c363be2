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

Tensor counting(int64_t n, const Tensor& like) {
  return torch::arange(n, like.options());
}

// [n + 1]: how much stands before each entry, and in all.
Tensor sums_before(const Tensor& counts) {
  return torch::constant_pad_nd(counts.cumsum(0), {1, 0});
}

// The segment of each of `count` places; the number of segments behind the last one.
Tensor segment_of(const Tensor& offsets, int64_t count) {
  return torch::searchsorted(offsets.slice(0, 1).contiguous(), counting(count, offsets),
                             /*out_int32=*/false, /*right=*/true);
}

// `all` places, of which the first `used` ([1]) serve: padding is spread evenly over the rows behind the
// first `counted` ([1]) ones.
struct Padding {
  Tensor rows, entries;  // [1] int64, at least one row
  Tensor used, counted;
  Padding(int64_t all_rows, int64_t all_entries, const Tensor& last_row, const Tensor& last_entry)
      : rows(all_rows - last_row),
        entries(all_entries - last_entry),
        used(last_entry),
        counted(last_row) {}
  /// First entry of each row; meaningful behind the last one that counts.
  Tensor offsets(const Tensor& row) const {
    return used + torch::floor_divide(entries * (row - counted), rows);
  }
  /// The row of each entry; meaningful behind the last one that is used.
  Tensor row_of(const Tensor& entry) const {
    const Tensor before = (entry - used + 1) * rows - 1;
    return counted + torch::floor_divide(before, entries.clamp_min(1));
  }
};

Csr padded_csr(int64_t rows, const Tensor& offsets, const Tensor& indices, int64_t longest) {
  Csr csr;
  csr.rows = csr.cols = rows;
  csr.offsets = offsets;
  csr.indices = indices.to(torch::kInt32);
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
  const auto side = [&](const Csr& of) {
    Csr csr;
    csr.rows = csr.cols = rows;
    csr.offsets = torch::empty({rows + 1}, longs);
    csr.indices = torch::empty({entries}, longs.dtype(torch::kInt32));
    csr.longest = of.longest;
    return csr;
  };
  auto block = std::make_shared<Adjacency>();
  block->in = side(whole.in);
  block->out = side(whole.out);
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
  const Tensor real = counting(entries, counted) < edges.in.offsets.index_select(0, counted);
  const Tensor kept = keep.logical_and(real).to(torch::kInt64);
  const Tensor before = sums_before(kept);
  const Tensor out_before = sums_before(kept.index_select(0, edges.out_edge));
  const auto has_some = [](const Tensor& sums, const Csr& csr) {
    return sums.index_select(0, csr.offsets).diff() > 0;
  };
  const Tensor touched =
      has_some(before, edges.in).logical_or(has_some(out_before, edges.out)).to(torch::kInt64);
  PaddedPart part;
  part.new_row = sums_before(touched);
  part.counted = part.new_row.narrow(0, rows, 1);
  part.nodes = segment_of(part.new_row, rows).clamp_max(rows - 1);
  part.edge_ids = segment_of(before, entries).clamp_max(entries - 1);
  const Tensor out_ids = segment_of(out_before, entries).clamp_max(entries - 1);
  const Tensor used = before.narrow(0, entries, 1);
  const Padding padding(rows, entries, part.counted, used);

  const Tensor row = counting(rows + 1, used), entry = counting(entries, used);
  const Tensor counts = row < part.counted, is_used = entry < used;
  const Tensor spread = padding.offsets(row), padded = padding.row_of(entry);
  const auto row_offsets = [&](const Tensor& sums, const Csr& csr) {
    const Tensor there = sums.index_select(0, csr.offsets.index_select(0, part.nodes));
    return torch::where(counts, torch::constant_pad_nd(there, {0, 1}), spread);
  };
  const auto indices = [&](const Csr& csr, const Tensor& ids) {
    const Tensor old = csr.indices.index_select(0, ids).to(torch::kInt64);
    return torch::where(is_used, part.new_row.index_select(0, old), padded);
  };
  auto made = std::make_shared<Adjacency>();
  made->in = padded_csr(rows, row_offsets(before, edges.in), indices(edges.in, part.edge_ids),
                        edges.in.longest);
  made->out = padded_csr(rows, row_offsets(out_before, edges.out), indices(edges.out, out_ids),
                         edges.out.longest);
  made->out_edge =
      torch::where(is_used, before.index_select(0, edges.out_edge.index_select(0, out_ids)), entry);
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
