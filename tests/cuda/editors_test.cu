// Columns of graph editors against the same columns worked on by one lane, and edited pairs against
// plain loops.
#include "methods/editor_columns.h"

#include <set>

#include "core/cuda/philox.cuh"
#include "harness.h"

namespace test {
namespace {

namespace kernels = grm::kernels;
namespace editor = grm::kernels::editor;

struct Initial {
  uint64_t key;
  __host__ __device__ float at(int64_t source) const {
    uint32_t word[4];
    grm::cuda::philox(key, static_cast<uint64_t>(source / 4), word);
    return grm::cuda::unit_float(word[source % 4]);
  }
};

editor::Grid grid() {
  editor::Grid g;
  const double pi = std::acos(-1.0);
  for (int a = 0; a < editor::kNodes; ++a) {
    g.node[a] = 0.5 * (1.0 + std::cos(pi * (a + 0.5) / editor::kNodes));
    for (int k = 0; k < editor::kNodes; ++k) {
      g.transform[k][a] =
          (k == 0 ? 1.0 : 2.0) / editor::kNodes * std::cos(pi * k * (a + 0.5) / editor::kNodes);
    }
  }
  return g;
}

// Steps and draws in turns, each compared; the device goes on from what the host has, so that errors
// do not add up.
void columns(int64_t nodes, int64_t edits, int64_t steps, bool implicit) {
  const int64_t capacity = implicit ? std::min(nodes, steps * edits) : nodes;
  const uint64_t key = 12345, trial = 777;
  const editor::Grid g = grid();
  std::vector<editor::ColumnState> state(nodes);
  std::vector<int32_t> source(nodes * capacity);
  std::vector<float> value(nodes * capacity), first(value), second(value);
  const editor::Columns host{nodes,        capacity,     implicit,      false,
                             {key},        state.data(), source.data(), value.data(),
                             first.data(), second.data()};
  const auto each = [&](auto body) {
    for (int64_t i = 0; i < nodes; ++i) {
      const Initial initial{grm::cuda::mix(key, static_cast<uint64_t>(i))};
      editor::ColumnWork<editor::OneLane, Initial> work({}, host, i, initial);
      body(work, i);
    }
  };
  constexpr size_t kDoubles = sizeof(editor::ColumnState) / sizeof(double);
  const auto doubles = [&] {
    std::vector<double> all(nodes * kDoubles);
    std::memcpy(all.data(), state.data(), nodes * sizeof(editor::ColumnState));
    for (int64_t i = 0; i < nodes; ++i) {  // the last one is an integer
      all[i * kDoubles + kDoubles - 1] = 0.0;
    }
    return all;
  };
  std::vector<editor::ColumnState> zero(nodes);
  std::memset(zero.data(), 0, nodes * sizeof(editor::ColumnState));
  std::memset(state.data(), 0, nodes * sizeof(editor::ColumnState));
  Array<editor::ColumnState> there(zero);
  Array<int32_t> ds(source), flips(nodes * edits);
  Array<float> dv(value), df(first), dd(second);
  const editor::Columns device{nodes,       capacity, implicit, false,    {key},
                               there.get(), ds.get(), dv.get(), df.get(), dd.get()};
  const std::string what = std::to_string(nodes) + " nodes, " + std::to_string(edits) + " edits" +
                           (implicit ? ", implicit" : "");
  gpu<editor::start_columns>(device, g);
  must(cudaStreamSynchronize(stream()), "start");
  each([&](auto& work, int64_t) { work.start(g); });
  const std::vector<double> rewards = {0.7, -0.2, 0.1};
  for (int64_t t = 1; t <= steps; ++t) {
    std::vector<double> drawn(nodes * edits);
    std::vector<int32_t> chosen(nodes * edits);
    each([&](auto& work, int64_t i) {
      grm::cuda::Draws draws{grm::cuda::mix(trial + t, static_cast<uint64_t>(i))};
      work.draw(edits, draws, chosen.data() + i * edits);
    });
    for (size_t k = 0; k < chosen.size(); ++k) drawn[k] = chosen[k];
    make_case<float>("draw_columns", 0.0).out(flips, drawn).run(what, [&] {
      gpu<editor::draw_columns>(device, grm::kernels::StreamKey{trial + t}, edits, flips.get());
    });
    const double size = 0.05 / (1.0 - std::pow(editor::kBeta1, t));
    const double scale = 1.0 / std::sqrt(1.0 - std::pow(editor::kBeta2, t));
    const Array<double> places(std::vector<double>{rewards[t % 3], size, scale});
    const std::vector<editor::ColumnState> state_before = state;
    const std::vector<int32_t> source_before = source;
    const std::vector<float> value_before = value, first_before = first, second_before = second;
    each([&](auto& work, int64_t i) {
      work.step(chosen.data() + i * edits, edits, rewards[t % 3], static_cast<double>(edits),
                {0.9995, size, scale}, g);
    });
    flips.set(chosen);
    Case step = make_case<float>("step_columns", 1e-5);
    step.out(dv, widened(value), &value_before).out(df, widened(first), &first_before);
    step.out(dd, widened(second), &second_before);
    step.run(what, [&] {
      there.set(state_before);
      ds.set(source_before);
      must(cudaDeviceSynchronize(), "before the step");
      gpu<editor::step_columns>(device, g, flips.get(), edits,
                                {places.get(), places.get() + 1, places.get() + 2},
                                static_cast<double>(edits), 0.9995);
    });
    // What lies beside the entries, and then the host's numbers for the next turn.
    const std::vector<double> expected = doubles();
    std::vector<editor::ColumnState> got = there.read();
    double worst = 0.0;
    for (int64_t i = 0; i < nodes; ++i) {
      if (got[i].entries != state[i].entries) worst = 1e30;
      const auto* a = reinterpret_cast<const double*>(&got[i]);
      for (size_t k = 0; k + 1 < kDoubles; ++k) {
        worst = std::max(worst, std::abs(a[k] - expected[i * kDoubles + k]) /
                                    std::max(1.0, std::abs(expected[i * kDoubles + k])));
      }
    }
    Row& row = table()["state of columns double"];
    ++row.cases;
    row.limit = 1e-5;
    row.worst = std::max(row.worst, worst);
    there.set(state);
    ds.set(source);
    dv.set(value);
    df.set(first);
    dd.set(second);
  }
}

template <class T>
void pairs(int64_t nodes, int64_t count, int64_t edits, bool loops, Random& random) {
  std::set<std::pair<int64_t, int64_t>> all, flipped;  // target, source
  for (int64_t k = 0; k < count; ++k) all.insert({random() % nodes, random() % nodes});
  for (int64_t k = 0; k < nodes; k += 2) all.insert({0, k});  // a long row
  for (int64_t k = 0; loops && k < nodes; ++k) all.insert({k, k});
  std::vector<int64_t> in_offset(nodes + 1), out_offset(nodes + 1), out_edge;
  std::vector<int32_t> in_index, in_row, out_index, out_row, source;
  std::set<std::pair<int64_t, int64_t>> by_source;
  for (const auto& [i, j] : all) by_source.insert({j, i});
  for (const auto& [i, j] : all) {
    ++in_offset[i + 1];
    in_row.push_back(static_cast<int32_t>(i));
    in_index.push_back(static_cast<int32_t>(j));
  }
  for (const auto& [j, i] : by_source) {
    ++out_offset[j + 1];
    out_row.push_back(static_cast<int32_t>(j));
    out_index.push_back(static_cast<int32_t>(i));
    out_edge.push_back(std::distance(all.begin(), all.find({i, j})));
  }
  for (int64_t i = 0; i < nodes; ++i) {
    in_offset[i + 1] += in_offset[i];
    out_offset[i + 1] += out_offset[i];
    std::set<int64_t> own;
    while (static_cast<int64_t>(own.size()) < edits) own.insert(random() % nodes);
    for (const int64_t j : own) {
      source.push_back(static_cast<int32_t>(j));
      flipped.insert({i, j});
    }
  }
  std::vector<int64_t> offset(nodes + 1);
  std::vector<int32_t> position;
  for (int64_t j = 0; j < nodes; ++j) {
    for (size_t p = 0; p < source.size(); ++p) {
      if (source[p] == j) position.push_back(static_cast<int32_t>(p));
    }
    offset[j + 1] = static_cast<int64_t>(position.size());
  }
  // Rows one after the other, as the comment of EditedPairs has it.
  std::vector<double> index, weight, to_offset(nodes + 1), to_index, to_edge;
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> edge_of;  // old one first
  size_t e = 0;
  for (int64_t i = 0; i < nodes; ++i) {
    for (; e < in_row.size() && in_row[e] == i; ++e) {
      const int64_t j = in_index[e];
      edge_of[{i, j}].push_back(static_cast<int64_t>(index.size()));
      index.push_back(static_cast<double>(j));
      weight.push_back(!flipped.count({i, j}) || (loops && i == j) ? 1.0 : 0.0);
    }
    for (int64_t k = 0; k < edits; ++k) {
      const int64_t j = source[i * edits + k];
      edge_of[{i, j}].push_back(static_cast<int64_t>(index.size()));
      index.push_back(static_cast<double>(j));
      weight.push_back(all.count({i, j}) ? 0.0 : 1.0);
    }
  }
  size_t o = 0;
  for (int64_t j = 0; j < nodes; ++j) {
    for (; o < out_row.size() && out_row[o] == j; ++o) {
      to_index.push_back(static_cast<double>(out_index[o]));
      to_edge.push_back(static_cast<double>(edge_of[{out_index[o], j}].front()));
    }
    for (int64_t i = 0; i < nodes; ++i) {
      if (!flipped.count({i, j})) continue;
      to_index.push_back(static_cast<double>(i));
      to_edge.push_back(static_cast<double>(edge_of[{i, j}].back()));
    }
    to_offset[j + 1] = static_cast<double>(to_index.size());
  }
  const Array<int64_t> aio(in_offset), aoo(out_offset), aoe(out_edge), afo(offset);
  const Array<int32_t> aii(in_index), aoi(out_index), air(in_row), aor(out_row), as(source),
      ap(position);
  Array<int32_t> ni(index.size()), no(index.size());
  Array<T> nw(index.size());
  Array<int64_t> nf(nodes + 1), ne(index.size());
  make_case<T>("edited_pairs", 0.0, 0.0)
      .out(ni, index)
      .out(nw, weight)
      .out(nf, to_offset)
      .out(no, to_index)
      .out(ne, to_edge)
      .run(std::to_string(nodes) + " nodes, " + std::to_string(edits) + " edits", [&] {
        gpu<kernels::edited_pairs<T>>(
            {nodes, static_cast<int64_t>(all.size()), aio.get(), aoo.get(), aoe.get(), aii.get(),
             aoi.get(), air.get(), aor.get(), loops},
            {edits, as.get(), afo.get(), ap.get()},
            {ni.get(), nw.get(), nf.get(), ne.get(), no.get()});
      });
}

}  // namespace

void test_editors(const Size& size) {
  Random random(31);
  for (const bool implicit : {false, true}) {
    columns(5, 2, 4, implicit);
    columns(size.small ? 50 : 400, 1, 4, implicit);
    columns(size.small ? 70 : 300, 5, 20, implicit);
  }
  for (const bool loops : {false, true}) {
    pairs<float>(1, 1, 1, loops, random);
    pairs<float>(size.small ? 60 : 300, 700, 3, loops, random);
    pairs<double>(50, 0, 50, loops, random);
  }
}

}  // namespace test
