#include "graph/sample.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"

namespace grm {
namespace {

constexpr int64_t kRowsAtOnce = 256;  // that one thread draws for

/// The row of each node that is in the sample. Its size follows the sample, not the graph.
class RowOf {
 public:
  /// The node's row; `next` where it is new.
  int32_t find_or_add(int64_t node, int32_t next) {
    if (2 * (used_ + 1) > static_cast<int64_t>(node_.size())) grow();
    const size_t at = place(node);
    if (node_[at] == node) return row_[at];
    node_[at] = node;
    row_[at] = next;
    ++used_;
    return next;
  }

 private:
  size_t place(int64_t node) const {
    const size_t mask = node_.size() - 1;
    size_t at = mix64(static_cast<uint64_t>(node), 0) & mask;
    while (node_[at] != node && node_[at] >= 0) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<int64_t> node(std::max<size_t>(1024, 2 * node_.size()), -1);
    std::vector<int32_t> row(node.size());
    node_.swap(node);
    row_.swap(row);
    for (size_t k = 0; k < node.size(); ++k) {
      if (node[k] < 0) continue;
      const size_t at = place(node[k]);
      node_[at] = node[k];
      row_[at] = row[k];
    }
  }
  std::vector<int64_t> node_;
  std::vector<int32_t> row_;
  int64_t used_ = 0;
};

// The stored pairs into one node.
struct NodeRow {
  int64_t first = 0, count = 0;
  int64_t loop = -1;  // which of them is its self-pair

  NodeRow(const Csr& in, int64_t node) {
    first = in.offset()[node];
    count = in.offset()[node + 1] - first;
    const int32_t *begin = in.index() + first, *end = begin + count;
    const int32_t* at = std::lower_bound(begin, end, static_cast<int32_t>(node));
    if (at != end && *at == node) loop = at - begin;
  }
  int64_t neighbours() const { return count - (loop >= 0 ? 1 : 0); }
};

// Edge ids of one node's pairs in the sample, ascending: `most` of its neighbours (0: all), by
// Floyd's algorithm, and its self-pair.
void draw_row(const NodeRow& row, int64_t most, Stream draws, std::vector<int64_t>& edges) {
  const size_t before = edges.size();
  if (most == 0 || row.neighbours() <= most) {
    for (int64_t k = 0; k < row.count; ++k) edges.push_back(row.first + k);
    return;
  }
  std::vector<int64_t> picks;  // ascending; without the self-pair
  for (int64_t k = row.neighbours() - most; k < row.neighbours(); ++k) {
    auto pick = static_cast<int64_t>(draws.below(static_cast<uint64_t>(k) + 1));
    auto at = std::lower_bound(picks.begin(), picks.end(), pick);
    if (at != picks.end() && *at == pick) {
      pick = k;
      at = picks.end();
    }
    picks.insert(at, pick);
  }
  for (const int64_t pick : picks) {
    edges.push_back(row.first + (row.loop >= 0 && pick >= row.loop ? pick + 1 : pick));
  }
  if (row.loop < 0) return;
  const int64_t loop = row.first + row.loop;
  edges.insert(std::lower_bound(edges.begin() + static_cast<int64_t>(before), edges.end(), loop),
               loop);
}

template <class T>
torch::Tensor tensor_of(const std::vector<T>& v, torch::Dtype type) {
  torch::Tensor t = torch::empty({static_cast<int64_t>(v.size())}, type);
  std::copy(v.begin(), v.end(), t.data_ptr<T>());
  return t;
}

class Sampler {
 public:
  Sampler(const Graph& graph, const torch::Tensor& targets) : graph_(graph), in_(graph.edges->in) {
    ensure(!graph.sample && graph.level() == Level::node, "sample_graph: not a graph of nodes");
    const int64_t* target = targets.data_ptr<int64_t>();
    for (int64_t k = 0; k < targets.numel(); ++k) {
      if (target[k] < 0 || target[k] >= in_.rows) {
        fail(ErrorKind::data, "target {} is node {}, but the graph has nodes 0..{}", k, target[k],
             in_.rows - 1);
      }
      ensure(row_of(target[k]) == k, "sample_graph: a target comes twice");
    }
    ends_.push_back(rows());
  }

  void hop(int64_t most, Stream draws) {
    const int64_t begin = ends_.size() > 1 ? ends_[ends_.size() - 2] : 0, end = ends_.back();
    const int64_t chunks = (end - begin + kRowsAtOnce - 1) / kRowsAtOnce;
    std::vector<std::vector<int64_t>> drawn(chunks), drawn_ends(chunks);
    parallel_chunks(end - begin, kRowsAtOnce, [&](int64_t from, int64_t to) {
      const int64_t chunk = from / kRowsAtOnce;
      for (int64_t k = begin + from; k < begin + to; ++k) {
        const uint64_t key = mix64(draws.key(), static_cast<uint64_t>(nodes_[k]));
        draw_row(NodeRow(in_, nodes_[k]), most, Stream(key), drawn[chunk]);
        drawn_ends[chunk].push_back(static_cast<int64_t>(drawn[chunk].size()));
      }
    });
    for (int64_t k = begin; k < end; ++k) {
      const int64_t chunk = (k - begin) / kRowsAtOnce, place = (k - begin) % kRowsAtOnce;
      const int64_t first = place == 0 ? 0 : drawn_ends[chunk][place - 1];
      add_row(nodes_[k], drawn[chunk].data() + first, drawn_ends[chunk][place] - first);
    }
    ends_.push_back(rows());
  }

  SampledGraph operator()() {
    SampledGraph result;
    result.nodes = tensor_of(nodes_, torch::kInt64);
    const torch::Tensor ids = tensor_of(edges_, torch::kInt64);
    Graph& g = result.graph;
    g.name = graph_.name;
    if (graph_.edge_weights.defined()) g.edge_weights = graph_.edge_weights.index_select(0, ids);
    if (graph_.edge_x.width() > 0) g.edge_x = pick_rows(graph_.edge_x, ids);
    auto sample = std::make_shared<GraphSample>();
    const torch::Tensor offsets = tensor_of(offsets_, torch::kInt64);
    const torch::Tensor sources = tensor_of(sources_, torch::kInt32);
    for (size_t left = ends_.size() - 1; left > 0; --left) {
      Csr in;
      in.rows = ends_[left - 1];
      in.cols = ends_[left];
      in.offsets = offsets.narrow(0, 0, in.rows + 1);
      in.indices = sources.narrow(0, 0, offsets_[in.rows]);
      sample->layers.push_back(with_transpose(std::move(in)));
    }
    if (thinned_) sample->stands_for = tensor_of(stands_for_, torch::kFloat32);
    sample->degrees = degrees();
    g.edges = sample->layers.empty() ? without_edges() : sample->layers.front();
    g.sample = std::move(sample);
    return result;
  }

 private:
  int64_t rows() const { return static_cast<int64_t>(nodes_.size()); }

  int32_t row_of(int64_t node) {
    if (rows() == INT32_MAX) {
      fail(ErrorKind::data, "a sample of {} nodes is too large; draw fewer neighbours", rows());
    }
    const auto next = static_cast<int32_t>(rows());
    const int32_t row = rows_.find_or_add(node, next);
    if (row == next) nodes_.push_back(node);
    return row;
  }

  void add_row(int64_t node, const int64_t* edge, int64_t count) {
    const NodeRow row(in_, node);
    const float share = count < row.count ? static_cast<float>(row.neighbours()) /
                                                static_cast<float>(count - (row.loop >= 0 ? 1 : 0))
                                          : 1.0F;
    thinned_ = thinned_ || count < row.count;
    order_.clear();
    for (int64_t k = 0; k < count; ++k) order_.emplace_back(row_of(in_.index()[edge[k]]), edge[k]);
    std::sort(order_.begin(), order_.end());
    for (const auto& [source, id] : order_) {
      sources_.push_back(source);
      edges_.push_back(id);
      stands_for_.push_back(id - row.first == row.loop ? 1.0F : share);
    }
    offsets_.push_back(static_cast<int64_t>(sources_.size()));
  }

  torch::Tensor degrees() const {
    torch::Tensor result = torch::empty({rows()}, torch::kFloat32);
    float* out = result.data_ptr<float>();
    const torch::Tensor weights =
        graph_.edge_weights.defined() ? graph_.edge_weights.contiguous() : torch::Tensor();
    const float* weight = weights.defined() ? weights.data_ptr<float>() : nullptr;
    parallel_chunks(rows(), kRowsAtOnce, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const NodeRow row(in_, nodes_[k]);
        double sum = row.loop < 0 ? 1.0 : 0.0;
        if (!weight) sum += static_cast<double>(row.count);
        for (int64_t e = 0; weight && e < row.count; ++e) sum += weight[row.first + e];
        out[k] = static_cast<float>(sum);
      }
    });
    return result;
  }

  AdjacencyPtr without_edges() const {
    Csr none;
    none.rows = none.cols = rows();
    none.offsets = torch::zeros({rows() + 1}, torch::kInt64);
    none.indices = torch::empty({0}, torch::kInt32);
    return with_transpose(std::move(none));
  }

  const Graph& graph_;
  const Csr& in_;
  RowOf rows_;
  std::vector<int64_t> nodes_, ends_;  // ends_: rows up to each hop
  std::vector<int64_t> offsets_ = {0}, edges_;
  std::vector<int32_t> sources_;
  std::vector<float> stands_for_;
  std::vector<std::pair<int32_t, int64_t>> order_;
  bool thinned_ = false;
};

}  // namespace

SampledGraph sample_edges(const Graph& graph, const torch::Tensor& targets,
                          const std::vector<int64_t>& fanout, const Stream& draws) {
  const Stage stage("sample");
  Sampler sampler(graph, targets.contiguous());
  for (size_t k = 0; k < fanout.size(); ++k) {
    sampler.hop(fanout[k], Stream(mix64(draws.key(), k)));
  }
  return sampler();
}

SampledGraph sample_graph(const Graph& graph, const torch::Tensor& targets,
                          const std::vector<int64_t>& fanout, const Stream& draws) {
  SampledGraph drawn = sample_edges(graph, targets, fanout, draws);
  const Stage stage("batch");
  drawn.graph.x = pick_rows(graph.x, drawn.nodes);
  return drawn;
}

}  // namespace grm
