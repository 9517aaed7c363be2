// Graph-SST2: sentences as dependency graphs, tokens with BERT vectors, the sentiment as label.
//
// Both splits go by q = directed edges / nodes of a graph, every arc counted in both directions,
// and leave out graphs of at most two directed edges. They run in opposite directions.
#include <torch/types.h>

#include <algorithm>

#include "data/graph_sets.h"
#include "data/makers.h"
#include "data/sentences.h"

namespace grm {
namespace {

constexpr double kTrainFrom = 1.76785714, kTestUpTo = 1.57142857;  // q in DIR's split
constexpr int64_t kFewestEdges = 3;

enum class SstSplit { dir, percentile };
GRM_WORDS(SstSplit, "dir", "percentile")

struct SentenceSplit {
  std::vector<int64_t> train, validation, test;
};

// DIR: dense graphs train, sparse ones test; the first tenth of the former validates.
SentenceSplit split_dir(const std::vector<int64_t>& nodes, const std::vector<int64_t>& edges) {
  SentenceSplit split;
  std::vector<int64_t> pool;
  for (size_t g = 0; g < nodes.size(); ++g) {
    if (edges[g] < kFewestEdges) continue;
    const double q = static_cast<double>(edges[g]) / static_cast<double>(nodes[g]);
    if (q >= kTrainFrom) {
      pool.push_back(static_cast<int64_t>(g));
    } else if (q <= kTestUpTo) {
      split.test.push_back(static_cast<int64_t>(g));
    }
  }
  const auto tenth = pool.begin() + static_cast<int64_t>(static_cast<double>(pool.size()) * 0.1);
  split.validation.assign(pool.begin(), tenth);
  split.train.assign(tenth, pool.end());
  return split;
}

// CIGA and GALA: q up to the median of all graphs trains, above the 80th percentile tests; a tenth
// of all, taken from the front of what lies between, validates.
SentenceSplit split_percentile(const std::vector<int64_t>& nodes,
                               const std::vector<int64_t>& edges) {
  std::vector<double> q(nodes.size());
  for (size_t g = 0; g < q.size(); ++g) {
    q[g] = static_cast<double>(edges[g]) / static_cast<double>(nodes[g]);
  }
  std::vector<double> sorted = q;
  std::sort(sorted.begin(), sorted.end());
  const double median = quantile_of(sorted, 0.5), high = quantile_of(sorted, 0.8);
  const auto most = static_cast<size_t>(static_cast<double>(q.size()) * 0.1 + 0.5);
  SentenceSplit split;
  for (size_t g = 0; g < q.size(); ++g) {
    if (edges[g] < kFewestEdges) continue;
    if (q[g] <= median) {
      split.train.push_back(static_cast<int64_t>(g));
    } else if (q[g] > high) {
      split.test.push_back(static_cast<int64_t>(g));
    } else if (split.validation.size() < most) {
      split.validation.push_back(static_cast<int64_t>(g));
    }
  }
  return split;
}

class GraphSst2 final : public Dataset {
 public:
  void declare(OptionList& list) override {
    list.choice("split", split_,
                "dir: from large to small sentences; percentile (CIGA, GALA): from small to large");
  }

  std::vector<std::string> files() const override { return paths_of({sentence_source("SST2")}); }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "graph-sst2";
    task.level = Level::graph;
    task.classes = 2;
    const Source source = require_sources(context, {sentence_source("SST2")}, task).front();
    const Sentences sentences = read_sentences(context, source);
    const SentenceSplit split = split_ == SstSplit::dir
                                    ? split_dir(sentences.nodes, sentences.edges)
                                    : split_percentile(sentences.nodes, sentences.edges);
    task.training.push_back(pick_sentences(sentences, torch::tensor(split.train, torch::kInt64),
                                           to_string(Role::train)));
    task.validation.push_back(pick_sentences(
        sentences, torch::tensor(split.validation, torch::kInt64), to_string(Role::validation)));
    task.test.push_back(
        pick_sentences(sentences, torch::tensor(split.test, torch::kInt64), to_string(Role::test)));
    task.notes.push_back(
        fmt::format("split {}: not to be compared with the other one", to_string(split_)));
    return task;
  }

 private:
  SstSplit split_ = SstSplit::dir;
};

}  // namespace

std::unique_ptr<Dataset> make_graph_sst2() {
  return std::make_unique<GraphSst2>();
}

}  // namespace grm
