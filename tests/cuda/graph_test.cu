// Path searches against a plain breadth-first search from every source.
#include <queue>

#include "graph/kernels.h"
#include "graph/padding.h"
#include "harness.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

struct Graph {
  int64_t nodes;
  std::vector<int64_t> offset{0};
  std::vector<int32_t> index;
};

// Random undirected pairs, a hub, and some nodes on their own.
Graph random_graph(int64_t nodes, int64_t pairs, Random& random) {
  std::vector<std::vector<int32_t>> list(nodes);
  const int64_t joined = nodes - nodes / 10;
  const auto join = [&](int64_t a, int64_t b) {
    if (a == b || std::find(list[a].begin(), list[a].end(), b) != list[a].end()) return;
    list[a].push_back(static_cast<int32_t>(b));
    list[b].push_back(static_cast<int32_t>(a));
  };
  for (int64_t k = 0; k < pairs; ++k) join(random() % joined, random() % joined);
  for (int64_t k = 0; joined > 1 && k < joined; k += 3) join(1, k);
  Graph g{nodes};
  for (auto& row : list) {
    std::sort(row.begin(), row.end());
    g.index.insert(g.index.end(), row.begin(), row.end());
    g.offset.push_back(static_cast<int64_t>(g.index.size()));
  }
  return g;
}

template <class Count>
void search(int64_t nodes, int64_t pairs, Random& random) {
  const Graph g = random_graph(nodes, pairs, random);
  const int depth = 5;
  const int64_t first = nodes > 100 ? 64 : 0, blocks = (nodes - first + 63) / 64;
  std::vector<int64_t> length(nodes * nodes, -1);
  std::vector<double> paths(nodes * nodes);
  for (int64_t u = first; u < nodes; ++u) {
    int64_t* d = length.data() + u * nodes;
    double* p = paths.data() + u * nodes;
    std::queue<int64_t> next({u});
    d[u] = 0, p[u] = 1;
    while (!next.empty()) {
      const int64_t v = next.front();
      next.pop();
      if (d[v] == depth) continue;
      for (int64_t k = g.offset[v]; k < g.offset[v + 1]; ++k) {
        const int64_t w = g.index[k];
        if (d[w] < 0) d[w] = d[v] + 1, next.push(w);
        if (d[w] == d[v] + 1) p[w] += p[v];
      }
    }
  }
  std::vector<int32_t> node, source;
  std::vector<double> counts;
  for (int64_t u = first; u < nodes; ++u) {
    for (int64_t v = 0; v < nodes; ++v) {
      node.push_back(static_cast<int32_t>(v));
      source.push_back(static_cast<int32_t>(u - first));
      counts.push_back(paths[u * nodes + v]);
    }
  }
  const Array<int64_t> offset(g.offset);
  const Array<int32_t> index(g.index), dnode(node), dsource(source);
  Array<double> out(counts.size());
  Array<int32_t> inexact(blocks);
  Array<char> work(kernels::path_workspace_bytes<Count>(nodes, blocks));
  const kernels::NeighbourLists lists{nodes, offset.get(), index.get()};
  const std::string what = std::to_string(nodes) + " nodes";
  make_case<Count>("path_search", 0.0, 0.0)
      .out(out, counts)
      .out(inexact, std::vector<double>(blocks))
      .run(what, [&] {
        work.poison();
        must(cudaDeviceSynchronize(), "poison");
        gpu<kernels::path_search<Count>>(lists, first, blocks, depth, work.get(), inexact.get());
        gpu<kernels::path_counts<Count>>(nodes, blocks, work.get(), dnode.get(), dsource.get(),
                                         static_cast<int64_t>(counts.size()), out.get());
      });

  // The rule of specs/grm.md for every node i and source u, with the neighbours as members.
  const double max_length = 3.0, min_paths = 1.5;
  Array<uint64_t> sure(nodes * blocks), unsure(nodes * blocks);
  const auto judge = [&] {
    gpu<kernels::path_judge<Count>>(lists, nodes, blocks, {max_length, std::log2(min_paths)},
                                    work.get(), sure.get(), unsure.get(), blocks);
  };
  judge();
  must(cudaStreamSynchronize(stream()), "judge");
  const auto yes = sure.read(), perhaps = unsure.read();
  int64_t wrong = 0, open = 0, chosen = 0;
  for (int64_t i = 0; i < nodes; ++i) {
    for (int64_t u = first; u < nodes; ++u) {
      double lengths = 0.0, logs = 0.0;
      bool reached = g.offset[i] < g.offset[i + 1];
      for (int64_t k = g.offset[i]; k < g.offset[i + 1]; ++k) {
        const int64_t at = u * nodes + g.index[k];
        reached = reached && length[at] >= 0;
        lengths += static_cast<double>(length[at]);
        logs += std::log2(std::max(paths[at], 1.0));
      }
      const double n = static_cast<double>(g.offset[i + 1] - g.offset[i]);
      const double away = logs - n * std::log2(min_paths);
      const bool near = reached && lengths / n <= max_length;
      const int64_t word = i * blocks + (u - first) / 64;
      const bool said = yes[word] >> ((u - first) % 64) & 1;
      const bool left = perhaps[word] >> ((u - first) % 64) & 1;
      wrong += (said && !(near && away > -1e-9)) || (!said && !left && near && away > 1e-9);
      wrong += said && left;
      open += left;
      chosen += near && away > 0;
    }
  }
  // Few may be left to exact arithmetic, where logarithms have 11 bits of fraction.
  if (sizeof(Count) == 4 && open * 50 > chosen + 50) ++wrong;
  Array<double> mistakes(1);
  Case("path_judge", type_name<Count>(), 0.0).out(mistakes, {0.0}).run(what, [&] {
    mistakes.set({static_cast<double>(wrong)});
  });
  std::vector<double> bits(yes.begin(), yes.end()), rest(perhaps.begin(), perhaps.end());
  make_case<Count>("path_judge, again", 0.0, 0.0)
      .out(sure, bits)
      .out(unsure, rest)
      .run(what, judge);
}

// A part of a batch that has spare rows and pairs, counted one by one; tests/graph/padded_test.cpp
// says what a part is.
void cut(int64_t rows, int64_t counted, int64_t pairs, int64_t spare, Random& random) {
  std::vector<std::pair<int32_t, int32_t>> all;  // target, source
  for (int64_t k = 0; counted > 0 && k < pairs; ++k) {
    all.push_back(
        {static_cast<int32_t>(random() % counted), static_cast<int32_t>(random() % counted)});
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto used = static_cast<int64_t>(all.size());
  for (int64_t k = 0; k < spare; ++k) {
    const auto row = static_cast<int32_t>(counted + k * (rows - counted) / spare);
    all.push_back({row, row});
  }
  const auto entries = static_cast<int64_t>(all.size());
  std::vector<int64_t> in_offset(rows + 1), out_offset(rows + 1), out_edge(entries);
  std::vector<int32_t> in_index, out_index;
  for (const auto& [i, j] : all) {
    ++in_offset[i + 1];
    ++out_offset[j + 1];
    in_index.push_back(j);
  }
  for (int64_t r = 0; r < rows; ++r) {
    in_offset[r + 1] += in_offset[r];
    out_offset[r + 1] += out_offset[r];
  }
  for (int64_t e = 0; e < entries; ++e) out_edge[e] = e;
  std::stable_sort(out_edge.begin(), out_edge.end(),
                   [&](int64_t a, int64_t b) { return all[a].second < all[b].second; });
  for (const int64_t e : out_edge) out_index.push_back(all[e].first);
  std::vector<uint8_t> keep(entries);
  for (uint8_t& mark : keep) mark = random() % 3 == 0;
  // Rows and entries that stay, in their order.
  std::vector<int64_t> kept, nodes;
  std::vector<double> edge_place(entries, -1.0), row_place(rows, -1.0), new_row(rows + 1);
  std::vector<char> touched(rows);
  for (int64_t e = 0; e < used; ++e) {
    if (!keep[e]) continue;
    edge_place[e] = static_cast<double>(kept.size());
    kept.push_back(e);
    touched[all[e].first] = touched[all[e].second] = 1;
  }
  for (int64_t r = 0; r < rows; ++r) {
    new_row[r] = static_cast<double>(nodes.size());
    if (!touched[r]) continue;
    row_place[r] = static_cast<double>(nodes.size());
    nodes.push_back(r);
  }
  const auto n = static_cast<int64_t>(nodes.size()), m = static_cast<int64_t>(kept.size());
  new_row[rows] = static_cast<double>(n);
  std::vector<double> edge_ids(entries, static_cast<double>(entries - 1)), ids(rows, rows - 1.0);
  std::vector<std::pair<int64_t, int64_t>> part;  // target, source
  for (int64_t k = 0; k < n; ++k) ids[k] = static_cast<double>(nodes[k]);
  for (int64_t k = 0; k < m; ++k) {
    edge_ids[k] = static_cast<double>(kept[k]);
    part.push_back({static_cast<int64_t>(row_place[all[kept[k]].first]),
                    static_cast<int64_t>(row_place[all[kept[k]].second])});
  }
  const kernels::Padding padding{rows - n, entries - m};
  for (int64_t q = 0; q < entries - m; ++q) {
    part.push_back({n + padding.row_of(q), n + padding.row_of(q)});
  }
  std::vector<double> p_in(rows + 1), p_out(rows + 1), p_index, p_out_index, p_edge;
  std::vector<int64_t> order(entries);
  for (int64_t e = 0; e < entries; ++e) {
    order[e] = e;
    ++p_in[part[e].first + 1];
    ++p_out[part[e].second + 1];
    p_index.push_back(static_cast<double>(part[e].second));
  }
  for (int64_t r = 0; r < rows; ++r) {
    p_in[r + 1] += p_in[r];
    p_out[r + 1] += p_out[r];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return part[a].second < part[b].second; });
  for (const int64_t e : order) {
    p_out_index.push_back(static_cast<double>(part[e].first));
    p_edge.push_back(static_cast<double>(e));
  }
  const Array<int64_t> aio(in_offset), aoo(out_offset), aoe(out_edge),
      ac(std::vector<int64_t>{counted});
  const Array<int32_t> aii(in_index), aoi(out_index);
  const Array<uint8_t> ak(keep);
  Array<int64_t> dn(rows), dr(rows), dw(rows + 1), de(entries), dp(entries), di(rows + 1),
      dof(rows + 1), dx(entries), before(entries + 1), out_before(entries + 1), out_ids(entries);
  Array<int32_t> ii(entries), oi(entries);
  Case("padded_cut", "int", 0.0)
      .out(dn, ids)
      .out(dr, row_place)
      .out(dw, new_row)
      .out(de, edge_ids)
      .out(dp, edge_place)
      .out(di, p_in)
      .out(dof, p_out)
      .out(dx, p_edge)
      .out(ii, p_index)
      .out(oi, p_out_index)
      .run(std::to_string(rows) + " rows, " + std::to_string(entries) + " entries", [&] {
        gpu<kernels::padded_cut>(
            {rows, entries, aio.get(), aoo.get(), aoe.get(), aii.get(), aoi.get(), ac.get(),
             reinterpret_cast<const bool*>(ak.get())},
            {dn.get(), dr.get(), dw.get(), de.get(), dp.get(), di.get(), dof.get(), dx.get(),
             ii.get(), oi.get(), before.get(), out_before.get(), out_ids.get()});
      });
}

}  // namespace

void test_graph(const Size& size) {
  Random parts(41);
  cut(3, 1, 1, 2, parts);
  cut(60, 50, 200, 40, parts);
  cut(60, 59, 0, 30, parts);
  cut(2100, 1900, size.small ? 3000 : 9000, 700, parts);
  Random random(18);
  search<float>(1, 0, random);
  search<float>(40, 60, random);
  search<float>(size.small ? 150 : 500, 1500, random);
  search<double>(130, 400, random);
  search<double>(size.small ? 150 : 500, 4000, random);
}

}  // namespace test
