// sst2-tree: a substitute for Graph-SST2, which is not to be had. The same sentences and labels and
// the same split by size as DIR's, but heads from constituency trees instead of a dependency parse,
// and word vectors of 100 numbers instead of BERT's 768. Results are not those of Graph-SST2.
#include <torch/types.h>

#include <array>

#include "data/graph_sets.h"
#include "data/makers.h"
#include "data/sources.h"
#include "io/sst2_graph.h"

namespace grm {
namespace {

constexpr int64_t kSst2Width = 100;
constexpr char kTrees[] = "sst2-tree/sst2graph.bin";
constexpr char kVectors[] = "sst2-tree/glove100.bin";

constexpr std::array<SplitFile, 3> kSst2Splits = {
    {{Role::train, Use::training, "sst2-tree/split_train.txt"},
     {Role::validation, Use::validation, "sst2-tree/split_valid.txt"},
     {Role::test, Use::test, "sst2-tree/split_test.txt"}}};

// All trees with edges between a token and its head, both ways.
Graph tree_edges(const io::SentenceTrees& trees) {
  const torch::Tensor sizes = trees.parts.diff();
  const torch::Tensor first = trees.parts.slice(0, 0, -1).repeat_interleave(sizes);
  const torch::Tensor child = torch::nonzero(trees.parent.ge(0)).reshape({-1});
  const torch::Tensor head = (trees.parent + first).index_select(0, child);
  Graph all;
  all.parts = trees.parts;
  all.edges = pack_both_ways(trees.parts, head, child).edges;
  return all;
}

class Sst2Tree final : public Dataset {
 public:
  std::vector<std::string> files() const override {
    std::vector<std::string> all = {kTrees, kVectors};
    for (const SplitFile& split : kSst2Splits) all.push_back(split.path);
    return all;
  }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "sst2-tree";
    task.level = Level::graph;
    task.classes = 2;
    Source source;
    for (const std::string& file : files()) source.files.push_back({file});
    require_sources(context, {source}, task);
    const io::SentenceTrees trees = io::read_sentence_trees(full_path(context, kTrees));
    const torch::Tensor vectors =
        io::read_float_table(full_path(context, kVectors), trees.vocabulary, kSst2Width);
    const Graph all = tree_edges(trees);
    std::vector<bool> taken(static_cast<size_t>(all.items()), false);
    for (const SplitFile& split : kSst2Splits) {
      const torch::Tensor ids = read_split(full_path(context, split.path), taken);
      const GraphBatch batch = pick_graphs(all, ids);
      Graph set = as_set(batch, to_string(split.role));
      set.x.dense = vectors.index_select(0, trees.token.index_select(0, batch.nodes));
      add_domain(task, split.use, make_domain(std::move(set), trees.labels.index_select(0, ids)));
    }
    task.notes.push_back(
        "a substitute: not Graph-SST2 (constituency heads, word vectors instead of BERT)");
    return task;
  }
};

}  // namespace

std::unique_ptr<Dataset> make_sst2_tree() {
  return std::make_unique<Sst2Tree>();
}

}  // namespace grm
