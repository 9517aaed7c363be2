#include "methods/layer_wise.h"

#include <torch/types.h>

#include <algorithm>

#include "graph/sample.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm {
namespace {

constexpr int64_t kLargeGraph = 2000000;  // nodes
constexpr int64_t kEdges = 1 << 19;       // of a chunk, at most; a hub may have more

// Distinct node ids, ascending; all of them are known without a list.
class NodeList {
 public:
  NodeList(const Graph& graph, const torch::Tensor& nodes) : all_(graph.nodes()) {
    ids_ = std::get<0>(at::_unique(nodes, /*sorted=*/true));
  }
  /// These nodes and their in-neighbours.
  NodeList with_neighbours(const Graph& graph) const {
    NodeList wider = *this;
    if (complete()) return wider;
    std::vector<bool> wanted(static_cast<size_t>(all_), false);
    const Csr& in = graph.edges->in;
    const int64_t* id = ids_.data_ptr<int64_t>();
    int64_t count = 0;
    const auto want = [&](int64_t node) {
      if (!wanted[node]) ++count;
      wanted[node] = true;
    };
    for (int64_t k = 0; k < ids_.numel(); ++k) {
      want(id[k]);
      for (int64_t e = in.offset()[id[k]]; e < in.offset()[id[k] + 1]; ++e) want(in.index()[e]);
    }
    wider.ids_ = torch::empty({count}, torch::kInt64);
    int64_t* out = wider.ids_.data_ptr<int64_t>();
    for (int64_t node = 0; node < all_; ++node) {
      if (wanted[node]) *out++ = node;
    }
    return wider;
  }
  int64_t size() const { return ids_.numel(); }
  const torch::Tensor& ids() const { return ids_; }
  torch::Tensor places_of(const torch::Tensor& nodes) const {
    return complete() ? nodes : torch::searchsorted(ids_, nodes);
  }

 private:
  bool complete() const { return size() == all_; }
  int64_t all_;
  torch::Tensor ids_;
};

std::vector<int64_t> chunks_of(const Graph& graph, const torch::Tensor& ids, int64_t most) {
  const int64_t* offset = graph.edges->in.offset();
  const int64_t* id = ids.data_ptr<int64_t>();
  ChunkEnds ends(most, kEdges);
  for (int64_t k = 0; k < ids.numel(); ++k) ends.add(offset[id[k] + 1] - offset[id[k]]);
  return ends.finish();
}

}  // namespace

void ChunkEnds::add(int64_t degree) {
  if (rows_ > 0 && (rows_ == most_rows_ || edges_ + degree > most_edges_)) {
    ends_.push_back(all_);
    rows_ = edges_ = 0;
  }
  ++rows_;
  ++all_;
  edges_ += degree;
}

std::vector<int64_t> ChunkEnds::finish() {
  ends_.push_back(all_);
  return ends_;
}

torch::Tensor layer_wise(const Graph& graph, const torch::Tensor& nodes, int64_t hops,
                         const std::function<torch::Tensor(int64_t layer, const Graph& part)>& run,
                         int64_t chunk_rows) {
  const at::NoGradGuard no_grad;
  if (graph.parted) return layer_wise_parted(graph, nodes, hops, run, chunk_rows, kEdges);
  std::vector<NodeList> needed = {NodeList(graph, nodes)};  // by layer, the last first
  for (int64_t l = 1; l < hops; ++l) needed.push_back(needed.back().with_neighbours(graph));
  const std::vector<int64_t> fanout(hops > 0 ? 1 : 0, 0);  // all neighbours
  torch::Tensor before;
  for (auto layer = static_cast<int64_t>(needed.size()) - 1, l = int64_t{0}; layer >= 0;
       --layer, ++l) {
    const NodeList& wanted = needed[layer];
    torch::Tensor rows;
    int64_t begin = 0;
    for (const int64_t end : chunks_of(graph, wanted.ids(), chunk_rows)) {
      const torch::Tensor ids = wanted.ids().narrow(0, begin, end - begin);
      SampledGraph part = l == 0 ? sample_graph(graph, ids, fanout, Stream(0))
                                 : sample_edges(graph, ids, fanout, Stream(0));
      if (l > 0) {
        part.graph.x.dense = select_rows(before, needed[layer + 1].places_of(part.nodes));
      }
      const torch::Tensor some = run(l, part.graph);
      if (!rows.defined()) rows = torch::empty({wanted.size(), some.size(1)}, some.options());
      rows.narrow(0, begin, end - begin).copy_(some);
      begin = end;
    }
    before = rows;
  }
  return select_rows(before, needed.front().places_of(nodes));
}

bool needs_layer_wise(const Graph& graph) {
  return graph.level() == Level::node && graph.nodes() > kLargeGraph;
}

}  // namespace grm
