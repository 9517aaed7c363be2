// GOOD-Motif (Gui, Li, Wang, Ji: GOOD, NeurIPS 2022): a base, joined by one edge to a motif that is
// the label in 14 of 15 graphs. Bases (or their sizes) of the tests do not occur in training
// (covariate), or go along with the label in training alone (concept). Generated: the 30,000 graphs
// are those of the benchmark, edge by edge, since they come from the same random streams.
#include <torch/types.h>

#include "data/good/motif_graphs.h"
#include "data/good/protocol.h"
#include "data/graph_sets.h"
#include "data/makers.h"

namespace grm {
namespace {

using good::GoodMotif;

// The graphs `ids` as one set: edges in both directions, the number 1 as the feature of all nodes.
Domain pack_motifs(const std::vector<GoodMotif>& graphs, const torch::Tensor& ids,
                   const std::string& name) {
  std::vector<int64_t> sizes, source, target, labels;
  std::vector<uint8_t> truth;
  int64_t first = 0;
  for (int64_t k = 0; k < ids.numel(); ++k) {
    const GoodMotif& g = graphs.at(static_cast<size_t>(ids.data_ptr<int64_t>()[k]));
    const int64_t motif = g.nodes - good::kMotifSize;
    for (const auto& [u, v] : g.edges) {
      source.push_back(first + u);
      target.push_back(first + v);
      truth.push_back(u >= motif && v >= motif);
    }
    sizes.push_back(g.nodes);
    labels.push_back(g.label);
    first += g.nodes;
  }
  Graph set;
  set.name = name;
  set.parts = parts_of(sizes);
  const PackedEdges packed = pack_both_ways(set.parts, torch::tensor(source, torch::kInt64),
                                            torch::tensor(target, torch::kInt64));
  set.edges = packed.edges;
  set.x.dense = torch::ones({first, 1});
  Domain domain = make_domain(std::move(set), torch::tensor(labels, torch::kInt64));
  domain.labels.edge_truth = torch::tensor(truth, torch::kUInt8).index_select(0, packed.pair);
  return domain;
}

class GoodMotifDataset final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.choice("domain", domain_, "what shifts: the kind of base, or its size");
    protocol_.declare(list, Level::graph);
  }

  Task load(const DataContext& /*context*/) const override {
    Task task;
    task.name = "good-motif";
    task.level = Level::graph;
    task.classes = good::kMotifLabels;
    task.label_names = {"house", "cycle", "crane"};
    good::GoodMotifSet set = good::draw_good_motif(domain_, protocol_.shift);
    for (const GoodMotif& g : set.graphs) set.split.environment.push_back(g.environment);
    protocol_.add_sets(task, set.split, [&](const torch::Tensor& ids, const std::string& name) {
      return pack_motifs(set.graphs, ids, name);
    });
    task.notes.push_back(
        "one label in ten is drawn at random, so no classifier is right on more than 93.3 % of "
        "the graphs on average");
    return task;
  }

 private:
  good::MotifDomain domain_ = good::MotifDomain::basis;
  good::Protocol protocol_;
};

}  // namespace

std::unique_ptr<Dataset> make_good_motif() {
  return std::make_unique<GoodMotifDataset>();
}

}  // namespace grm
