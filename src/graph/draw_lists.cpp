#include "graph/draw_lists.h"

#include <algorithm>

#include "grm/core/threads.h"

namespace grm {
namespace {

constexpr int64_t kListsAtOnce = 256;  // that one thread draws

// The stored pairs into one node.
struct NodeRow {
  int64_t first = 0, count = 0;
  int64_t loop = -1;  // which of them is its self-pair

  NodeRow(const StoredList& list, int64_t node) {
    const Csr& in = *list.in;
    first = in.offset()[list.row];
    count = in.offset()[list.row + 1] - first;
    if (count == 0) return;
    const int32_t *begin = in.index() + first, *end = begin + count;
    const int32_t* at = std::lower_bound(begin, end, static_cast<int32_t>(node));
    if (at != end && *at == node) loop = at - begin;
  }
  int64_t neighbours() const { return count - (loop >= 0 ? 1 : 0); }
};

// Edge ids of one node's pairs, ascending: `most` of its neighbours (0: all), by Floyd's algorithm,
// and its self-pair.
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

void draw_one(const StoredList& list, int64_t node, int64_t most, const Stream& draws,
              DrawnLists& lists) {
  const NodeRow row(list, node);
  if (most != kDrawNone) {
    const size_t before = lists.edges.size();
    draw_row(row, most, Stream(mix64(draws.key(), static_cast<uint64_t>(node))), lists.edges);
    for (size_t k = before; k < lists.edges.size(); ++k) {
      lists.sources.push_back(list.in->index()[lists.edges[k]]);
    }
  }
  double degree = row.loop < 0 ? 1.0 : 0.0;
  if (!list.weights) degree += static_cast<double>(row.count);
  for (int64_t e = 0; list.weights && e < row.count; ++e) degree += list.weights[row.first + e];
  lists.ends.push_back(static_cast<int64_t>(lists.edges.size()));
  lists.stored.push_back(static_cast<int32_t>(row.count));
  lists.loops.push_back(row.loop >= 0 ? 1 : 0);
  lists.degrees.push_back(static_cast<float>(degree));
}

template <class T>
void append_all(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

void DrawnLists::append(const DrawnLists& more) {
  const auto before = static_cast<int64_t>(sources.size());
  for (const int64_t end : more.ends) ends.push_back(before + end);
  append_all(sources, more.sources);
  append_all(edges, more.edges);
  append_all(stored, more.stored);
  append_all(loops, more.loops);
  append_all(degrees, more.degrees);
  append_all(edge_data, more.edge_data);
}

DrawnLists draw_lists(const std::vector<int64_t>& nodes,
                      const std::function<StoredList(int64_t node)>& list_of, int64_t most,
                      const Stream& draws) {
  const auto count = static_cast<int64_t>(nodes.size());
  std::vector<DrawnLists> chunks((count + kListsAtOnce - 1) / kListsAtOnce);
  parallel_chunks(count, kListsAtOnce, [&](int64_t begin, int64_t end) {
    DrawnLists& lists = chunks[begin / kListsAtOnce];
    for (int64_t k = begin; k < end; ++k) {
      draw_one(list_of(nodes[k]), nodes[k], most, draws, lists);
    }
  });
  DrawnLists all;
  for (const DrawnLists& chunk : chunks) all.append(chunk);
  return all;
}

}  // namespace grm
