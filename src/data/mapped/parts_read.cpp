#include "data/mapped/parts_read.h"

#include <torch/types.h>

#include "data/mapped/folder_reader.h"
#include "data/mapped/parted_graph.h"
#include "data/mapped/parts_head.h"
#include "grm/core/error.h"

namespace grm::mapped {
namespace {

class PartsFolder final : public FolderReader {
 public:
  PartsFolder(const std::string& folder, PartsHead head, const PartsPlace& place)
      : FolderReader(folder, head.whole), parts_(std::move(head)), place_(place) {}

  void verify() const {
    for (size_t k = 0; k < head_.graphs.size(); ++k) {
      for (const std::string what : {"y", "shift"}) {
        const auto found = head_.graphs[k].arrays.find(what);
        if (found == head_.graphs[k].arrays.end()) continue;
        verify_array(path_of("graph", k, what, found->second), found->second);
      }
      verify_array(path_of("graph", k, "where", parts_.graphs[k].where), parts_.graphs[k].where);
      for (int64_t p = 0; p < parts_.parts; ++p) {
        for (const auto& [what, about] : part(k, p).arrays) {
          verify_array(part_file(folder_, p, k, what, about.type), about);
        }
      }
    }
    for (size_t k = 0; k < head_.domains.size(); ++k) {
      for (const auto& [what, about] : head_.domains[k].arrays) {
        verify_array(path_of("domain", k, what, about), about);
      }
    }
  }

 private:
  const PartHead& part(size_t graph, int64_t p) const {
    return parts_.graphs[graph].parts[static_cast<size_t>(p)];
  }

  // Of a part; undefined where the graph has no such array.
  MappedArray array_of_part(size_t graph, int64_t p, const std::string& what) const {
    const Array& about = part(graph, p).arrays.at(what);
    return MappedArray(part_file(folder_, p, graph, what, about.type), about);
  }

  torch::Tensor numbers_of_part(size_t graph, int64_t p, const std::string& what) const {
    if (part(graph, p).arrays.count(what) == 0) return {};
    const MappedArray mapped = array_of_part(graph, p, what);
    mapped.rest();
    return mapped.tensor;
  }

  Csr rows_of_part(size_t graph, int64_t p, const std::string& prefix, int64_t cols) const {
    const MappedArray offsets = array_of_part(graph, p, prefix + "offsets");
    const MappedArray indices = array_of_part(graph, p, prefix + "indices");
    Csr rows;
    rows.rows = part(graph, p).nodes;
    rows.cols = cols;
    check_rows(offsets, indices, rows.rows, cols);
    rows.offsets = offsets.tensor;
    rows.indices = indices.tensor;
    return rows;
  }

  // Rows of each part follow the order of its nodes, so that one walk tells whether all are there.
  torch::Tensor where(size_t graph) const {
    const Array& about = parts_.graphs[graph].where;
    const MappedArray mapped(path_of("graph", graph, "where", about), about);
    const auto* place = mapped.tensor.data_ptr<int64_t>();
    std::vector<int64_t> next(static_cast<size_t>(parts_.parts), 0);
    for (int64_t k = 0; k < about.count; ++k) {
      const int64_t p = place[k] >> 32;
      if (p < 0 || p >= parts_.parts ||
          (place[k] & int64_t{0xffffffff}) != next[static_cast<size_t>(p)]++) {
        mapped.damaged(fmt::format("entry {} is no place of a node", k));
      }
    }
    for (int64_t p = 0; p < parts_.parts; ++p) {
      if (next[static_cast<size_t>(p)] == part(graph, p).nodes) continue;
      mapped.damaged(fmt::format("part {} has other nodes than its head says", p));
    }
    mapped.rest();
    return mapped.tensor;
  }

  Domain read_graph(size_t k) const override {
    const GraphHead& g = head_.graphs[k];
    PartsOfGraph all;
    all.nodes = g.nodes;
    all.edges = g.edges;
    all.dense = g.dense;
    all.sparse = g.sparse;
    all.edge_features = g.edge_features;
    all.weighted = g.arrays.count("edge_weights") > 0;
    all.sparse_valued = g.arrays.count("sparse_values") > 0;
    all.where = where(k);
    all.shift = numbers(k, "shift");
    all.parts.resize(static_cast<size_t>(parts_.parts));
    for (int64_t p = place_.processes->rank(); p < parts_.parts; p += place_.processes->world()) {
      PartRows& rows = all.parts[static_cast<size_t>(p)];
      rows.in = rows_of_part(k, p, "in_", g.nodes);
      if (g.sparse > 0) rows.sparse = rows_of_part(k, p, "sparse_", g.sparse);
      rows.sparse_values = numbers_of_part(k, p, "sparse_values");
      rows.x = numbers_of_part(k, p, "x");
      rows.edge_weights = numbers_of_part(k, p, "edge_weights");
      rows.edge_x = numbers_of_part(k, p, "edge_x");
    }
    Domain domain;
    domain.graph = outline(g, all);
    domain.graph.parted =
        parted_graph(std::move(all), place_.processes, place_.row_cache_mib << 20);
    domain.labels.y = labels(k);
    return domain;
  }

  // What every graph says of itself, without rows.
  static Graph outline(const GraphHead& g, const PartsOfGraph& all) {
    Graph graph;
    graph.name = g.name;
    auto edges = std::make_shared<Adjacency>();
    edges->in.rows = edges->in.cols = edges->out.rows = edges->out.cols = g.nodes;
    graph.edges = std::move(edges);
    if (all.dense > 0) graph.x.dense = torch::empty({0, all.dense}, torch::kFloat32);
    if (all.sparse > 0) {
      Csr none;
      none.cols = all.sparse;
      none.offsets = torch::zeros({1}, torch::kInt64);
      none.indices = torch::empty({0}, torch::kInt32);
      graph.x.sparse = with_transpose(std::move(none));
      if (all.sparse_valued) graph.x.sparse_values = torch::empty({0}, torch::kFloat32);
    }
    graph.x.shift = all.shift;
    if (all.weighted) graph.edge_weights = torch::empty({0}, torch::kFloat32);
    if (all.edge_features > 0) {
      graph.edge_x.dense = torch::empty({0, all.edge_features}, torch::kFloat32);
    }
    return graph;
  }

  PartsHead parts_;
  PartsPlace place_;
};

}  // namespace

Task load_parts(const std::string& folder, const PartsPlace& place) {
  PartsHead head = read_parts_head(folder);
  if (!place.processes) {
    fail(ErrorKind::config,
         "{} holds graphs in parts, which 'grm train' and 'grm bench' read; give the folder that "
         "was cut",
         folder);
  }
  const std::string hash = head.whole_hash;
  Task task = PartsFolder(folder, std::move(head), place).task();
  task.hashes[kHeadFile] = hash;  // the same data as before it was cut
  return task;
}

void verify_parts(const std::string& folder) {
  const PartsFolder reader(folder, read_parts_head(folder), {dist::alone()});
  reader.task();
  reader.verify();
}

}  // namespace grm::mapped
