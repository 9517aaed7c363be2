#include <algorithm>

#include "grm/graph/batch.h"

namespace grm {

GraphBatch induced_batch(const Adjacency& edges, const Csr& members) {
  GraphBatch batch;
  batch.graphs = members.rows;
  batch.node_offsets = members.offsets;
  batch.nodes = members.indices.to(torch::kInt64);
  batch.graph_of_node = torch::empty({members.nnz()}, torch::kInt64);
  Csr in;
  in.rows = in.cols = members.nnz();
  in.offsets = torch::zeros({members.nnz() + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  std::vector<int32_t> indices;
  for (int64_t b = 0; b < members.rows; ++b) {
    const int64_t first = members.offset()[b], last = members.offset()[b + 1];
    const int32_t* begin = members.index() + first;
    const int32_t* end = members.index() + last;
    for (int64_t row = first; row < last; ++row) {
      batch.graph_of_node.data_ptr<int64_t>()[row] = b;
      // Both lists ascend: walk them together.
      const int64_t node = members.index()[row];
      const int32_t* source = edges.in.index() + edges.in.offset()[node];
      const int32_t* stop = edges.in.index() + edges.in.offset()[node + 1];
      for (const int32_t* member = begin; member != end && source != stop;) {
        if (*source < *member) {
          source = std::lower_bound(source, stop, *member);
        } else if (*member < *source) {
          member = std::lower_bound(member, end, *source);
        } else {
          indices.push_back(static_cast<int32_t>(first + (member - begin)));
          ++member;
          ++source;
        }
      }
      offset[row + 1] = static_cast<int64_t>(indices.size());
    }
  }
  in.indices = torch::empty({static_cast<int64_t>(indices.size())}, torch::kInt32);
  std::copy(indices.begin(), indices.end(), in.indices.data_ptr<int32_t>());
  batch.edges = with_transpose(std::move(in));
  return batch;
}

}  // namespace grm
