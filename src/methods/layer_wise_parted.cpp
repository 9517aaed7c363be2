#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "dist/group.h"
#include "dist/sharded_sum.h"
#include "graph/parted.h"
#include "graph/sample.h"
#include "grm/core/error.h"
#include "methods/layer_wise.h"

// The chunks are those of a graph in one piece, so that every row has the same bits; process c % world
// computes chunk c and keeps its rows for the next layer.
namespace grm {
namespace {

constexpr int64_t kAskedAtOnce = 1 << 20;  // ids whose numbers of edges are held

// How the rows of a layer are cut, and where they are.
class ChunksOfLayer {
 public:
  ChunksOfLayer(const PartedGraph& graph, torch::Tensor ids, int64_t most_rows, int64_t most_edges)
      : ids_(std::move(ids)), world_(graph.processes().world()) {
    ChunkEnds ends(most_rows, most_edges);
    for (int64_t begin = 0; begin < ids_.numel(); begin += kAskedAtOnce) {
      const int64_t count = std::min(kAskedAtOnce, ids_.numel() - begin);
      const torch::Tensor degrees = graph.counts(ids_.narrow(0, begin, count));
      const int64_t* degree = degrees.data_ptr<int64_t>();
      for (int64_t k = 0; k < count; ++k) ends.add(degree[k]);
    }
    ends_ = ends.finish();
    std::vector<int64_t> kept(static_cast<size_t>(world_), 0);
    for (int64_t c = 0; c < count(); ++c) {
      const auto owner = static_cast<size_t>(owner_of(c));
      first_there_.push_back(kept[owner]);
      kept[owner] += end(c) - begin(c);
    }
  }
  int64_t count() const { return static_cast<int64_t>(ends_.size()); }
  int64_t begin(int64_t chunk) const { return chunk == 0 ? 0 : ends_[chunk - 1]; }
  int64_t end(int64_t chunk) const { return ends_[chunk]; }
  int owner_of(int64_t chunk) const { return static_cast<int>(chunk % world_); }
  const torch::Tensor& ids() const { return ids_; }
  /// Ids of a chunk; none where there is no such chunk.
  torch::Tensor ids_of(int64_t chunk) const {
    return chunk < count() ? ids_.narrow(0, begin(chunk), end(chunk) - begin(chunk))
                           : ids_.narrow(0, 0, 0);
  }
  /// Rows of these nodes out of what each process keeps of the layer.
  torch::Tensor rows_of(const PartedGraph& graph, const torch::Tensor& mine,
                        const torch::Tensor& nodes) const {
    const torch::Tensor places = torch::searchsorted(ids_, nodes);
    const int64_t* place = places.data_ptr<int64_t>();
    std::vector<int> owner;
    std::vector<int64_t> there;
    for (int64_t k = 0; k < places.numel(); ++k) {
      const int64_t chunk = std::upper_bound(ends_.begin(), ends_.end(), place[k]) - ends_.begin();
      owner.push_back(owner_of(chunk));
      there.push_back(first_there_[chunk] + place[k] - begin(chunk));
    }
    return graph.rows_of(mine, owner, there);
  }

 private:
  torch::Tensor ids_;
  int world_;
  std::vector<int64_t> ends_, first_there_;
};

// Rows of all chunks, in order, on all processes.
torch::Tensor put_together(const PartedGraph& graph, const ChunksOfLayer& chunks,
                           const torch::Tensor& mine) {
  const Stage stage(dist::kCommunicate);
  dist::Group& group = graph.processes();
  const int64_t own_width = mine.dim() == 2 ? mine.size(1) : 0;
  const int64_t width =
      group.gather(torch::full({1}, own_width, torch::kInt64)).max().item<int64_t>();
  torch::Tensor all = torch::empty({chunks.ids().numel(), width}, torch::kFloat32);
  int64_t next = 0;
  for (int64_t c = 0; c < chunks.count(); ++c) {
    const int64_t count = chunks.end(c) - chunks.begin(c);
    const torch::Tensor rows = all.narrow(0, chunks.begin(c), count);
    if (chunks.owner_of(c) == group.rank()) {
      rows.copy_(mine.narrow(0, next, count));
      next += count;
    }
    group.broadcast(rows, chunks.owner_of(c));
  }
  return all;
}

}  // namespace

torch::Tensor layer_wise_parted(
    const Graph& graph, const torch::Tensor& nodes, int64_t hops,
    const std::function<torch::Tensor(int64_t layer, const Graph& part)>& run, int64_t chunk_rows,
    int64_t chunk_edges) {
  const PartedGraph& parted = *graph.parted;
  const torch::Tensor asked = nodes.contiguous();
  std::vector<torch::Tensor> needed = {std::get<0>(at::_unique(asked, /*sorted=*/true))};
  for (int64_t l = 1; l < hops; ++l) {
    const bool all = needed.back().numel() == graph.nodes();
    needed.push_back(all ? needed.back() : parted.with_neighbours(needed.back()));
  }
  const std::vector<int64_t> fanout(hops > 0 ? 1 : 0, 0);  // all neighbours
  const int64_t rank = parted.processes().rank(), world = parted.processes().world();
  torch::Tensor before;
  std::unique_ptr<ChunksOfLayer> chunks_before;
  for (int64_t l = 0; l < static_cast<int64_t>(needed.size()); ++l) {
    auto chunks = std::make_unique<ChunksOfLayer>(parted, needed[needed.size() - 1 - l], chunk_rows,
                                                  chunk_edges);
    std::vector<torch::Tensor> mine = {};
    for (int64_t first = 0; first < chunks->count(); first += world) {
      const torch::Tensor ids = chunks->ids_of(first + rank);
      SampledGraph part = l == 0 ? sample_graph(graph, ids, fanout, Stream(0))
                                 : sample_edges(graph, ids, fanout, Stream(0));
      if (l > 0) part.graph.x.dense = chunks_before->rows_of(parted, before, part.nodes);
      if (ids.numel() > 0)
        mine.push_back(run(l, part.graph).cpu().to(torch::kFloat32).contiguous());
    }
    before = mine.empty() ? torch::empty({0}, torch::kFloat32) : torch::cat(mine);
    chunks_before = std::move(chunks);
  }
  const torch::Tensor all = put_together(parted, *chunks_before, before);
  return all.index_select(0, torch::searchsorted(needed.front(), asked));
}

}  // namespace grm
