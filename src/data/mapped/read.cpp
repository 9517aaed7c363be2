#include "data/mapped/read.h"

#include <torch/types.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "core/files.h"
#include "core/system/mapped_file.h"
#include "data/mapped/head.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"

namespace grm::mapped {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kBothWays = int64_t{1} << 22;  // pairs of a graph whose transpose is made
constexpr int64_t kRowsAtOnce = 1 << 16;

torch::ScalarType type_of(Number type) {
  if (type == Number::f32) return torch::kFloat32;
  return type == Number::i32 ? torch::kInt32 : torch::kInt64;
}

std::string folder_of(const std::string& path) {
  const fs::path given(path);
  const fs::path folder = given.filename() == kHeadFile ? given.parent_path() : given;
  return folder.empty() ? "." : folder.string();
}

Head read_head(const std::string& folder) {
  const std::string path = folder + "/" + kHeadFile;
  return head_from_json(read_file(path), path);
}

// One array, mapped.
class MappedArray {
 public:
  MappedArray(const std::string& path, const Array& about) : path_(path) {
    std::error_code code;
    if (!fs::exists(path, code)) {
      fail(ErrorKind::data, "{}: the file is missing; write the data again", path);
    }
    file_ = std::make_shared<MappedFile>(path);
    const auto expected = static_cast<size_t>(about.count * size_of(about.type));
    if (file_->size() != expected) {
      fail(ErrorKind::data,
           "{}: {} bytes, expected {}: the file was cut short or belongs to other data; write the "
           "data again",
           path, file_->size(), expected);
    }
    tensor = torch::empty({0}, type_of(about.type));
    if (about.count > 0) {
      auto* bytes = const_cast<char*>(file_->bytes());  // NOLINT: nobody writes to data
      tensor = torch::from_blob(
          bytes, {about.count}, [file = file_](void*) {}, type_of(about.type));
    }
    file_->read_in_order();
  }
  /// Error(data) at the first number for which `fine` says no.
  template <class Fine>
  void check(int64_t count, const char* what, const Fine& fine) const {
    std::atomic<int64_t> first{count};
    parallel_chunks(count, kRowsAtOnce, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        if (fine(k)) continue;
        int64_t known = first.load();
        while (k < known && !first.compare_exchange_weak(known, k)) {
        }
        return;
      }
    });
    if (first.load() < count) damaged(fmt::format("entry {} {}", first.load(), what));
  }
  [[noreturn]] void damaged(const std::string& why) const {
    fail(ErrorKind::data, "{}: {}: the file is damaged; write the data again", path_, why);
  }
  /// What was looked through is given up; training comes here and there.
  void rest() const {
    file_->forget();
    file_->read_here_and_there();
  }
  std::string checksum() const {
    constexpr size_t kPiece = size_t{1} << 26;
    Checksum sum;
    for (size_t at = 0; at < file_->size(); at += kPiece) {
      sum.add(file_->bytes() + at, std::min(kPiece, file_->size() - at));
    }
    file_->forget();
    return sum.text();
  }
  torch::Tensor tensor;

 private:
  std::string path_;
  std::shared_ptr<MappedFile> file_;
};

class FolderReader {
 public:
  explicit FolderReader(const std::string& path) : folder_(folder_of(path)) {
    head_ = read_head(folder_);
  }

  Task task() const {
    Task task;
    task.name = head_.name;
    task.classes = head_.classes;
    task.loss = head_.loss;
    task.metric = head_.metric;
    task.label_names = head_.label_names;
    task.feature_names = head_.feature_names;
    task.notes = head_.notes;
    std::vector<Domain> graphs;
    for (size_t k = 0; k < head_.graphs.size(); ++k) graphs.push_back(read_graph(k));
    for (size_t k = 0; k < head_.domains.size(); ++k) {
      const DomainHead& d = head_.domains[k];
      Domain domain = graphs[d.graph];
      domain.name = d.name;
      domain.group = d.group;
      domain.labels.loss = list_of(k, "loss", domain.labels.y);
      domain.labels.evaluate = list_of(k, "evaluate", domain.labels.y);
      std::vector<Domain>* const of_role[] = {&task.training, &task.validation, &task.test};
      of_role[static_cast<size_t>(d.role)]->push_back(std::move(domain));
    }
    if (task.training.empty()) {
      fail(ErrorKind::data, "{}/{}: no domain is for training", folder_, kHeadFile);
    }
    task.hashes[kHeadFile] = sha256_file(folder_ + "/" + kHeadFile);
    return task;
  }

  void verify() const {
    const auto all = [&](const char* owner, size_t place, const Arrays& arrays) {
      for (const auto& [what, about] : arrays) {
        const std::string path = path_of(owner, place, what, about);
        const std::string found = MappedArray(path, about).checksum();
        if (found == about.checksum) continue;
        fail(ErrorKind::data,
             "{}: its checksum is {}, expected {}: the file is damaged; write the "
             "data again",
             path, found, about.checksum);
      }
    };
    for (size_t k = 0; k < head_.graphs.size(); ++k) all("graph", k, head_.graphs[k].arrays);
    for (size_t k = 0; k < head_.domains.size(); ++k) all("domain", k, head_.domains[k].arrays);
  }

 private:
  std::string path_of(const char* owner, size_t place, const std::string& what,
                      const Array& about) const {
    return folder_ + "/" + array_file(owner, place, what, about.type);
  }

  MappedArray array(size_t graph, const std::string& what) const {
    const Array& about = head_.graphs[graph].arrays.at(what);
    return MappedArray(path_of("graph", graph, what, about), about);
  }

  // An array that says nothing of where to look; undefined where it is not there.
  torch::Tensor numbers(size_t graph, const std::string& what, int64_t columns = 0) const {
    if (head_.graphs[graph].arrays.count(what) == 0) return {};
    const MappedArray mapped = array(graph, what);
    mapped.rest();
    return columns > 0 ? mapped.tensor.view({-1, columns}) : mapped.tensor;
  }

  AdjacencyPtr pattern(size_t graph, const std::string& prefix, int64_t rows, int64_t cols,
                       bool symmetric) const {
    const MappedArray offsets = array(graph, prefix + "offsets");
    const MappedArray indices = array(graph, prefix + "indices");
    const auto* offset = offsets.tensor.data_ptr<int64_t>();
    const int64_t count = indices.tensor.numel();
    offsets.check(rows + 1, "does not ascend from 0 to the number of entries", [&](int64_t k) {
      return k == 0 ? offset[0] == 0
                    : offset[k] >= offset[k - 1] && offset[k] <= count &&
                          (k < rows || offset[k] == count);
    });
    if (rows == 0 && offset[0] != count) offsets.damaged("it does not end at the last entry");
    const int32_t* index = count > 0 ? indices.tensor.data_ptr<int32_t>() : nullptr;
    indices.check(rows, "(a row) does not ascend inside the graph", [&](int64_t i) {
      int32_t before = -1;
      for (int64_t e = offset[i]; e < offset[i + 1]; ++e) {
        if (index[e] <= before || index[e] >= cols) return false;
        before = index[e];
      }
      return true;
    });
    offsets.rest();
    indices.rest();
    Csr in;
    in.rows = rows;
    in.cols = cols;
    in.offsets = offsets.tensor;
    in.indices = indices.tensor;
    if (count <= kBothWays) return with_transpose(std::move(in));
    auto one_way = std::make_shared<Adjacency>();
    if (symmetric) one_way->out = in;  // without ids of edges
    one_way->in = std::move(in);
    return one_way;
  }

  Domain read_graph(size_t place) const {
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
    const MappedArray y = array(place, "y");
    const auto* label = y.tensor.data_ptr<int64_t>();
    y.check(g.nodes, "is no class",
            [&](int64_t k) { return label[k] >= -1 && label[k] < head_.classes; });
    domain.labels.y = y.tensor;  // read in order once more, beside the lists of nodes
    return domain;
  }

  torch::Tensor list_of(size_t domain, const char* what, const torch::Tensor& y) const {
    const Array& about = head_.domains[domain].arrays.at(what);
    const MappedArray list(path_of("domain", domain, what, about), about);
    if (about.count == 0) return list.tensor;
    const auto *node = list.tensor.data_ptr<int64_t>(), *label = y.data_ptr<int64_t>();
    list.check(about.count, "is no node with a label, or out of order", [&](int64_t k) {
      return node[k] >= 0 && node[k] < y.numel() && (k == 0 || node[k] > node[k - 1]) &&
             label[node[k]] >= 0;
    });
    list.rest();
    return list.tensor;
  }

  std::string folder_;
  Head head_;
};

}  // namespace

bool is_mapped(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(folder_of(path)) / kHeadFile, ignored);
}

std::string name_of(const std::string& path) {
  return read_head(folder_of(path)).name;
}

Task load(const std::string& path) {
  return FolderReader(path).task();
}

void verify(const std::string& path) {
  const FolderReader reader(path);
  reader.task();
  reader.verify();
}

}  // namespace grm::mapped
