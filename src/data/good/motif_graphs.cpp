// GOOD-Motif, drawn with GOOD's own random streams: the order of all draws is part of the law.
#include "data/good/motif_graphs.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace grm::good {
namespace {

constexpr int64_t kBases = 5;
constexpr int64_t kGraphs = 30000;
constexpr int64_t kMiddleWidth = 10;
constexpr double kNoisyLabels = 0.1, kRandomEdges = 0.05;
constexpr std::array<double, 3> kRates = {.99, .97, .95};
constexpr double kValidationRate = .3, kTestRate = 0;
const std::vector<double> kAnyBase(kBases, 1.0 / kBases);

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

struct Base {
  int64_t nodes = 1;
  Pairs edges;
  int64_t free_from = 0, free_to = 0;  // nodes that random edges may touch
};

Base make_base(int64_t kind, int64_t w) {
  Base base;
  base.nodes = w;
  if (kind == 0) {
    for (int64_t i = 1; i < w; ++i) base.edges.emplace_back(0, i);
    for (int64_t i = 1; i + 1 < w; ++i) base.edges.emplace_back(i, i + 1);
    if (w > 3) base.edges.emplace_back(1, w - 1);
  } else if (kind == 1) {
    base.nodes = (int64_t{2} << tree_height(w)) - 1;
    for (int64_t i = 1; i < base.nodes; ++i) base.edges.emplace_back((i - 1) / 2, i);
  } else if (kind == 2) {
    base.nodes = 2 * w;
    for (int64_t i = 0; i + 1 < w; ++i) {
      base.edges.emplace_back(i, i + 1);
      base.edges.emplace_back(w + i, w + i + 1);
    }
    for (int64_t i = 0; i < w; ++i) base.edges.emplace_back(i, w + i);
  } else if (kind == 3) {
    base.nodes = w + 1;
    for (int64_t i = 1; i <= w; ++i) base.edges.emplace_back(0, i);
  } else {
    for (int64_t i = 0; i + 1 < w; ++i) base.edges.emplace_back(i, i + 1);
  }
  base.free_to = kind == 3 ? 1 : base.nodes;
  if (kind == 4) {  // the inner nodes
    base.free_from = 1;
    base.free_to = w - 1;
  }
  return base;
}

Pairs motif_edges(int64_t motif) {
  const Pairs square = {{1, 2}, {2, 3}, {3, 4}, {1, 4}};
  if (motif == 1) return {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}};
  Pairs edges = square;
  edges.emplace_back(0, 1);
  edges.emplace_back(0, motif == 0 ? 4 : 3);
  return edges;
}

class Generator {
 public:
  explicit Generator(MotifDomain domain) : domain_(domain) {}

  GoodMotifSet plain() {
    GoodMotifSet set;
    for (int64_t motif = 0; motif < kMotifLabels; ++motif) {
      for (int64_t k = 0; k < kGraphs / kMotifLabels; ++k) {
        GoodMotif g;
        g.motif = motif;
        g.base = numpy().choice(kAnyBase);
        g.width = kMiddleWidth + numpy().randint(-5, 6);
        set.graphs.push_back(finished(g));
      }
    }
    std::vector<int64_t> order(kGraphs);
    std::iota(order.begin(), order.end(), int64_t{0});
    python().shuffle(order);
    set.split[Subset::train].assign(order.begin(), order.begin() + 18000);
    set.split[Subset::validation].assign(order.begin() + 18000, order.begin() + 24000);
    set.split[Subset::test].assign(order.begin() + 24000, order.end());
    for (size_t i = 0; i < 18000; ++i) {
      set.graphs[static_cast<size_t>(order[i])].environment = static_cast<int64_t>(i) / 6000;
    }
    return set;
  }

  GoodMotifSet covariate() {
    GoodMotifSet set;
    add(set, Subset::train, 24000, [&] { return of_part(Subset::train); });
    add(set, Subset::validation, 3000, [&] { return of_part(Subset::validation); });
    add(set, Subset::test, 3000, [&] { return of_part(Subset::test); });
    cut_inside(set.split, 3000, python());
    return set;
  }

  GoodMotifSet by_concept() {
    GoodMotifSet set;
    for (int64_t e = 0; e < 3; ++e) {
      add(set, Subset::train, 6000, [&] {
        GoodMotif g = at_rate(kRates[static_cast<size_t>(e)]);
        g.environment = e;
        return g;
      });
    }
    add(set, Subset::validation, 6000, [&] { return at_rate(kValidationRate); });
    add(set, Subset::test, 6000, [&] { return at_rate(kTestRate); });
    cut_inside(set.split, 2700, python());
    return set;
  }

 private:
  PythonStream& python() { return streams_.python; }
  NumpyStream& numpy() { return streams_.numpy; }

  template <class Draw>
  void add(GoodMotifSet& set, Subset subset, int64_t count, const Draw& draw) {
    for (int64_t k = 0; k < count; ++k) {
      set.split[subset].push_back(static_cast<int64_t>(set.graphs.size()));
      set.graphs.push_back(finished(draw()));
    }
  }

  // Covariate shift: training has three bases (or widths), validation and test one more each.
  GoodMotif of_part(Subset subset) {
    GoodMotif g;
    const bool trains = subset == Subset::train, tests = subset == Subset::test;
    if (domain_ == MotifDomain::basis) {
      g.motif = python().below(kMotifLabels);
      g.base = trains ? python().below(3) : tests ? 4 : 3;
      g.width = kMiddleWidth + numpy().randint(-5, 6);
      if (trains) g.environment = g.base;
      return g;
    }
    constexpr std::array<int64_t, 3> kClasses = {6, 10, 15};
    if (trains) g.environment = python().below(3);
    const int64_t middle = trains ? kClasses[static_cast<size_t>(g.environment)] : tests ? 70 : 30;
    g.base = python().below(kBases);
    g.motif = python().below(kMotifLabels);
    g.width = middle + python().below(11) - 5;
    return g;
  }

  // Concept shift: base (or width) goes with the motif at a rate.
  GoodMotif at_rate(double rate) {
    GoodMotif g;
    if (domain_ == MotifDomain::basis) {
      g.motif = python().below(kMotifLabels);
      g.width = kMiddleWidth + numpy().randint(-5, 6);
      g.base = python().real() < rate ? g.motif : python().below(3);
      return g;
    }
    constexpr std::array<int64_t, 3> kClasses = {10, 40, 70};
    g.base = numpy().choice(kAnyBase);
    g.motif = python().below(kMotifLabels);
    const int64_t one = python().real() < rate ? g.motif : python().below(3);
    g.width = kClasses[static_cast<size_t>(one)] + python().below(11) - 5;
    return g;
  }

  // Draws the rest: where the motif hangs, random edges, the label.
  GoodMotif finished(GoodMotif g) {
    Base base = make_base(g.base, g.width);
    g.attach = numpy().one_of(base.nodes);
    g.nodes = base.nodes + kMotifSize;
    g.edges = std::move(base.edges);
    for (const auto& [u, v] : motif_edges(g.motif)) {
      g.edges.emplace_back(base.nodes + u, base.nodes + v);
    }
    g.edges.emplace_back(g.attach, base.nodes);
    const auto draws = static_cast<int64_t>(static_cast<double>(g.edges.size()) * kRandomEdges);
    const auto is_free = [&](int64_t i) { return i >= base.free_from && i < base.free_to; };
    std::set<std::pair<int64_t, int64_t>> known(g.edges.begin(), g.edges.end());
    for (int64_t k = 0; k < draws; ++k) {
      std::pair<int64_t, int64_t> pair;
      do {
        const int64_t u = numpy().randint(0, g.nodes), v = numpy().randint(0, g.nodes);
        pair = {std::min(u, v), std::max(u, v)};
      } while (pair.first == pair.second || known.count(pair) > 0);
      if (!is_free(pair.first) && !is_free(pair.second)) continue;
      known.insert(pair);
      g.edges.push_back(pair);
      ++g.random_edges;
    }
    g.label = python().real() < kNoisyLabels ? python().below(kMotifLabels) : g.motif;
    return g;
  }

  MotifDomain domain_;
  Streams streams_;
};

}  // namespace

int64_t tree_height(int64_t width) {
  int64_t log = 0;
  while ((width >> (log + 1)) != 0) ++log;
  return std::max<int64_t>(1, log - 1);
}

GoodMotifSet draw_good_motif(MotifDomain domain, Shift shift) {
  Generator generator(domain);
  GoodMotifSet set = generator.plain();  // the streams go on from set to set
  if (shift != Shift::none) set = generator.covariate();
  if (shift == Shift::by_concept) set = generator.by_concept();
  return set;
}

}  // namespace grm::good
