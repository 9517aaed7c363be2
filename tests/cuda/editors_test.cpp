// Editors and edited graphs of a GPU are those of the host.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "devices.h"
#include "methods/device_editors.h"
#include "methods/edited_graph.h"
#include "methods/editor_column.h"
#include "methods/small_task.h"

namespace grm::test {
namespace {

torch::Tensor scalar(double value) {
  return torch::full({}, value, torch::dtype(torch::kFloat64).device(gpu()));
}

TEST(DeviceEditors, DrawWhatTheEditorsOfTheHostDraw) {
  const OnDevice here(gpu());
  for (const bool implicit : {false, true}) {
    const EditorOptions options{EditorLaw::as_published, EditorInit::uniform_once, 2, 3, 0.05,
                                implicit ? 0 : 512};
    const int64_t nodes = 150, steps = 30;  // more than the room that editors begin with
    GraphEditors host(options, nodes, Rng(3), 1);
    DeviceEditors there(options, nodes, Rng(3), 1, gpu());
    int64_t same = 0, all = 0;
    for (int64_t t = 1; t <= steps; ++t) {
      there.prepare(t);
      const std::vector<torch::Tensor> expected = host.trial(t);
      std::vector<torch::Tensor> flips;
      for (int64_t k = 0; k < 2; ++k) {
        const torch::Tensor drawn = there.draw(k, there.streams().trial(k, t));
        same += drawn.cpu().eq(expected[k]).sum().item<int64_t>();
        all += drawn.numel();
        flips.push_back(expected[k].to(gpu()));
      }
      const double reward = 0.6 / static_cast<double>(t);
      host.step(t, expected, reward);
      const kernels::editor::Step numbers = editor_step(options.lr, t);
      there.step(flips, scalar(reward), scalar(numbers.step_size), scalar(numbers.second_scale));
      there.note(t, reward);
    }
    // Weights agree to some units of single precision.
    EXPECT_GE(same, all - 6);
    // A restored editor draws what this one does, to the bit, and rewards that are no numbers change
    // nothing.
    DeviceEditors again(options, nodes, Rng(3), 1, gpu());
    again.restore(host.state());
    const Stream draws = Rng(8).stream("fresh");
    const torch::Tensor before = there.draw(1, draws);
    EXPECT_GE(again.draw(1, draws).eq(before).sum().item<int64_t>(), before.numel() - 3);
    there.step({before, before}, scalar(std::nan("")), scalar(1.0), scalar(1.0));
    EXPECT_TRUE(torch::equal(there.draw(1, draws), before));
  }
}

TEST(EditedGraph, OperatorIsThatOfTheHost) {
  const Domain domain = small_domain(4, 90);
  for (const nn::Conv conv : {nn::Conv::sum, nn::Conv::kipf}) {
    const torch::Tensor flips = random_flips(90, 4, Rng(2).stream("flips"));
    const nn::Propagation expected =
        EditedGraph(conv, domain.graph.edges, torch::kFloat32, torch::kCPU).flipped(flips);
    const nn::Propagation got =
        EditedGraph(conv, domain.graph.edges, torch::kFloat32, gpu()).flipped(flips.to(gpu()));
    EXPECT_TRUE(torch::equal(got.pattern->in.indices.cpu(), expected.pattern->in.indices));
    EXPECT_TRUE(torch::equal(got.pattern->out.offsets.cpu(), expected.pattern->out.offsets));
    EXPECT_TRUE(torch::equal(got.pattern->out.indices.cpu(), expected.pattern->out.indices));
    EXPECT_TRUE(torch::equal(got.pattern->out_edge.cpu(), expected.pattern->out_edge));
    EXPECT_LT(difference(got.weights, expected.weights), 1e-6);
  }
}

}  // namespace
}  // namespace grm::test
