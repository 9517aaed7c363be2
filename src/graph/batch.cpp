#include "grm/graph/batch.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "core/stages.h"
#include "graph/scratch_pool.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

constexpr int64_t kTargetsPerChunk = 32;

/// What one chunk of targets contributes, before its place in the batch is known.
struct Part {
  std::vector<int64_t> graph_nodes;  // number of members of each ego-net
  std::vector<int64_t> nodes;
  std::vector<int64_t> row_edges;  // number of in-edges of each member
  std::vector<int32_t> sources;    // of the in-edges, as positions inside the ego-net
};

/// Work space of one thread, kept from batch to batch: making it would cost more than small
/// ego-nets of a large graph. The stamps make clearing unnecessary.
struct EgoSpace {
  std::vector<int64_t> members;
  std::vector<int32_t> place;         // position of a node among the members
  std::vector<uint64_t> node_stamp;   // equals `net` for members
  std::vector<uint64_t> drawn_stamp;  // equals `draw` for positions already drawn
  uint64_t net = 0, draw = 0;
};

class EgoBuilder {
 public:
  EgoBuilder(const Adjacency& edges, EgoSpace& space)
      : in_(edges.in),
        members_(space.members),
        place_(space.place),
        node_stamp_(space.node_stamp),
        drawn_stamp_(space.drawn_stamp),
        net_(space.net),
        draw_(space.draw) {
    if (static_cast<int64_t>(place_.size()) < in_.rows) {
      place_.resize(in_.rows);
      node_stamp_.resize(in_.rows, 0);
    }
  }

  void add(int64_t target, const std::vector<int64_t>& fanout, Stream draws, Part& part) {
    collect(target, fanout, draws);
    const auto count = static_cast<int64_t>(members_.size());
    // Ascending after the target, so that edges found in ascending order need no sorting.
    std::sort(members_.begin() + 1, members_.end());
    for (int64_t a = 0; a < count; ++a) place_[members_[a]] = static_cast<int32_t>(a);
    part.graph_nodes.push_back(count);
    part.nodes.insert(part.nodes.end(), members_.begin(), members_.end());
    for (int64_t a = 0; a < count; ++a) {
      const size_t before = part.sources.size();
      add_sources(members_[a], part.sources);
      part.row_edges.push_back(static_cast<int64_t>(part.sources.size() - before));
    }
  }

 private:
  int64_t degree(int64_t i) const { return in_.offset()[i + 1] - in_.offset()[i]; }

  void collect(int64_t target, const std::vector<int64_t>& fanout, Stream& draws) {
    ++net_;
    members_.assign(1, target);
    node_stamp_[target] = net_;
    size_t hop_begin = 0;
    for (const int64_t most : fanout) {
      if (most == 0) break;
      const size_t hop_end = members_.size();
      for (size_t m = hop_begin; m < hop_end; ++m) draw(members_[m], most, draws);
      hop_begin = hop_end;
    }
  }

  // Up to `most` in-neighbours of `node`, itself excluded, by Floyd's algorithm.
  void draw(int64_t node, int64_t most, Stream& draws) {
    const int32_t* row = in_.index() + in_.offset()[node];
    const int32_t* end = row + degree(node);
    const int64_t self = std::lower_bound(row, end, static_cast<int32_t>(node)) - row;
    const bool loop = row + self != end && row[self] == node;
    const int64_t count = degree(node) - (loop ? 1 : 0);
    const auto take = [&](int64_t k) {
      const int32_t neighbour = row[loop && k >= self ? k + 1 : k];
      if (node_stamp_[neighbour] == net_) return;
      node_stamp_[neighbour] = net_;
      members_.push_back(neighbour);
    };
    if (count <= most) {
      for (int64_t k = 0; k < count; ++k) take(k);
      return;
    }
    ++draw_;
    if (static_cast<int64_t>(drawn_stamp_.size()) < count) drawn_stamp_.resize(count, 0);
    for (int64_t k = count - most; k < count; ++k) {
      auto pick = static_cast<int64_t>(draws.below(static_cast<uint64_t>(k) + 1));
      if (drawn_stamp_[pick] == draw_) pick = k;
      drawn_stamp_[pick] = draw_;
      take(pick);
    }
  }

  // Positions of the members among the in-neighbours of `node`, ascending. The target's comes
  // first whatever its id; the others ascend with their ids.
  void add_sources(int64_t node, std::vector<int32_t>& sources) const {
    const int32_t* row = in_.index() + in_.offset()[node];
    const int32_t* end = row + degree(node);
    const auto target = static_cast<int32_t>(members_[0]);
    if (std::binary_search(row, end, target)) sources.push_back(0);
    const auto count = static_cast<int64_t>(members_.size());
    int steps = 1;
    while ((int64_t{1} << steps) < degree(node)) ++steps;
    if (count * steps < degree(node)) {  // a hub: look each member up
      for (int64_t a = 1; a < count && row != end; ++a) {
        row = std::lower_bound(row, end, static_cast<int32_t>(members_[a]));
        if (row != end && *row == members_[a]) sources.push_back(static_cast<int32_t>(a));
      }
      return;
    }
    for (; row != end; ++row) {
      if (node_stamp_[*row] == net_ && *row != target) sources.push_back(place_[*row]);
    }
  }

  const Csr& in_;
  std::vector<int64_t>& members_;
  std::vector<int32_t>& place_;
  std::vector<uint64_t>& node_stamp_;
  std::vector<uint64_t>& drawn_stamp_;
  uint64_t &net_, &draw_;
};

// Where the graphs, nodes and edges of a part begin in the batch.
struct Start {
  int64_t graph = 0, node = 0, edge = 0;
};

// The transpose of the edges of one graph. They occupy the rows first .. last of the batch, start
// at edge id `first_edge`, and are the same in number on both sides.
void transpose_graph(Adjacency& edges, int64_t first, int64_t last, int64_t first_edge) {
  const int64_t* offset = edges.in.offset();
  const int32_t* source = edges.in.index();
  int64_t* out_offset = edges.out.offsets.data_ptr<int64_t>();
  int32_t* target = edges.out.indices.data_ptr<int32_t>();
  int64_t* edge = edges.out_edge.data_ptr<int64_t>();
  // out_offset[j + 1] first counts row j, then is its next free place, and so ends as its end.
  std::fill(out_offset + first + 1, out_offset + last + 1, 0);
  for (int64_t e = first_edge; e < offset[last]; ++e) ++out_offset[source[e] + 1];
  int64_t next = first_edge;
  for (int64_t j = first; j < last; ++j) {
    const int64_t count = out_offset[j + 1];
    out_offset[j + 1] = next;
    next += count;
  }
  int64_t e = first_edge;
  for (int64_t i = first; i < last; ++i) {
    for (; e < offset[i + 1]; ++e) {
      const int64_t at = out_offset[source[e] + 1]++;
      target[at] = static_cast<int32_t>(i);
      edge[at] = e;
    }
  }
}

// Copies one part to its place in the batch and transposes its edges.
void place_part(const Part& part, const Start& start, GraphBatch& batch, Adjacency& edges) {
  int64_t* node_offset = batch.node_offsets.data_ptr<int64_t>();
  int64_t* graph_of_node = batch.graph_of_node.data_ptr<int64_t>();
  int64_t* edge_offset = edges.in.offsets.data_ptr<int64_t>();
  int32_t* source = edges.in.indices.data_ptr<int32_t>();
  std::copy(part.nodes.begin(), part.nodes.end(), batch.nodes.data_ptr<int64_t>() + start.node);
  int64_t node = start.node, edge = start.edge;
  const int64_t* row_edges = part.row_edges.data();
  const int32_t* local = part.sources.data();
  for (size_t g = 0; g < part.graph_nodes.size(); ++g) {
    const int64_t graph = start.graph + static_cast<int64_t>(g);
    const int64_t first = node, last = node + part.graph_nodes[g], first_edge = edge;
    for (; node < last; ++node) {
      graph_of_node[node] = graph;
      for (int64_t k = *row_edges++; k > 0; --k) {
        source[edge++] = static_cast<int32_t>(first + *local++);
      }
      edge_offset[node + 1] = edge;
    }
    node_offset[graph + 1] = last;
    transpose_graph(edges, first, last, first_edge);
  }
}

}  // namespace

GraphBatch ego_batch(const Adjacency& edges, const torch::Tensor& targets,
                     const std::vector<int64_t>& fanout, const Stream& draws) {
  const Stage sampling("sample");
  ensure(edges.rows() == edges.cols(), "ego_batch: the pattern is not square");
  const torch::Tensor wanted = targets.to(torch::kInt64).contiguous();
  const int64_t* target = wanted.data_ptr<int64_t>();
  const int64_t graphs = wanted.numel();
  for (int64_t k = 0; k < graphs; ++k) {
    if (target[k] < 0 || target[k] >= edges.rows()) {
      fail(ErrorKind::data, "target {} is node {}, but the graph has nodes 0..{}", k, target[k],
           edges.rows() - 1);
    }
  }
  for (const int64_t most : fanout) {
    if (most < 0) fail(ErrorKind::config, "fan-out {} is negative", most);
  }

  const int64_t chunks = (graphs + kTargetsPerChunk - 1) / kTargetsPerChunk;
  std::vector<Part> parts(chunks);
  static ScratchPool<EgoSpace> pool([] { return std::make_unique<EgoSpace>(); });
  parallel_chunks(graphs, kTargetsPerChunk, [&](int64_t begin, int64_t end) {
    pool.use([&](EgoSpace& space) {
      EgoBuilder builder(edges, space);
      Part& part = parts[begin / kTargetsPerChunk];
      for (int64_t k = begin; k < end; ++k) {
        const uint64_t key = mix64(draws.key(), static_cast<uint64_t>(target[k]));
        builder.add(target[k], fanout, Stream(key), part);
      }
    });
  });

  std::vector<Start> starts(chunks + 1);
  for (int64_t c = 0; c < chunks; ++c) {
    starts[c + 1].graph = starts[c].graph + static_cast<int64_t>(parts[c].graph_nodes.size());
    starts[c + 1].node = starts[c].node + static_cast<int64_t>(parts[c].nodes.size());
    starts[c + 1].edge = starts[c].edge + static_cast<int64_t>(parts[c].sources.size());
  }
  const int64_t rows = starts[chunks].node, nnz = starts[chunks].edge;
  if (rows > INT32_MAX) {
    fail(ErrorKind::data, "a batch of {} nodes is beyond the limit of {}: use fewer targets", rows,
         INT32_MAX);
  }
  const Stage packing("batch");
  GraphBatch batch;
  batch.graphs = graphs;
  batch.node_offsets = empty_indices(graphs + 1);
  batch.nodes = empty_indices(rows);
  batch.graph_of_node = empty_indices(rows);
  auto packed = std::make_shared<Adjacency>();
  packed->in = {rows, rows, empty_indices(rows + 1), torch::empty({nnz}, torch::kInt32)};
  packed->out = {rows, rows, empty_indices(rows + 1), torch::empty({nnz}, torch::kInt32)};
  packed->out_edge = empty_indices(nnz);
  batch.node_offsets.data_ptr<int64_t>()[0] = 0;
  packed->in.offsets.data_ptr<int64_t>()[0] = 0;
  packed->out.offsets.data_ptr<int64_t>()[0] = 0;
  parallel_chunks(chunks, 1,
                  [&](int64_t c, int64_t) { place_part(parts[c], starts[c], batch, *packed); });
  batch.edges = std::move(packed);
  return batch;
}

GraphBatch whole_batch(const AdjacencyPtr& edges) {
  ensure(edges->rows() == edges->cols(), "whole_batch: the pattern is not square");
  GraphBatch batch;
  batch.graphs = 1;
  batch.node_offsets = torch::tensor({int64_t{0}, edges->rows()}, torch::kInt64);
  batch.nodes = torch::arange(edges->rows(), torch::kInt64);
  batch.graph_of_node = torch::zeros({edges->rows()}, torch::kInt64);
  batch.edges = edges;
  return batch;
}

AdjacencyPtr all_pairs(const GraphBatch& batch) {
  const int64_t rows = batch.rows();
  const int64_t* node_offset = batch.node_offsets.data_ptr<int64_t>();
  std::vector<int64_t> start(batch.graphs + 1, 0);  // first pair of each graph
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const int64_t size = node_offset[g + 1] - node_offset[g];
    start[g + 1] = start[g] + size * size;
  }
  auto pairs = std::make_shared<Adjacency>();
  pairs->in = {rows, rows, empty_indices(rows + 1),
               torch::empty({start[batch.graphs]}, torch::kInt32)};
  pairs->out_edge = empty_indices(start[batch.graphs]);
  int64_t* offset = pairs->in.offsets.data_ptr<int64_t>();
  int32_t* source = pairs->in.indices.data_ptr<int32_t>();
  int64_t* edge = pairs->out_edge.data_ptr<int64_t>();
  offset[0] = 0;
  // Chunks of about 2^18 pairs: less is not worth a second thread.
  const int64_t chunk = (batch.graphs << 18) / std::max<int64_t>(start[batch.graphs], 1) + 1;
  parallel_chunks(batch.graphs, chunk, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const int64_t first = node_offset[g], size = node_offset[g + 1] - first;
      for (int64_t a = 0; a < size; ++a) {
        const int64_t row = start[g] + a * size;
        std::iota(source + row, source + row + size, static_cast<int32_t>(first));
        for (int64_t b = 0; b < size; ++b) edge[row + b] = start[g] + b * size + a;
        offset[first + a + 1] = row + size;
      }
    }
  });
  pairs->out = pairs->in;  // the pattern is symmetric; the tensors are shared
  return pairs;
}

}  // namespace grm
