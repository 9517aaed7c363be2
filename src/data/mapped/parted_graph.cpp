#include "data/mapped/parted_graph.h"

#include <torch/types.h>

#include <algorithm>

#include "core/stages.h"
#include "data/mapped/row_cache.h"
#include "data/mapped/words.h"
#include "dist/sharded_sum.h"
#include "grm/core/error.h"

namespace grm::mapped {
namespace {

using Ids = std::vector<int64_t>;

torch::Tensor tensor_of(const Ids& ids) {
  torch::Tensor t = torch::empty({static_cast<int64_t>(ids.size())}, torch::kInt64);
  std::copy(ids.begin(), ids.end(), t.data_ptr<int64_t>());
  return t;
}

torch::Tensor tensor_of(const Words& words) {
  torch::Tensor t = torch::empty({static_cast<int64_t>(words.size())}, torch::kInt32);
  std::copy(words.begin(), words.end(), t.data_ptr<int32_t>());
  return t;
}

Ids ids_of(const torch::Tensor& t) {
  const int64_t* begin = t.data_ptr<int64_t>();
  return {begin, begin + t.numel()};
}

class Parted final : public PartedGraph {
 public:
  Parted(PartsOfGraph parts, std::shared_ptr<dist::Group> group, int64_t cache_bytes)
      : of_(std::move(parts)),
        group_(std::move(group)),
        world_(static_cast<size_t>(group_->world())),
        me_(static_cast<size_t>(group_->rank())),
        edge_width_(of_.edge_features + (of_.weighted ? 1 : 0)),
        rows_(of_),
        cache_(world_ == 1 ? 0 : std::min(cache_bytes, of_.nodes * 4 * (rows_.most() + 4)),
               rows_.most()) {}

  int64_t edges() const override { return of_.edges; }
  dist::Group& processes() const override { return *group_; }

  DrawnLists draw(const Ids& nodes, int64_t most, const Stream& draws) const override {
    if (world_ == 1) return draw_here(nodes, most, draws);
    const std::vector<Ids> asked = by_rank(nodes);
    std::vector<torch::Tensor> requests(world_);
    for (size_t r = 0; r < world_; ++r) {
      Ids request;
      if (r != me_ && !asked[r].empty()) {
        request = {static_cast<int64_t>(draws.key()), most};
        request.insert(request.end(), asked[r].begin(), asked[r].end());
      }
      requests[r] = tensor_of(request);
    }
    const std::vector<torch::Tensor> came = exchange(requests);
    std::vector<torch::Tensor> replies(world_);
    for (size_t r = 0; r < world_; ++r) {
      Ids request = ids_of(came[r]);
      Words reply;
      if (request.size() > 2) {
        const Stream theirs(static_cast<uint64_t>(request[0]));
        const int64_t wanted = request[1];
        request.erase(request.begin(), request.begin() + 2);
        reply = words_of(draw_here(request, wanted, theirs));
      }
      replies[r] = tensor_of(reply);
    }
    const std::vector<torch::Tensor> answers = exchange(replies);
    std::vector<DrawnLists> lists(world_);
    for (size_t r = 0; r < world_; ++r) {
      lists[r] = r == me_
                     ? draw_here(asked[r], most, draws)
                     : lists_of(answers[r], static_cast<int64_t>(asked[r].size()), edge_width_);
    }
    return in_order(nodes, lists);
  }

  Features features(const torch::Tensor& nodes) const override {
    const Ids ids = ids_of(nodes.contiguous());
    // Each row is words in its rank's answer, or in `here`: own ones and kept ones.
    std::vector<Ids> asked(world_);
    Words here;
    std::vector<size_t> from(ids.size()), at(ids.size());
    for (size_t k = 0; k < ids.size(); ++k) {
      from[k] = rank_of(ids[k]);
      const int32_t* kept = from[k] == me_ ? nullptr : cache_.find(ids[k]);
      if (from[k] != me_ && !kept) {
        asked[from[k]].push_back(ids[k]);
        continue;
      }
      from[k] = me_;
      at[k] = here.size();
      if (kept) {
        add_words(here, kept, rows_.length(kept));
      } else {
        rows_.add(here, rows_with(ids[k]), row_of(ids[k]));
      }
    }
    const std::vector<torch::Tensor> answers = ask_rows(asked);
    std::vector<size_t> next(world_, 0);
    std::vector<const int32_t*> rows(ids.size());
    for (size_t k = 0; k < ids.size(); ++k) {
      if (from[k] == me_) {
        rows[k] = here.data() + at[k];
        continue;
      }
      rows[k] = answers[from[k]].data_ptr<int32_t>() + next[from[k]];
      next[from[k]] += static_cast<size_t>(rows_.length(rows[k]));
      cache_.add(ids[k], rows[k], rows_.length(rows[k]));
    }
    return rows_.features(rows, of_.shift);
  }

  torch::Tensor with_neighbours(const torch::Tensor& ids) const override {
    torch::Tensor bits = torch::zeros({(of_.nodes + 7) / 8}, torch::kUInt8);
    auto* byte = bits.data_ptr<uint8_t>();
    const auto want = [&](int64_t node) { byte[node / 8] |= uint8_t(1U << (node % 8)); };
    for (const int64_t node : ids_of(ids)) {
      if (rank_of(node) != me_) continue;
      want(node);
      const StoredList list = list_of(node);
      const int64_t* offset = list.in->offset() + list.row;
      for (int64_t e = offset[0]; e < offset[1]; ++e) want(list.in->index()[e]);
    }
    const Stage stage(dist::kCommunicate);
    const torch::Tensor all = group_->gather(bits);
    for (int64_t r = 1; r < all.size(0); ++r) all[0].bitwise_or_(all[r]);
    const auto* wanted = all.data_ptr<uint8_t>();
    int64_t count = 0;
    const auto is_wanted = [&](int64_t node) { return (wanted[node / 8] >> (node % 8) & 1U) != 0; };
    for (int64_t node = 0; node < of_.nodes; ++node) count += is_wanted(node) ? 1 : 0;
    torch::Tensor wider = torch::empty({count}, torch::kInt64);
    int64_t* out = wider.data_ptr<int64_t>();
    for (int64_t node = 0; node < of_.nodes; ++node) {
      if (is_wanted(node)) *out++ = node;
    }
    return wider;
  }

  torch::Tensor counts(const torch::Tensor& ids) const override {
    torch::Tensor mine = torch::zeros({ids.numel()}, torch::kInt32);
    auto* count = mine.data_ptr<int32_t>();
    const int64_t* id = ids.data_ptr<int64_t>();
    for (int64_t k = 0; k < ids.numel(); ++k) {
      if (rank_of(id[k]) != me_) continue;
      const StoredList list = list_of(id[k]);
      const int64_t* offset = list.in->offset() + list.row;
      count[k] = static_cast<int32_t>(offset[1] - offset[0]);
    }
    const Stage stage(dist::kCommunicate);
    return group_->gather(mine).sum(0, /*keepdim=*/false, torch::kInt64);
  }

  torch::Tensor rows_of(const torch::Tensor& mine, const std::vector<int>& owner,
                        const Ids& place) const override {
    std::vector<Ids> asked(world_);
    for (size_t k = 0; k < place.size(); ++k) {
      asked[static_cast<size_t>(owner[k])].push_back(place[k]);
    }
    std::vector<torch::Tensor> requests;
    for (const Ids& ids : asked) requests.push_back(tensor_of(ids));
    std::vector<torch::Tensor> replies;
    for (const torch::Tensor& places : exchange(requests)) {
      replies.push_back(places.numel() == 0 ? torch::empty({0}, torch::kFloat32)
                                            : mine.index_select(0, places).reshape({-1}));
    }
    const std::vector<torch::Tensor> answers = exchange(replies);
    if (place.empty()) return torch::empty({0, 0}, torch::kFloat32);
    const auto first = static_cast<size_t>(owner.front());
    const int64_t width = answers[first].numel() / static_cast<int64_t>(asked[first].size());
    const auto count = static_cast<int64_t>(place.size());
    torch::Tensor rows = torch::empty({count, width}, torch::kFloat32);
    auto* to = rows.data_ptr<float>();
    Ids next(world_, 0);
    for (int64_t k = 0; k < count; ++k) {
      const auto r = static_cast<size_t>(owner[static_cast<size_t>(k)]);
      std::copy_n(answers[r].data_ptr<float>() + width * next[r]++, width, to + k * width);
    }
    return rows;
  }

 private:
  int64_t part_of(int64_t node) const { return of_.where.data_ptr<int64_t>()[node] >> 32; }
  int64_t row_of(int64_t node) const {
    return of_.where.data_ptr<int64_t>()[node] & int64_t{0xffffffff};
  }
  size_t rank_of(int64_t node) const { return static_cast<size_t>(part_of(node)) % world_; }

  // Of a node that another process asks for, too.
  const PartRows& rows_with(int64_t node) const {
    ensure(node >= 0 && node < of_.nodes && rank_of(node) == me_,
           "a node is asked of a process that does not hold it");
    return of_.parts[static_cast<size_t>(part_of(node))];
  }

  StoredList list_of(int64_t node) const {
    const PartRows& rows = rows_with(node);
    return {&rows.in, of_.weighted ? rows.edge_weights.data_ptr<float>() : nullptr, row_of(node)};
  }

  std::vector<torch::Tensor> exchange(const std::vector<torch::Tensor>& to) const {
    const Stage stage(dist::kCommunicate);
    return group_->exchange_lists(to);
  }

  std::vector<Ids> by_rank(const Ids& nodes) const {
    std::vector<Ids> all(world_);
    for (const int64_t node : nodes) all[rank_of(node)].push_back(node);
    return all;
  }

  DrawnLists draw_here(const Ids& nodes, int64_t most, const Stream& draws) const {
    DrawnLists lists = draw_lists(
        nodes, [this](int64_t node) { return list_of(node); }, most, draws);
    if (edge_width_ > 0) {
      int64_t e = 0;
      for (int64_t k = 0; k < lists.nodes(); ++k) {
        const PartRows& rows = rows_with(nodes[static_cast<size_t>(k)]);
        for (; e < lists.ends[k]; ++e) add_edge(lists.edge_data, rows, lists.edges[e]);
      }
    }
    for (size_t e = 0; e < lists.edges.size(); ++e) lists.edges[e] = static_cast<int64_t>(e);
    return lists;
  }

  void add_edge(std::vector<float>& data, const PartRows& rows, int64_t edge) const {
    if (of_.weighted) data.push_back(rows.edge_weights.data_ptr<float>()[edge]);
    if (of_.edge_features == 0) return;
    const float* row = rows.edge_x.data_ptr<float>() + edge * of_.edge_features;
    data.insert(data.end(), row, row + of_.edge_features);
  }

  // One list out of those of each rank, for the nodes in their order.
  DrawnLists in_order(const Ids& nodes, const std::vector<DrawnLists>& lists) const {
    DrawnLists all;
    Ids next(world_, 0);
    for (const int64_t node : nodes) {
      const size_t r = rank_of(node);
      const DrawnLists& from = lists[r];
      const int64_t k = next[r]++, begin = k == 0 ? 0 : from.ends[k - 1], end = from.ends[k];
      all.sources.insert(all.sources.end(), from.sources.begin() + begin,
                         from.sources.begin() + end);
      all.edge_data.insert(all.edge_data.end(), from.edge_data.begin() + begin * edge_width_,
                           from.edge_data.begin() + end * edge_width_);
      all.ends.push_back(static_cast<int64_t>(all.sources.size()));
      all.stored.push_back(from.stored[k]);
      all.loops.push_back(from.loops[k]);
      all.degrees.push_back(from.degrees[k]);
    }
    for (size_t e = 0; e < all.sources.size(); ++e) all.edges.push_back(static_cast<int64_t>(e));
    return all;
  }

  std::vector<torch::Tensor> ask_rows(const std::vector<Ids>& asked) const {
    if (world_ == 1) return {torch::Tensor()};
    std::vector<torch::Tensor> requests;
    for (const Ids& ids : asked) requests.push_back(tensor_of(ids));
    std::vector<torch::Tensor> replies;
    for (const torch::Tensor& ids : exchange(requests)) {
      Words words;
      for (const int64_t node : ids_of(ids)) rows_.add(words, rows_with(node), row_of(node));
      replies.push_back(tensor_of(words));
    }
    return exchange(replies);
  }

  PartsOfGraph of_;
  std::shared_ptr<dist::Group> group_;
  size_t world_, me_;
  int64_t edge_width_;
  RowWords rows_;
  mutable RowCache cache_;
};

}  // namespace

std::shared_ptr<const PartedGraph> parted_graph(PartsOfGraph parts,
                                                std::shared_ptr<dist::Group> group,
                                                int64_t cache_bytes) {
  return std::make_shared<Parted>(std::move(parts), std::move(group), cache_bytes);
}

}  // namespace grm::mapped
