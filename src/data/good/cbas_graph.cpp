// GOOD-CBAS, drawn with GOOD's own random streams.
#include "data/good/cbas_graph.h"

#include <numeric>
#include <set>

namespace grm::good {
namespace {

constexpr int64_t kBaseNodes = 300, kHouses = 80, kHouseNodes = 5;
using Colour = std::array<float, 4>;
constexpr std::array<Colour, 7> kCovariateColours = {{{1, 0, 0, .5F},
                                                      {0, 1, 0, .7F},
                                                      {0, 0, 1, .3F},
                                                      {1, 1, 0, .4F},
                                                      {0, 1, 1, .6F},
                                                      {1, 0, 1, 1},
                                                      {0, 0, 0, .1F}}};
constexpr std::array<Colour, 4> kConceptColours = {
    {{1, 0, 0, .5F}, {0, 1, 0, .7F}, {0, 0, 1, .3F}, {1, 1, 0, .2F}}};

// Preferential attachment of five edges a node, then the houses.
void draw_edges(Streams& streams, Cbas& cbas) {
  std::vector<int64_t> row = {0, 1, 2, 3, 4}, col = streams.torch.permutation(5);
  for (int64_t i = 5; i < kBaseNodes; ++i) {
    row.insert(row.end(), 5, i);
    const auto ends = static_cast<int64_t>(row.size() + col.size());
    std::array<int64_t, 5> drawn;
    for (int64_t& end : drawn) {
      const auto at = static_cast<size_t>(streams.numpy.masked(ends - 1));
      end = at < row.size() ? row[at] : col[at - row.size()];
    }
    col.insert(col.end(), drawn.begin(), drawn.end());
  }
  std::set<std::pair<int64_t, int64_t>> edges;
  const auto join = [&](int64_t u, int64_t v) {
    if (u != v) edges.emplace(std::min(u, v), std::max(u, v));
  };
  for (size_t k = 0; k < row.size(); ++k) join(row[k], col[k]);
  const std::vector<int64_t> places = streams.torch.permutation(kBaseNodes);
  cbas.label.assign(kBaseNodes, 0);
  for (int64_t h = 0; h < kHouses; ++h) {
    const int64_t first = kBaseNodes + kHouseNodes * h;
    for (const auto& [u, v] : {std::pair<int, int>{0, 1}, {0, 3}, {0, 4}, {1, 4}, {1, 2}, {2, 3}}) {
      join(first + u, first + v);
    }
    join(first, places[static_cast<size_t>(h)]);
    cbas.label.insert(cbas.label.end(), {1, 1, 2, 2, 3});
  }
  cbas.edges.assign(edges.begin(), edges.end());
}

}  // namespace

Cbas draw_cbas(Shift shift) {
  Streams streams;
  Cbas cbas;
  draw_edges(streams, cbas);
  std::vector<int64_t> order(kCbasNodes);
  std::iota(order.begin(), order.end(), int64_t{0});
  streams.python.shuffle(order);

  cbas.split = cut_blocks(order, 5, 84, 140);
  cbas.features.assign(kCbasNodes, {1, 1, 1, 1});
  if (shift == Shift::none) return cbas;
  Split split = cut_blocks(order, 5, 112, 70);
  for (int64_t i = 0; i < kCbasNodes; ++i) {
    const int64_t block = i < 560 ? i / 112 : i < 630 ? 5 : 6;
    cbas.features[static_cast<size_t>(order[static_cast<size_t>(i)])] =
        kCovariateColours[static_cast<size_t>(block)];
  }
  cut_inside(split, 70, streams.python);
  if (shift == Shift::by_concept) {
    constexpr std::array<double, 7> kRates = {.95, .90, .85, .80, .75, .3, 0};
    split = cut_blocks(order, 5, 84, 140);
    for (int64_t i = 0; i < kCbasNodes; ++i) {
      const int64_t block = i < 420 ? i / 84 : i < 560 ? 5 : 6;
      const auto node = static_cast<size_t>(order[static_cast<size_t>(i)]);
      const int64_t any = streams.python.below(4);
      const bool own = streams.python.real() < kRates[static_cast<size_t>(block)];
      cbas.features[node] = kConceptColours[static_cast<size_t>(own ? cbas.label[node] : any)];
    }
    cut_inside(split, 140, streams.python);
  }
  cbas.split = std::move(split);
  return cbas;
}

}  // namespace grm::good
