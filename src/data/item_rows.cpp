#include "data/item_rows.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

namespace grm {

void ItemRows::append(const Domain& domain, const std::vector<int64_t>& ids) {
  const Graph& graph = domain.graph;
  const Features& x = graph.x;
  const bool sets = graph.level() == Level::graph;
  const int64_t own_sparse = x.sparse_width(), wide = x.width() - own_sparse;
  const torch::Tensor dense_x = x.dense.defined() ? x.dense.contiguous() : torch::Tensor();
  const float* in_dense = wide > 0 ? dense_x.data_ptr<float>() : nullptr;
  const float* in_value = x.sparse_values.defined() ? x.sparse_values.data_ptr<float>() : nullptr;
  const float* shift = x.shift.defined() ? x.shift.data_ptr<float>() : nullptr;
  shifts.emplace_back();
  if (shift) shifts.back().assign(shift, shift + sparse_width);
  for (const int64_t id : ids) {
    const int64_t begin = sets ? graph.parts.data_ptr<int64_t>()[id] : id;
    const int64_t end = sets ? graph.parts.data_ptr<int64_t>()[id + 1] : id + 1;
    const auto nodes = static_cast<double>(end - begin);
    std::vector<std::pair<int32_t, double>> entries;
    std::vector<double> row(static_cast<size_t>(dense_width), 0.0);
    const double degree =
        static_cast<double>(graph.edges->in.offset()[end] - graph.edges->in.offset()[begin]) /
        nodes;
    // Degrees and sizes have long tails.
    row[0] = std::log1p(degree);
    if (sets) row[1] = std::log1p(nodes);
    const int64_t structure = sets ? 2 : 1;
    for (int64_t i = begin; i < end; ++i) {
      if (x.sparse) {
        for (int64_t e = x.sparse->in.offset()[i]; e < x.sparse->in.offset()[i + 1]; ++e) {
          entries.emplace_back(x.sparse->in.index()[e], (in_value ? in_value[e] : 1.0) / nodes);
        }
      }
      for (int64_t j = 0; j < wide; ++j) {
        const int64_t at = own_sparse + j;
        const double part = in_dense[i * wide + j] / nodes;
        if (at < sparse_width) {  // another domain keeps this column sparse
          entries.emplace_back(static_cast<int32_t>(at), part);
        } else {
          row[structure + at - sparse_width] += part;
        }
      }
    }
    if (shift) {
      for (int64_t at = sparse_width; at < x.width(); ++at) {
        row[structure + at - sparse_width] -= shift[at];
      }
    }
    // Entries of one node are in order already; those of several are summed up by column.
    if (nodes > 1) std::sort(entries.begin(), entries.end());
    for (size_t k = 0; k < entries.size();) {
      const int32_t at = entries[k].first;
      double sum = 0;
      for (; k < entries.size() && entries[k].first == at; ++k) sum += entries[k].second;
      column.push_back(at);
      value.push_back(static_cast<float>(sum));
    }
    first.push_back(static_cast<int64_t>(column.size()));
    dense.insert(dense.end(), row.begin(), row.end());
    item.push_back(id);
    block.push_back(static_cast<int32_t>(shifts.size()) - 1);
  }
}

}  // namespace grm
