// The columns of editors as a GPU works on them, here by teams of one lane, against the editors of the
// host; and operators of edited graphs on a pattern that stays.
#include "methods/editor_columns.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "methods/edited_graph.h"
#include "methods/editor_column.h"
#include "methods/editors.h"
#include "small_task.h"

namespace grm::editor_columns_tests {
namespace {

namespace editor = kernels::editor;
using Work = editor::ColumnWork<editor::OneLane, InitialValues>;

// All columns of one graph's editors.
class Flat {
 public:
  Flat(const EditorOptions& options, int64_t nodes, const EditorStreams& streams, int64_t capacity)
      : options_(options),
        nodes_(nodes),
        implicit_(kept_implicitly(options, static_cast<double>(nodes))),
        capacity_(implicit_ ? capacity : nodes),
        state_(static_cast<size_t>(options.views * nodes)),
        source_(static_cast<size_t>(options.views * nodes * capacity_)),
        value_(source_.size()),
        first_(source_.size()),
        second_(source_.size()) {
    for (int64_t k = 0; k < options.views; ++k) keys_.push_back(streams.initial(k, 0).key());
    each([&](Work& work, int64_t, int64_t) { work.start(grid_); });
  }

  std::vector<torch::Tensor> trial(const EditorStreams& streams, int64_t number) {
    std::vector<torch::Tensor> flips;
    for (int64_t k = 0; k < options_.views; ++k) {
      flips.push_back(torch::empty({nodes_, options_.edits}, torch::kInt32));
    }
    each([&](Work& work, int64_t k, int64_t i) {
      Stream draws(mix64(streams.trial(k, number).key(), static_cast<uint64_t>(i)));
      work.draw(options_.edits, draws, flips[k].data_ptr<int32_t>() + i * options_.edits);
    });
    return flips;
  }

  void step(const std::vector<torch::Tensor>& flips, double reward) {
    const editor::Step numbers = editor_step(options_.lr, ++steps_);
    each([&](Work& work, int64_t k, int64_t i) {
      work.step(flips[k].data_ptr<int32_t>() + i * options_.edits, options_.edits, reward,
                static_cast<double>(options_.edits), numbers, grid_);
    });
  }

  std::vector<double> probabilities(int64_t view, int64_t target) {
    std::vector<double> all;
    each([&](Work& work, int64_t k, int64_t i) {
      if (k != view || i != target) return;
      for (int64_t j = 0; j < nodes_; ++j) all.push_back(work.weight(j) / work.mass());
    });
    return all;
  }

 private:
  template <class Body>
  void each(const Body& body) {
    for (int64_t k = 0; k < options_.views; ++k) {
      const int64_t at = k * nodes_ * capacity_;
      const bool zeros = options_.init == EditorInit::zeros;
      const editor::Columns columns{nodes_,
                                    capacity_,
                                    implicit_,
                                    zeros,
                                    {keys_[k]},
                                    state_.data() + k * nodes_,
                                    source_.data() + at,
                                    value_.data() + at,
                                    first_.data() + at,
                                    second_.data() + at};
      for (int64_t i = 0; i < nodes_; ++i) {
        Work work(editor::OneLane{}, columns, i,
                  InitialValues{mix64(keys_[k], static_cast<uint64_t>(i)), zeros});
        body(work, k, i);
      }
    }
  }

  EditorOptions options_;
  int64_t nodes_;
  bool implicit_;
  int64_t capacity_, steps_ = 0;
  editor::Grid grid_ = editor_grid();
  std::vector<uint64_t> keys_;
  std::vector<editor::ColumnState> state_;
  std::vector<int32_t> source_;
  std::vector<float> value_, first_, second_;
};

struct Case {
  bool implicit;
  int64_t nodes, edits, steps;
  EditorInit init = EditorInit::uniform_once;
};

TEST(EditorColumns, DrawAndLearnAsTheEditorsOfTheHost) {
  const std::vector<Case> cases = {{false, 30, 1, 6},  {true, 30, 1, 6},
                                   {true, 200, 3, 10}, {false, 40, 3, 10, EditorInit::zeros},
                                   {true, 6, 2, 12},  // soon nearly all sources are entries
                                   {true, 4, 4, 3}};
  for (const Case& each : cases) {
    EditorOptions options{EditorLaw::as_published, each.init, 2, each.edits, 0.05, 512};
    if (each.implicit) options.memory_mib = 0;
    const EditorStreams streams{Rng(5), 1, 2};
    GraphEditors host(options, each.nodes, Rng(5), 1);
    Flat flat(options, each.nodes, streams, std::min(each.nodes, each.steps * each.edits));
    for (int64_t t = 1; t <= each.steps; ++t) {
      const std::vector<torch::Tensor> expected = host.trial(t), got = flat.trial(streams, t);
      for (size_t k = 0; k < 2; ++k) {
        // Weights agree to a few units of single precision, so that a draw may fall on another
        // source once in a million times; with these seeds none does.
        EXPECT_TRUE(torch::equal(got[k], expected[k])) << "step " << t << " view " << k;
      }
      const double reward = t == 4 ? -0.3 : 0.5 / static_cast<double>(t);
      host.step(t, expected, reward);
      flat.step(expected, reward);
    }
    for (const int64_t target : {int64_t{0}, each.nodes - 1}) {
      const torch::Tensor expected = host.probabilities(1, target);
      const torch::Tensor got = torch::tensor(flat.probabilities(1, target), torch::kFloat64);
      EXPECT_TRUE(torch::allclose(got, expected, 1e-5, 1e-9)) << each.nodes;
      EXPECT_NEAR(got.sum().item<double>(), 1.0, 1e-5);
    }
  }
}

TEST(EditedGraph, OperatorIsThatOfTheFlippedEdges) {
  // A graph with self-pairs, rows without pairs, and flips of both.
  std::vector<int64_t> source, target;
  Stream draw(3);
  for (int64_t k = 0; k < 60; ++k) {
    source.push_back(static_cast<int64_t>(draw.below(20)));
    target.push_back(static_cast<int64_t>(draw.below(15)));
  }
  for (int64_t k = 0; k < 20; k += 3) {
    source.push_back(k);
    target.push_back(k);
  }
  const AdjacencyPtr edges = make_adjacency(20, 20, torch::tensor(source, torch::kInt64),
                                            torch::tensor(target, torch::kInt64));
  torch::Tensor rows = torch::empty({20, 4}, torch::kFloat64);
  Stream(9).fill_normal(rows.data_ptr<double>(), rows.numel());
  rows.set_requires_grad(true);
  for (const nn::Conv conv : {nn::Conv::sum, nn::Conv::kipf}) {
    const EditedGraph graph(conv, edges, torch::kFloat64, torch::kCPU);
    for (const int64_t edits : {1, 3, 20}) {
      const torch::Tensor flips = random_flips(20, edits, Rng(2).stream("flips", edits));
      const nn::Propagation got = graph.flipped(flips);
      const nn::Propagation expected =
          nn::make_propagation(conv, flipped(*edges, flips), {}, torch::kFloat64);
      const torch::Tensor a = got.apply(rows), b = expected.apply(rows);
      EXPECT_TRUE(torch::allclose(a, b, 1e-9, 1e-12)) << edits;
      // The transpose belongs to it: it carries the gradient.
      const torch::Tensor probe = torch::linspace(-1, 2, 80, torch::kFloat64).view({20, 4});
      torch::Tensor gradient[2];
      for (int k = 0; k < 2; ++k) {
        ((k == 0 ? a : b) * probe).sum().backward();
        gradient[k] = rows.grad().clone();
        rows.mutable_grad().reset();
      }
      EXPECT_TRUE(torch::allclose(gradient[0], gradient[1], 1e-9, 1e-12)) << edits;
      EXPECT_EQ(got.pattern->nnz(), got.pattern->in.offset()[20]);
      EXPECT_EQ(got.pattern->nnz(), got.pattern->out.offset()[20]);
    }
  }
}

}  // namespace
}  // namespace grm::editor_columns_tests
