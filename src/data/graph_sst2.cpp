// Graph-SST2: sentences as dependency graphs, tokens with BERT vectors, the sentiment as label.
//
// The format is the one that the loaders of its publishers read (divelab/DIG, taken over by
// Wuyxin/DIR-GNN and LFhase/CIGA); the files themselves were not to be had, so nothing here has met
// them. In raw/, under the names Graph_SST2_* or Graph-SST2_*:
//   node_indicator.txt  the graph of each node, from 1, ascending
//   graph_labels.txt    the label of each graph
//   edge_index.txt      two node numbers a line, from 0 and counted through all graphs; one arc
//   node_features.pkl   a pickled NumPy array of floats, a row for each node
// sentence_tokens.json and split_indices.txt lie beside them and are not used by either split.
//
// Both splits go by q = directed edges / nodes of a graph, every arc counted in both directions,
// and leave out graphs of at most two directed edges. They run in opposite directions.
#include <torch/types.h>

#include <algorithm>
#include <charconv>

#include "data/graph_sets.h"
#include "data/makers.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "io/csv.h"
#include "io/planetoid.h"

namespace grm {
namespace {

constexpr double kTrainFrom = 1.76785714, kTestUpTo = 1.57142857;  // q in DIR's split
constexpr int64_t kFewestEdges = 3;

SourceFile raw_file(const std::string& rest) {
  return {"Graph_SST2/raw/Graph_SST2_" + rest, "Graph-SST2/raw/Graph-SST2_" + rest};
}

// The whole numbers of every line, `count` on each, separated by blanks or commas.
std::vector<int64_t> read_integers(const std::string& path, size_t count) {
  std::vector<int64_t> numbers;
  constexpr char kNoSeparator = '\0';
  io::read_csv(
      path,
      [&](const io::CsvRow& row) {
        const std::string_view text = row.text(0);
        size_t found = 0;
        for (size_t at = text.find_first_not_of(" \t,"); at != std::string_view::npos; ++found) {
          int64_t value = 0;
          const char* end = text.data() + text.size();
          const auto [stop, code] = std::from_chars(text.data() + at, end, value);
          if (code != std::errc() ||
              (stop != end && std::string_view(" \t,").find(*stop) == std::string_view::npos)) {
            fail(ErrorKind::data, "{}:{}: '{}' is not {} whole number(s)", path, row.line,
                 text.substr(0, 60), count);
          }
          numbers.push_back(value);
          at = text.find_first_not_of(" \t,", static_cast<size_t>(stop - text.data()));
        }
        if (found != count) {
          fail(ErrorKind::data, "{}:{}: {} numbers, expected {}", path, row.line, found, count);
        }
      },
      kNoSeparator);
  return numbers;
}

// Number of nodes of each graph.
std::vector<int64_t> read_sizes(const std::string& path, size_t graphs) {
  std::vector<int64_t> sizes(graphs, 0);
  const std::vector<int64_t> owner = read_integers(path, 1);
  int64_t before = 1;
  for (size_t k = 0; k < owner.size(); ++k) {
    if (owner[k] < before || owner[k] > static_cast<int64_t>(graphs)) {
      fail(ErrorKind::data, "{}:{}: graph {} after {} in a list that ascends to {}", path, k + 1,
           owner[k], before, graphs);
    }
    before = owner[k];
    ++sizes[before - 1];
  }
  return sizes;
}

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

  std::vector<std::string> files() const override {
    std::vector<std::string> all;
    for (const SourceFile& file : raw_files()) all.push_back(file.path);
    return all;
  }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "graph-sst2";
    task.level = Level::graph;
    task.classes = 2;
    const Source source = require_sources(context, {{"", Use::all, raw_files()}}, task).front();
    const auto path = [&](size_t k) { return full_path(context, source.files[k].path); };
    const std::vector<int64_t> labels = read_integers(path(1), 1);
    const std::vector<int64_t> nodes = read_sizes(path(0), labels.size());
    const auto empty = std::find(nodes.begin(), nodes.end(), 0);
    if (labels.empty() || empty != nodes.end()) {
      fail(ErrorKind::data, "{}: graph {} has no node", path(0), empty - nodes.begin() + 1);
    }
    Graph all;
    all.parts = parts_of(nodes);
    const std::vector<int64_t> edges = read_edges(path(2), all);
    all.x.dense = read_features(path(3), all.nodes());
    const SentenceSplit split =
        split_ == SstSplit::dir ? split_dir(nodes, edges) : split_percentile(nodes, edges);
    const torch::Tensor y = torch::tensor(labels, torch::kInt64);
    task.training.push_back(make_split(all, y, split.train, Role::train));
    task.validation.push_back(make_split(all, y, split.validation, Role::validation));
    task.test.push_back(make_split(all, y, split.test, Role::test));
    task.notes.push_back(
        fmt::format("split {}: not to be compared with the other one", to_string(split_)));
    return task;
  }

 private:
  static std::vector<SourceFile> raw_files() {
    return {raw_file("node_indicator.txt"), raw_file("graph_labels.txt"),
            raw_file("edge_index.txt"), raw_file("node_features.pkl")};
  }

  // Packs the edges and returns the directed ones of each graph, an arc counted twice.
  static std::vector<int64_t> read_edges(const std::string& path, Graph& all) {
    const std::vector<int64_t> numbers = read_integers(path, 2);
    const auto pairs = torch::tensor(numbers, torch::kInt64).reshape({-1, 2});
    try {
      all.edges = pack_both_ways(all.parts, pairs.select(1, 0), pairs.select(1, 1)).edges;
    } catch (const Error& error) {
      fail(ErrorKind::data, "{}: {}", path, error.what());
    }
    std::vector<int64_t> counts(static_cast<size_t>(all.items()), 0);
    const int64_t* part = all.parts.data_ptr<int64_t>();
    for (size_t k = 0; k < numbers.size(); k += 2) {
      counts[std::upper_bound(part, part + all.items() + 1, numbers[k]) - part - 1] += 2;
    }
    return counts;
  }

  static torch::Tensor read_features(const std::string& path, int64_t nodes) {
    const torch::Tensor x = io::read_pickled_array(path);
    if (x.dim() != 2 || x.size(0) != nodes) {
      fail(ErrorKind::data,
           "{}: an array of {} numbers in {} dimensions, a row for each of {} nodes"
           " is needed",
           path, x.numel(), x.dim(), nodes);
    }
    return x.to(torch::kFloat32);
  }

  static Domain make_split(const Graph& all, const torch::Tensor& y,
                           const std::vector<int64_t>& ids, Role role) {
    const torch::Tensor chosen = torch::tensor(ids, torch::kInt64);
    Domain domain = make_domain(pick_set(all, chosen, to_string(role)), y.index_select(0, chosen));
    domain.labels.loss = domain.labels.evaluate =
        torch::nonzero(domain.labels.y.ge(0)).reshape({-1});
    return domain;
  }

  SstSplit split_ = SstSplit::dir;
};

}  // namespace

std::unique_ptr<Dataset> make_graph_sst2() {
  return std::make_unique<GraphSst2>();
}

}  // namespace grm
