#include "graph/kernels.h"
#include "graph/padding.h"

namespace grm::cpu::GRM_CPU_VARIANT {

void padded_rows(const ChosenGraphs& chosen, int64_t* node_offset, int64_t* nodes,
                 int64_t* graph_of_node) {
  int64_t row = 0;
  node_offset[0] = 0;
  for (int64_t b = 0; b < chosen.graphs; ++b) {
    for (int64_t i = chosen.part[chosen.id[b]]; i < chosen.part[chosen.id[b] + 1]; ++i, ++row) {
      nodes[row] = i;
      graph_of_node[row] = b;
    }
    node_offset[b + 1] = row;
  }
  for (; row < chosen.rows; ++row) {
    nodes[row] = 0;
    graph_of_node[row] = chosen.graphs - 1;
  }
}

void padded_pattern(const ChosenGraphs& chosen, const int64_t* node_offset, const int64_t* nodes,
                    const int64_t* graph_of_node, const WholePattern& whole, int64_t* entry_offset,
                    const PaddedPattern& block) {
  entry_offset[0] = 0;
  for (int64_t b = 0; b < chosen.graphs; ++b) {
    const int64_t first = chosen.part[chosen.id[b]], last = chosen.part[chosen.id[b] + 1];
    const int64_t from = whole.in_offset[first], count = whole.in_offset[last] - from;
    const int64_t to = entry_offset[b], moved = node_offset[b] - first;
    for (int64_t k = 0; k < count; ++k) {
      block.edge_id[to + k] = from + k;
      block.in_index[to + k] = static_cast<int32_t>(whole.in_index[from + k] + moved);
      block.out_index[to + k] = static_cast<int32_t>(whole.out_index[from + k] + moved);
      block.out_edge[to + k] = whole.out_edge[from + k] - from + to;
    }
    entry_offset[b + 1] = to + count;
  }
  const int64_t counted = node_offset[chosen.graphs], used = entry_offset[chosen.graphs];
  for (int64_t r = 0; r < counted; ++r) {
    const int64_t b = graph_of_node[r];
    const int64_t moved = entry_offset[b] - whole.in_offset[chosen.part[chosen.id[b]]];
    block.in_offset[r] = whole.in_offset[nodes[r]] + moved;
    block.out_offset[r] = whole.out_offset[nodes[r]] + moved;
  }
  const Padding padding{chosen.rows - counted, block.entries - used};
  for (int64_t r = counted; r <= chosen.rows; ++r) {
    block.in_offset[r] = block.out_offset[r] = used + padding.before(r - counted);
  }
  for (int64_t e = used; e < block.entries; ++e) {
    block.edge_id[e] = 0;
    block.out_edge[e] = e;
    block.in_index[e] = block.out_index[e] =
        static_cast<int32_t>(counted + padding.row_of(e - used));
  }
}

void padded_cut(const CutBatch& batch, const CutPart& part) {
  part.before[0] = part.out_before[0] = part.new_row[0] = 0;
  for (int64_t e = 0; e < batch.entries; ++e) {
    part.before[e + 1] = part.before[e] + is_kept(batch, e);
    part.out_before[e + 1] = part.out_before[e] + is_kept(batch, batch.out_edge[e]);
  }
  for (int64_t r = 0; r < batch.rows; ++r) {
    part.new_row[r + 1] = part.new_row[r] + is_touched(batch, part, r);
  }
  const int64_t work = batch.entries > batch.rows ? batch.entries : batch.rows;
  for (int64_t at = 0; at < work; ++at) place_part(batch, part, at);
  for (int64_t at = 0; at <= work; ++at) fill_part(batch, part, at);
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL_OF(kernels::padded_rows, padded_rows)
GRM_CPU_KERNEL_OF(kernels::padded_pattern, padded_pattern)
GRM_CPU_KERNEL_OF(kernels::padded_cut, padded_cut)
