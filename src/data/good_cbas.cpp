// GOOD-CBAS (Gui, Li, Wang, Ji: GOOD, NeurIPS 2022): 80 houses on a graph of 300 nodes; a node's
// label is its place (base, or middle, bottom and top of a house), its features are a colour that
// shifts. Generated with the benchmark's own random streams: graph, subsets and colours are its own.
#include "data/good/cbas_graph.h"

#include <torch/types.h>

#include "data/good/protocol.h"
#include "data/makers.h"

namespace grm {
namespace {

constexpr int64_t kCbasClasses = 4, kColourWidth = 4;

class GoodCbas final : public Dataset {
 public:
  void declare(OptionList& list) override { protocol_.declare(list, Level::node); }

  Task load(const DataContext& /*context*/) const override {
    Task task;
    task.name = "good-cbas";
    task.classes = kCbasClasses;
    task.label_names = {"base", "middle", "bottom", "top"};
    const good::Cbas cbas = good::draw_cbas(protocol_.shift);
    std::vector<int64_t> source, target;
    for (const auto& [u, v] : cbas.edges) {
      source.insert(source.end(), {u, v});
      target.insert(target.end(), {v, u});
    }
    Graph graph;
    graph.name = task.name;
    graph.edges =
        make_adjacency(good::kCbasNodes, good::kCbasNodes, torch::tensor(source, torch::kInt64),
                       torch::tensor(target, torch::kInt64));
    graph.x.dense = torch::empty({good::kCbasNodes, kColourWidth});
    float* x = graph.x.dense.data_ptr<float>();
    for (const auto& colour : cbas.features) x = std::copy(colour.begin(), colour.end(), x);
    protocol_.add_nodes(task, cbas.split,
                        make_domain(std::move(graph), torch::tensor(cbas.label, torch::kInt64)));
    task.notes.push_back(fmt::format(
        "{} test nodes: one of them is {:.1f} points", task.test.front().labels.evaluate.numel(),
        100.0 / static_cast<double>(task.test.front().labels.evaluate.numel())));
    return task;
  }

 private:
  good::Protocol protocol_;
};

}  // namespace

std::unique_ptr<Dataset> make_good_cbas() {
  return std::make_unique<GoodCbas>();
}

}  // namespace grm
