// NCI1, NCI109 and PROTEINS by size, as Bevilacqua, Zhou and Ribeiro (ICML 2021) and CIGA cut them:
// graphs with at most the median number of nodes train, nine in ten, and validate, one in ten; those
// at or above the 90th percentile test. What lies between is left over there; here it is the shifted
// validation set, for those who want to choose by it.
//
// Files of the authors of DGCNN: the number of graphs; for each its numbers of nodes and label; for
// each node its tag, its degree and its neighbours, counted inside the graph.
#include <torch/types.h>

#include <algorithm>
#include <filesystem>

#include "data/binary_notes.h"
#include "data/good/protocol.h"
#include "data/graph_sets.h"
#include "data/makers.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/core/rng.h"
#include "io/csv.h"

namespace grm {
namespace {

using good::Subset;

constexpr int64_t kSizeEnvironments = 10;
constexpr int64_t kMostTags = 1 << 16;
constexpr double kSmall = 0.5, kLarge = 0.9, kValidates = 0.1;

struct TaggedGraphs {
  std::vector<int64_t> sizes, labels, tags;
  std::vector<int64_t> source, target;  // counted through the set

  int64_t width() const {
    return tags.empty() ? 0 : *std::max_element(tags.begin(), tags.end()) + 1;
  }
};

TaggedGraphs read_tagged_graphs(const std::string& path) {
  TaggedGraphs read;
  int64_t graphs = -1, first = 0, left = 0;
  const auto node = [&](const io::CsvRow& row) {
    const int64_t size = read.sizes.back(), at = first + size - left--;
    const int64_t tag = row.parse_int(0), degree = row.parse_int(1);
    if (tag < 0 || tag >= kMostTags) {
      fail(ErrorKind::data, "{}:{}: the tag {} is outside 0..{}", path, row.line, tag,
           kMostTags - 1);
    }
    if (degree < 0 || degree >= row.size()) {
      fail(ErrorKind::data, "{}:{}: {} numbers behind a degree of {}", path, row.line,
           row.size() - 2, degree);
    }
    row.expect_size(2 + degree);
    read.tags.push_back(tag);
    for (int64_t k = 2; k < row.size(); ++k) {
      const int64_t neighbour = row.parse_int(k);
      if (neighbour < 0 || neighbour >= size) {
        fail(ErrorKind::data, "{}:{}: the neighbour {} is outside the nodes 0..{} of its graph",
             path, row.line, neighbour, size - 1);
      }
      read.source.push_back(first + neighbour);
      read.target.push_back(at);
    }
    if (left == 0) first += size;
  };
  io::read_csv(
      path,
      [&](const io::CsvRow& row) {
        if (graphs < 0) {
          row.expect_size(1);
          graphs = row.parse_int(0);
          return;
        }
        if (left > 0) return node(row);
        row.expect_size(2);
        const int64_t size = row.parse_int(0), label = row.parse_int(1);
        if (size < 1 || size > INT32_MAX || label < 0 || label > 1) {
          fail(ErrorKind::data,
               "{}:{}: a graph of {} nodes with label {}; expected 1 or more, and 0 "
               "or 1",
               path, row.line, size, label);
        }
        read.sizes.push_back(size);
        read.labels.push_back(label);
        left = size;
      },
      ' ');
  if (left > 0 || graphs != static_cast<int64_t>(read.sizes.size())) {
    fail(ErrorKind::data, "{}: ends within graph {} of {}", path, read.sizes.size(), graphs);
  }
  return read;
}

// One column for each tag below `width`; a node with another tag has none.
Domain tagged_set(const TaggedGraphs& graphs, int64_t width, const std::string& name) {
  Graph set;
  set.name = name;
  set.parts = parts_of(graphs.sizes);
  set.edges = pack_edges(set.parts, torch::tensor(graphs.source, torch::kInt64),
                         torch::tensor(graphs.target, torch::kInt64))
                  .edges;
  std::vector<int64_t> node, column;
  for (size_t i = 0; i < graphs.tags.size(); ++i) {
    if (graphs.tags[i] >= width) continue;
    node.push_back(static_cast<int64_t>(i));
    column.push_back(graphs.tags[i]);
  }
  const size_t unknown = graphs.tags.size() - node.size();
  if (unknown > 0) {
    log_warning("{}: {} nodes have a tag that training did not know", name, unknown);
  }
  set.x.sparse =
      make_adjacency(static_cast<int64_t>(graphs.tags.size()), width,
                     torch::tensor(column, torch::kInt64), torch::tensor(node, torch::kInt64));
  return make_domain(std::move(set), torch::tensor(graphs.labels, torch::kInt64));
}

class SizeSet final : public Dataset {
 public:
  SizeSet(std::string name, const std::string& file)
      : name_(std::move(name)), file_("tu/" + file + ".txt") {
    protocol_.choose_by = good::Chooser::id_val;
  }

  void declare(OptionList& list) override {
    protocol_.declare_subsets(list, Level::graph);
    list.add("dataset_seed", dataset_seed_, {0}, "seed of the choice of id_val");
  }
  std::vector<std::string> files() const override { return {file_ + ".gz"}; }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = name_;
    task.level = Level::graph;
    task.classes = 2;
    task.metric = MetricKind::matthews;
    const Source source =
        require_sources(context, {{"", Use::all, {{file_ + ".gz", file_}}}}, task).front();
    const TaggedGraphs graphs = read_tagged_graphs(full_path(context, source.files.front().path));
    const Domain all = tagged_set(graphs, graphs.width(), name_);
    for (int64_t k = 0; k < graphs.width(); ++k) {
      task.feature_names.push_back(fmt::format("tag {}", k));
    }
    protocol_.add_sets(task, split_by_size(graphs.sizes, task),
                       [&](const torch::Tensor& ids, const std::string& name) {
                         return make_domain(pick_set(all.graph, ids, name),
                                            all.labels.y.index_select(0, ids));
                       });
    add_binary_notes(task);
    return task;
  }

  std::string unseen_form() const override {
    return "a .txt file of the authors of DGCNN: number of graphs, then graph by graph 'nodes "
           "label' "
           "and lines of 'tag degree neighbours'";
  }
  bool is_unseen_form(const std::string& path) const override {
    const std::filesystem::path file(path);
    return std::filesystem::is_regular_file(file) &&
           (file.extension() == ".txt" || file.stem().extension() == ".txt");
  }
  std::vector<Domain> load_unseen(const std::string& path,
                                  const std::vector<std::string>& names) const override {
    return {tagged_set(read_tagged_graphs(path), static_cast<int64_t>(names.size()),
                       std::filesystem::path(path).stem().stem().string())};
  }

 private:
  good::Split split_by_size(const std::vector<int64_t>& sizes, Task& task) const {
    std::vector<double> sorted(sizes.begin(), sizes.end());
    std::sort(sorted.begin(), sorted.end());
    const double small = quantile_of(sorted, kSmall), large = quantile_of(sorted, kLarge);
    good::Split split;
    split.environment.assign(sizes.size(), -1);
    std::vector<int64_t> train;
    for (size_t g = 0; g < sizes.size(); ++g) {
      const auto nodes = static_cast<double>(sizes[g]);
      (nodes <= small   ? train
       : nodes >= large ? split[Subset::test]
                        : split[Subset::validation])
          .push_back(static_cast<int64_t>(g));
    }
    good::cut_environments(split, train, sizes, kSizeEnvironments);
    good::take_inside(split, train, kValidates, 0, Rng(static_cast<uint64_t>(dataset_seed_)));
    task.notes.push_back(fmt::format(
        "training graphs have at most {:g} nodes, test graphs at least {:g}", small, large));
    return split;
  }

  std::string name_, file_;
  good::Protocol protocol_;
  int64_t dataset_seed_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> make_nci1() {
  return std::make_unique<SizeSet>("nci1", "NCI1");
}

std::unique_ptr<Dataset> make_nci109() {
  return std::make_unique<SizeSet>("nci109", "NCI109");
}

std::unique_ptr<Dataset> make_proteins() {
  return std::make_unique<SizeSet>("proteins", "PROTEINS");
}

}  // namespace grm
