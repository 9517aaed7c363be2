#include "data/mapped/read.h"

#include <torch/types.h>

#include <filesystem>

#include "core/files.h"
#include "data/mapped/folder_reader.h"
#include "data/mapped/parts_head.h"
#include "data/mapped/parts_read.h"
#include "grm/core/error.h"

namespace grm::mapped {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kBothWays = int64_t{1} << 22;  // pairs of a graph whose transpose is made

bool has_file(const std::string& path, const std::string& name) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(folder_of(path)) / name, ignored);
}

class WholeReader final : public FolderReader {
 public:
  explicit WholeReader(const std::string& folder) : FolderReader(folder, read_head(folder)) {}

  void verify() const {
    const auto all = [&](const char* owner, size_t place, const Arrays& arrays) {
      for (const auto& [what, about] : arrays) {
        verify_array(path_of(owner, place, what, about), about);
      }
    };
    for (size_t k = 0; k < head_.graphs.size(); ++k) all("graph", k, head_.graphs[k].arrays);
    for (size_t k = 0; k < head_.domains.size(); ++k) all("domain", k, head_.domains[k].arrays);
  }

 private:
  AdjacencyPtr pattern(size_t graph, const std::string& prefix, int64_t rows, int64_t cols,
                       bool symmetric) const {
    const MappedArray offsets = array(graph, prefix + "offsets");
    const MappedArray indices = array(graph, prefix + "indices");
    check_rows(offsets, indices, rows, cols);
    Csr in;
    in.rows = rows;
    in.cols = cols;
    in.offsets = offsets.tensor;
    in.indices = indices.tensor;
    if (in.nnz() <= kBothWays) return with_transpose(std::move(in));
    auto one_way = std::make_shared<Adjacency>();
    if (symmetric) one_way->out = in;  // without ids of edges
    one_way->in = std::move(in);
    return one_way;
  }

  Domain read_graph(size_t place) const override {
    const GraphHead& g = head_.graphs[place];
    Domain domain;
    Graph& graph = domain.graph;
    graph.name = g.name;
    graph.edges = pattern(place, "in_", g.nodes, g.nodes, g.symmetric);
    if (g.dense > 0) graph.x.dense = numbers(place, "x", g.dense);
    if (g.sparse > 0) {
      graph.x.sparse = pattern(place, "sparse_", g.nodes, g.sparse, false);
      graph.x.sparse_values = numbers(place, "sparse_values");
    }
    graph.x.shift = numbers(place, "shift");
    graph.edge_weights = numbers(place, "edge_weights");
    if (g.edge_features > 0) graph.edge_x.dense = numbers(place, "edge_x", g.edge_features);
    domain.labels.y = labels(place);
    return domain;
  }
};

}  // namespace

std::string folder_of(const std::string& path) {
  const fs::path given(path);
  const bool head = given.filename() == kHeadFile || given.filename() == kPartsFile;
  const fs::path folder = head ? given.parent_path() : given;
  return folder.empty() ? "." : folder.string();
}

bool is_mapped(const std::string& path) {
  return has_file(path, kHeadFile) || in_parts(path);
}

bool in_parts(const std::string& path) {
  return has_file(path, kPartsFile);
}

std::string name_of(const std::string& path) {
  return (in_parts(path) ? read_parts_head(folder_of(path)).whole : read_head(folder_of(path)))
      .name;
}

Task load(const std::string& path, const PartsPlace& place) {
  const std::string folder = folder_of(path);
  if (in_parts(path)) return load_parts(folder, place);
  Task task = WholeReader(folder).task();
  task.hashes[kHeadFile] = sha256_file(folder + "/" + kHeadFile);
  return task;
}

void verify(const std::string& path) {
  if (in_parts(path)) return verify_parts(folder_of(path));
  const WholeReader reader(folder_of(path));
  reader.task();
  reader.verify();
}

}  // namespace grm::mapped
