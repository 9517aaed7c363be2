// Sentences as dependency graphs.
//
// The format is the one that the loaders of its publishers read (divelab/DIG, taken over by
// Wuyxin/DIR-GNN and LFhase/CIGA); the files themselves were not to be had, so nothing here has met
// them. In raw/, under the names Graph_SST2_* or Graph-SST2_*
// (Twitter for SST2 in the other set):
//   node_indicator.txt  the graph of each node, from 1, ascending
//   graph_labels.txt    the label of each graph
//   edge_index.txt      two node numbers a line, from 0 and counted through all graphs; one arc
//   node_features.pkl   a pickled NumPy array of floats, a row for each node
// sentence_tokens.json and split_indices.txt lie beside them and are not used.
#include "data/sentences.h"

#include <torch/types.h>

#include <algorithm>
#include <charconv>

#include "data/graph_sets.h"
#include "grm/core/error.h"
#include "io/csv.h"
#include "io/planetoid.h"

namespace grm {
namespace {

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

// Packs the edges and returns the directed ones of each graph, an arc counted twice.
std::vector<int64_t> read_arcs(const std::string& path, Graph& all) {
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

torch::Tensor read_token_vectors(const std::string& path, int64_t nodes) {
  const torch::Tensor x = io::read_pickled_array(path);
  if (x.dim() != 2 || x.size(0) != nodes) {
    fail(ErrorKind::data,
         "{}: an array of {} numbers in {} dimensions, a row for each of {} nodes"
         " is needed",
         path, x.numel(), x.dim(), nodes);
  }
  return x.to(torch::kFloat32);
}

}  // namespace

Source sentence_source(const std::string& name) {
  Source source;
  for (const char* rest :
       {"node_indicator.txt", "graph_labels.txt", "edge_index.txt", "node_features.pkl"}) {
    source.files.push_back({"Graph_" + name + "/raw/Graph_" + name + "_" + rest,
                            "Graph-" + name + "/raw/Graph-" + name + "_" + rest});
  }
  return source;
}

Sentences read_sentences(const DataContext& context, const Source& source) {
  const auto path = [&](size_t k) { return full_path(context, source.files.at(k).path); };
  Sentences sentences;
  const std::vector<int64_t> labels = read_integers(path(1), 1);
  sentences.nodes = read_sizes(path(0), labels.size());
  const auto empty = std::find(sentences.nodes.begin(), sentences.nodes.end(), 0);
  if (labels.empty() || empty != sentences.nodes.end()) {
    fail(ErrorKind::data, "{}: graph {} has no node", path(0), empty - sentences.nodes.begin() + 1);
  }
  sentences.y = torch::tensor(labels, torch::kInt64);
  sentences.all.parts = parts_of(sentences.nodes);
  sentences.edges = read_arcs(path(2), sentences.all);
  sentences.all.x.dense = read_token_vectors(path(3), sentences.all.nodes());
  return sentences;
}

Domain pick_sentences(const Sentences& sentences, const torch::Tensor& ids,
                      const std::string& name) {
  Domain domain = make_domain(pick_set(sentences.all, ids, name), sentences.y.index_select(0, ids));
  domain.labels.loss = domain.labels.evaluate = torch::nonzero(domain.labels.y.ge(0)).reshape({-1});
  return domain;
}

}  // namespace grm
