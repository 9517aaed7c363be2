#include "graph/sample.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "graph/draw_lists.h"
#include "graph/parted.h"
#include "grm/core/error.h"

namespace grm {
namespace {

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

template <class T>
torch::Tensor tensor_of(const std::vector<T>& v, torch::Dtype type) {
  torch::Tensor t = torch::empty({static_cast<int64_t>(v.size())}, type);
  std::copy(v.begin(), v.end(), t.data_ptr<T>());
  return t;
}

class Sampler {
 public:
  Sampler(const Graph& graph, const torch::Tensor& targets) : graph_(graph), in_(graph.edges->in) {
    if (graph.edge_weights.defined() && !graph.parted) weights_ = graph.edge_weights.contiguous();
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

  void hop(int64_t most, const Stream& draws) {
    const int64_t begin = ends_.size() > 1 ? ends_[ends_.size() - 2] : 0, end = ends_.back();
    const DrawnLists lists = draw({nodes_.begin() + begin, nodes_.begin() + end}, most, draws);
    for (int64_t k = begin; k < end; ++k) add_row(nodes_[k], lists, k - begin);
    degrees_.insert(degrees_.end(), lists.degrees.begin(), lists.degrees.end());
    ends_.push_back(rows());
  }

  SampledGraph operator()() {
    SampledGraph result;
    result.nodes = tensor_of(nodes_, torch::kInt64);
    const torch::Tensor ids = tensor_of(edges_, torch::kInt64);
    Graph& g = result.graph;
    g.name = graph_.name;
    // Nodes that no layer computes were not drawn for.
    const auto known = static_cast<std::ptrdiff_t>(degrees_.size());
    const DrawnLists rest = draw({nodes_.begin() + known, nodes_.end()}, kDrawNone, Stream(0));
    degrees_.insert(degrees_.end(), rest.degrees.begin(), rest.degrees.end());
    take_edge_data(g, ids);
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
    sample->degrees = tensor_of(degrees_, torch::kFloat32);
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

  DrawnLists draw(const std::vector<int64_t>& nodes, int64_t most, const Stream& draws) const {
    if (graph_.parted) return graph_.parted->draw(nodes, most, draws);
    const float* weight = weights_.defined() ? weights_.data_ptr<float>() : nullptr;
    const auto list_of = [&](int64_t node) { return StoredList{&in_, weight, node}; };
    return draw_lists(nodes, list_of, most, draws);
  }

  // Row `k` of the lists is that of the node.
  void add_row(int64_t node, const DrawnLists& lists, int64_t k) {
    const int64_t first = k == 0 ? 0 : lists.ends[k - 1], count = lists.ends[k] - first;
    const int64_t loop = lists.loops[k];
    const float share = count < lists.stored[k] ? static_cast<float>(lists.stored[k] - loop) /
                                                      static_cast<float>(count - loop)
                                                : 1.0F;
    thinned_ = thinned_ || count < lists.stored[k];
    order_.clear();
    for (int64_t e = first; e < lists.ends[k]; ++e)
      order_.emplace_back(row_of(lists.sources[e]), e);
    std::sort(order_.begin(), order_.end());
    const auto width = static_cast<int64_t>(
        lists.sources.empty() ? 0 : lists.edge_data.size() / lists.sources.size());
    for (const auto& [source, e] : order_) {
      sources_.push_back(source);
      edges_.push_back(lists.edges[e]);
      stands_for_.push_back(lists.sources[e] == node ? 1.0F : share);
      const float* data = lists.edge_data.data() + e * width;
      edge_data_.insert(edge_data_.end(), data, data + width);
    }
    offsets_.push_back(static_cast<int64_t>(sources_.size()));
  }

  // Weights and features of the edges `ids` of the larger graph, or those that came with them.
  void take_edge_data(Graph& g, const torch::Tensor& ids) const {
    const bool weighted = graph_.edge_weights.defined();
    const int64_t width = graph_.edge_x.width();
    if (!graph_.parted) {
      if (weighted) g.edge_weights = graph_.edge_weights.index_select(0, ids);
      if (width > 0) g.edge_x = pick_rows(graph_.edge_x, ids);
      return;
    }
    const torch::Tensor all =
        tensor_of(edge_data_, torch::kFloat32).view({ids.numel(), width + (weighted ? 1 : 0)});
    if (weighted) g.edge_weights = all.select(1, 0).contiguous();
    if (width > 0) g.edge_x.dense = all.narrow(1, weighted ? 1 : 0, width).contiguous();
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
  std::vector<float> stands_for_, degrees_, edge_data_;
  torch::Tensor weights_;  // of a graph in one piece
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
  drawn.graph.x =
      graph.parted ? graph.parted->features(drawn.nodes) : pick_rows(graph.x, drawn.nodes);
  return drawn;
}

}  // namespace grm
