// Ego-nets against a plain draw with lists and sets. (That the draws are those of the CPU's
// ego_batch is tested where both are at hand, in tests/cuda/grm_test.cpp.)
#include <set>

#include "graph/kernels.h"
#include "harness.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + (b ^ 0xD1B54A32D192ED03u) * 0x8CB92BA72F3D8DD7u;
  for (int i = 0; i < 2; ++i) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
  }
  return x;
}

class Draws {
 public:
  explicit Draws(uint64_t key) : key_(key) {}
  uint64_t below(uint64_t n) {
    const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t x = next();
    while (x >= limit) x = next();
    return x % n;
  }

 private:
  uint64_t next() {
    uint32_t c[4] = {static_cast<uint32_t>(at_ / 2), 0, 0, 0};
    uint32_t k[2] = {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)};
    for (int round = 0; round < 10; ++round) {
      const uint64_t p = uint64_t{0xD2511F53u} * c[0], q = uint64_t{0xCD9E8D57u} * c[2];
      const uint32_t next[4] = {
          static_cast<uint32_t>(q >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(q),
          static_cast<uint32_t>(p >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p)};
      std::copy(next, next + 4, c);
      k[0] += 0x9E3779B9u;
      k[1] += 0xBB67AE85u;
    }
    const int first = at_++ % 2 * 2;
    return c[first] | static_cast<uint64_t>(c[first + 1]) << 32;
  }
  uint64_t key_;
  uint64_t at_ = 0;
};

using Lists = std::vector<std::vector<int32_t>>;

std::vector<int32_t> members_of(const Lists& in, int32_t target, const std::vector<int>& fanout,
                                uint64_t key) {
  Draws draws(mix(key, static_cast<uint64_t>(target)));
  std::vector<int32_t> members{target};
  size_t begin = 0;
  for (const int most : fanout) {
    if (most == 0) break;
    const size_t end = members.size();
    for (size_t m = begin; m < end; ++m) {
      std::vector<int32_t> others;
      for (const int32_t j : in[members[m]]) {
        if (j != members[m]) others.push_back(j);
      }
      const auto count = static_cast<int64_t>(others.size());
      std::vector<int64_t> picks;
      for (int64_t k = 0; count <= most && k < count; ++k) picks.push_back(k);
      for (int64_t k = count - most; count > most && k < count; ++k) {
        const auto pick = static_cast<int64_t>(draws.below(static_cast<uint64_t>(k) + 1));
        const bool taken = std::find(picks.begin(), picks.end(), pick) != picks.end();
        picks.push_back(taken ? k : pick);
      }
      for (const int64_t k : picks) {
        if (std::find(members.begin(), members.end(), others[k]) == members.end()) {
          members.push_back(others[k]);
        }
      }
    }
    begin = end;
  }
  std::sort(members.begin() + 1, members.end());
  return members;
}

template <class T>
std::vector<double> doubles(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

void nets_of(int64_t nodes, int64_t pairs, int64_t graphs, const std::vector<int>& fanout,
             Random& random) {
  std::vector<std::set<int32_t>> sets(nodes);
  for (int64_t k = 0; k < pairs; ++k) {
    sets[random() % nodes].insert(static_cast<int32_t>(random() % nodes));
  }
  for (int64_t k = 0; k < nodes; k += 2) sets[0].insert(static_cast<int32_t>(k));  // a hub
  Lists in;
  std::vector<int64_t> offset{0};
  std::vector<int32_t> index;
  for (const auto& set : sets) {
    in.emplace_back(set.begin(), set.end());
    index.insert(index.end(), set.begin(), set.end());
    offset.push_back(static_cast<int64_t>(index.size()));
  }
  std::vector<int64_t> targets{0};
  while (static_cast<int64_t>(targets.size()) < graphs) targets.push_back(random() % nodes);
  const uint64_t key = random();

  int64_t capacity = 1, reach = 1;
  kernels::EgoFanout most;
  for (const int m : fanout) {
    most.most[most.hops++] = m;
    reach *= m;
    capacity += reach;
  }
  const int64_t rows = graphs * capacity;
  std::vector<double> all_nodes(rows), graph(rows, static_cast<double>(graphs)), sizes{0};
  // Pairs without and with self-loops.
  std::vector<double> offsets[2], out_offsets[2], indices[2], out_indices[2], edges[2], kipf;
  for (int loops = 0; loops < 2; ++loops) offsets[loops] = out_offsets[loops] = {0};
  int64_t row = 0;
  for (int64_t g = 0; g < graphs; ++g) {
    const auto members = members_of(in, static_cast<int32_t>(targets[g]), fanout, key);
    const auto n = static_cast<int64_t>(members.size());
    for (int loops = 0; loops < 2; ++loops) {
      const auto pair = [&](int64_t a, int64_t b) {  // b -> a
        return sets[members[a]].count(members[b]) > 0 || (loops == 1 && a == b);
      };
      const size_t start = indices[loops].size();
      std::vector<std::vector<double>> edge(n, std::vector<double>(n));
      std::vector<double> degree(n);
      for (int64_t a = 0; a < n; ++a) {
        for (int64_t b = 0; b < n; ++b) {
          if (!pair(a, b)) continue;
          edge[a][b] = static_cast<double>(indices[loops].size());
          indices[loops].push_back(static_cast<double>(row + b));
          degree[a] += 1.0;
        }
        offsets[loops].push_back(static_cast<double>(indices[loops].size()));
      }
      size_t at = start;
      for (int64_t b = 0; b < n; ++b) {
        for (int64_t a = 0; a < n; ++a) {
          if (!pair(a, b)) continue;
          out_indices[loops].push_back(static_cast<double>(row + a));
          edges[loops].push_back(edge[a][b]);
          ++at;
        }
        out_offsets[loops].push_back(static_cast<double>(at));
      }
      for (int64_t a = 0; loops == 1 && a < n; ++a) {
        for (int64_t b = 0; b < n; ++b) {
          if (pair(a, b)) kipf.push_back(1.0 / std::sqrt(degree[a] * degree[b]));
        }
      }
    }
    for (int64_t a = 0; a < n; ++a) {
      all_nodes[row + a] = members[a];
      graph[row + a] = static_cast<double>(g);
    }
    row += n;
    sizes.push_back(static_cast<double>(row));
  }

  const Array<int64_t> d_offset(offset), d_target(targets);
  const Array<int32_t> d_index(index);
  const Array<uint64_t> d_key(std::vector<uint64_t>{key});
  Array<int32_t> net_nodes(rows);
  Array<uint64_t> mask(rows);
  Array<int64_t> node_offset(graphs + 1), edge_offset(graphs + 1), loop_offset(graphs + 1);
  const kernels::EgoNets nets{graphs,           capacity,          net_nodes.get(),
                              mask.get(),       node_offset.get(), edge_offset.get(),
                              loop_offset.get()};
  const std::string what = std::to_string(nodes) + " nodes, " + std::to_string(graphs) + " nets";
  Array<int64_t> out_nodes(rows), out_graph(rows);
  Case("ego_sample, ego_rows", "int", 0.0)
      .out(node_offset, sizes)
      .out(out_nodes, all_nodes)
      .out(out_graph, graph)
      .run(what, [&] {
        gpu<kernels::ego_sample>(d_offset.get(), d_index.get(), d_target.get(), most,
                                 {0, d_key.get()}, nets);
        gpu<kernels::ego_rows>(nets, out_nodes.get(), out_graph.get());
      });
  for (int loops = 0; loops < 2; ++loops) {
    const auto entries = static_cast<double>(indices[loops].size());
    offsets[loops].resize(rows + 1, entries);
    out_offsets[loops].resize(rows + 1, entries);
    const size_t most_pairs = graphs * capacity * capacity;
    // Places behind the last pair stay as they were.
    const auto filled = [&](std::vector<double> values) {
      values.resize(most_pairs, -1.0);
      return values;
    };
    Array<int64_t> in_offset(rows + 1), out_offset(rows + 1), out_edge(most_pairs);
    Array<int32_t> in_index(most_pairs), out_index(most_pairs);
    const kernels::EgoPattern pattern{in_offset.get(), in_index.get(), out_offset.get(),
                                      out_index.get(), out_edge.get()};
    Case("ego_pattern", loops ? "loops" : "plain", 0.0)
        .out(in_offset, offsets[loops])
        .out(in_index, filled(indices[loops]))
        .out(out_offset, out_offsets[loops])
        .out(out_index, filled(out_indices[loops]))
        .out(out_edge, filled(edges[loops]))
        .run(what, [&] { gpu<kernels::ego_pattern<float>>(nets, loops == 1, pattern, nullptr); });
    if (loops == 0) continue;
    Array<double> weights(kipf.size());
    make_case<double>("ego_pattern, kipf").out(weights, kipf).run(what, [&] {
      gpu<kernels::ego_pattern<double>>(nets, true, pattern, weights.get());
    });
  }
}

}  // namespace

void test_ego(const Size& size) {
  Random random(11);
  nets_of(1, 1, 1, {20}, random);
  nets_of(30, 100, 17, {5, 3}, random);
  nets_of(50, 40, 40, {63}, random);
  nets_of(200, 3000, size.small ? 50 : 1500, {20, 0}, random);
  nets_of(300, 2500, size.small ? 50 : 700, {4, 3, 3}, random);
}

}  // namespace test
