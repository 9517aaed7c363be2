#include "methods/edited_graph.h"

#include <torch/types.h>

#include "graph/place.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "methods/kernels.h"
#include "ops/kernels.h"
#include "ops/sparse.h"

namespace grm {
namespace {

// The row of every entry.
torch::Tensor rows_of_entries(const Csr& csr) {
  const torch::Tensor degree = csr.offsets.slice(0, 1) - csr.offsets.slice(0, 0, csr.rows);
  return torch::repeat_interleave(torch::arange(csr.rows, torch::kInt32), degree);
}

}  // namespace

EditedGraph::EditedGraph(nn::Conv conv, const AdjacencyPtr& edges, torch::Dtype dtype,
                         const torch::Device& device)
    : loops_(conv == nn::Conv::kipf),
      dtype_(dtype),
      pairs_(loops_ ? with_self_loops(*edges) : edges),
      in_row_(on_device(rows_of_entries(pairs_->in), device)),
      out_row_(on_device(rows_of_entries(pairs_->out), device)) {
  const torch::Tensor& offsets = pairs_->in.offsets;
  const torch::Tensor degree = offsets.slice(0, 1) - offsets.slice(0, 0, pairs_->rows());
  longest_ = degree.numel() > 0 ? degree.max().item<int64_t>() : 0;
  pairs_->on(device);
}

nn::Propagation EditedGraph::flipped(const torch::Tensor& flips) const {
  const Adjacency& pairs = pairs_->on(flips.device());
  const int64_t n = pairs.rows(), s = flips.size(1), count = n * s, entries = pairs.nnz() + count;
  ensure(flips.dim() == 2 && flips.size(0) == n && flips.scalar_type() == torch::kInt32 &&
             flips.is_contiguous() && flips.device() == in_row_.device(),
         "EditedGraph: the flips do not belong to the graph");
  const Place place = place_of(flips);
  const auto longs = flips.options().dtype(torch::kInt64), ints = flips.options();
  const torch::Tensor sources = flips.reshape({-1}).to(torch::kInt64);
  const torch::Tensor offset = torch::empty({n + 1}, longs), position = torch::empty({count}, ints);
  launch<kernels::positions_by_value>(place, sources.data_ptr<int64_t>(), count, n,
                                      offset.data_ptr<int64_t>(), position.data_ptr<int32_t>());
  auto pattern = std::make_shared<Adjacency>();
  pattern->in = {n, n, pairs.in.offsets + torch::arange(n + 1, longs) * s,
                 torch::empty({entries}, ints), longest_ + s};
  pattern->out = {n, n, torch::empty({n + 1}, longs), torch::empty({entries}, ints)};
  pattern->out_edge = torch::empty({entries}, longs);
  const torch::Tensor weight = torch::empty({entries}, flips.options().dtype(dtype_));
  AT_DISPATCH_FLOATING_TYPES(dtype_, "edited pairs", [&] {
    launch<kernels::edited_pairs<scalar_t>>(
        place,
        kernels::UneditedPairs{n, pairs.nnz(), pairs.in.offset(), pairs.out.offset(),
                               pairs.out_edge.data_ptr<int64_t>(), pairs.in.index(),
                               pairs.out.index(), in_row_.data_ptr<int32_t>(),
                               out_row_.data_ptr<int32_t>(), loops_},
        kernels::FlippedPairs{s, flips.data_ptr<int32_t>(), offset.data_ptr<int64_t>(),
                              position.data_ptr<int32_t>()},
        kernels::EditedPairs<scalar_t>{
            pattern->in.indices.data_ptr<int32_t>(), weight.data_ptr<scalar_t>(),
            pattern->out.offsets.data_ptr<int64_t>(), pattern->out_edge.data_ptr<int64_t>(),
            pattern->out.indices.data_ptr<int32_t>()});
  });
  return {pattern, loops_ ? ops::normalise(pattern, weight) : weight};
}

}  // namespace grm
