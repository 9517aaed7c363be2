#include "data/mapped/partition.h"

#include <torch/types.h>

#include <filesystem>
#include <functional>
#include <memory>

#include "core/files.h"
#include "data/convert.h"
#include "data/mapped/folder_reader.h"
#include "data/mapped/read.h"
#include "data/mapped/write.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"

namespace grm::mapped {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kHashSeed = 22;

// One file of an array for each part.
class SplitArray {
 public:
  SplitArray(const std::string& folder, size_t graph, const std::string& what, Number type,
             int64_t parts)
      : what_(what) {
    for (int64_t p = 0; p < parts; ++p) {
      files_.push_back(
          std::make_unique<ArrayWriter>(part_file(folder, p, graph, what, type), type));
    }
  }
  void add(int32_t part, const void* numbers, int64_t count) {
    files_[static_cast<size_t>(part)]->add(numbers, count);
  }
  void finish(PartedHead& head) {
    for (size_t p = 0; p < files_.size(); ++p) head.parts[p].arrays[what_] = files_[p]->finish();
  }

 private:
  std::string what_;
  std::vector<std::unique_ptr<ArrayWriter>> files_;
};

class Cutter final : public FolderReader {
 public:
  Cutter(const std::string& path, int64_t parts, PartBy by, std::string out)
      : FolderReader(path, read_head(path)), out_(std::move(out)) {
    cut_.parts = parts;
    cut_.by = by;
    cut_.whole = head_;
    cut_.whole_hash = sha256_file(path + "/" + kHeadFile);
  }

  PartsHead operator()() {
    for (size_t k = 0; k < head_.graphs.size(); ++k) cut_graph(k);
    for (size_t k = 0; k < head_.domains.size(); ++k) {
      for (const auto& [what, about] : head_.domains[k].arrays) copy("domain", k, what, about);
    }
    write_file_atomic(out_ + "/" + kWholeFile, read_file(folder_ + "/" + kHeadFile));
    write_file_atomic(out_ + "/" + kPartsFile, to_json(cut_));
    return read_parts_head(out_);  // what we write, we read
  }

 private:
  Domain read_graph(size_t /*place*/) const override {
    throw InternalError("a folder that is cut is no task");
  }

  void copy(const char* owner, size_t place, const std::string& what, const Array& about) const {
    std::error_code code;
    fs::copy_file(path_of(owner, place, what, about),
                  out_ + "/" + array_file(owner, place, what, about.type),
                  fs::copy_options::overwrite_existing, code);
    if (code) fail(ErrorKind::io, "{}: {} cannot be copied: {}", out_, what, code.message());
  }

  std::vector<int32_t> parts_of(size_t graph) const {
    const GraphHead& g = head_.graphs[graph];
    if (cut_.by == PartBy::metis) {
      Csr in;
      in.rows = in.cols = g.nodes;
      in.offsets = array(graph, "in_offsets").tensor;
      in.indices = array(graph, "in_indices").tensor;
      return parts_by_metis(in, g.symmetric, cut_.parts);
    }
    std::vector<int32_t> part(static_cast<size_t>(g.nodes));
    for (size_t k = 0; k < part.size(); ++k) {
      part[k] = static_cast<int32_t>(mix64(kHashSeed, k) % static_cast<uint64_t>(cut_.parts));
    }
    return part;
  }

  void cut_graph(size_t graph) {
    const MappedArray offsets = array(graph, "in_offsets"), indices = array(graph, "in_indices");
    check_rows(offsets, indices, head_.graphs[graph].nodes, head_.graphs[graph].nodes);
    part_ = parts_of(graph);
    PartedHead head;
    head.parts.resize(static_cast<size_t>(cut_.parts));
    write_where(graph, head);
    write_lists(graph, "in_", head);
    count_edges(offsets.tensor.data_ptr<int64_t>(), indices.tensor, head);
    if (head_.graphs[graph].sparse > 0) write_lists(graph, "sparse_", head);
    write_rows(graph, "x", head_.graphs[graph].dense, head);
    write_values(graph, "sparse_values", "sparse_offsets", 1, head);
    write_values(graph, "edge_weights", "in_offsets", 1, head);
    write_values(graph, "edge_x", "in_offsets", head_.graphs[graph].edge_features, head);
    for (const std::string what : {"y", "shift"}) {
      const auto found = head_.graphs[graph].arrays.find(what);
      if (found != head_.graphs[graph].arrays.end()) copy("graph", graph, what, found->second);
    }
    cut_.graphs.push_back(std::move(head));
  }

  void write_where(size_t graph, PartedHead& head) const {
    ArrayWriter where(out_ + "/" + array_file("graph", graph, "where", Number::i64), Number::i64);
    for (const int32_t p : part_) {
      const int64_t place = static_cast<int64_t>(p) << 32 | head.parts[p].nodes++;
      where.add(&place, 1);
    }
    head.where = where.finish();
  }

  void count_edges(const int64_t* offset, const torch::Tensor& indices, PartedHead& head) const {
    const int32_t* index = indices.numel() > 0 ? indices.data_ptr<int32_t>() : nullptr;
    for (size_t i = 0; i < part_.size(); ++i) {
      PartHead& part = head.parts[part_[i]];
      part.edges += offset[i + 1] - offset[i];
      for (int64_t e = offset[i]; e < offset[i + 1]; ++e) {
        part.cut += part_[index[e]] == part_[i] ? 0 : 1;
      }
    }
  }

  // Offsets and entries of rows of different lengths.
  void write_lists(size_t graph, const std::string& prefix, PartedHead& head) const {
    const MappedArray offsets = array(graph, prefix + "offsets");
    const auto* offset = offsets.tensor.data_ptr<int64_t>();
    SplitArray split(out_, graph, prefix + "offsets", Number::i64, cut_.parts);
    std::vector<int64_t> ends(static_cast<size_t>(cut_.parts), 0);
    for (size_t p = 0; p < ends.size(); ++p) split.add(static_cast<int32_t>(p), &ends[p], 1);
    for (size_t i = 0; i < part_.size(); ++i) {
      ends[part_[i]] += offset[i + 1] - offset[i];
      split.add(part_[i], &ends[part_[i]], 1);
    }
    split.finish(head);
    write_values(graph, prefix + "indices", prefix + "offsets", 1, head);
  }

  // `width` numbers for each entry of the rows of a pattern.
  void write_values(size_t graph, const std::string& what, const std::string& offsets_of,
                    int64_t width, PartedHead& head) const {
    const Arrays& arrays = head_.graphs[graph].arrays;
    if (arrays.count(what) == 0) return;
    const MappedArray offsets = array(graph, offsets_of);
    const auto* offset = offsets.tensor.data_ptr<int64_t>();
    split_array(graph, what, head,
                [&](size_t i) { return std::pair(offset[i] * width, offset[i + 1] * width); });
  }

  // `width` numbers for each node.
  void write_rows(size_t graph, const std::string& what, int64_t width, PartedHead& head) const {
    if (head_.graphs[graph].arrays.count(what) == 0) return;
    split_array(graph, what, head, [&](size_t i) {
      const int64_t begin = static_cast<int64_t>(i) * width;
      return std::pair(begin, begin + width);
    });
  }

  void split_array(size_t graph, const std::string& what, PartedHead& head,
                   const std::function<std::pair<int64_t, int64_t>(size_t)>& range) const {
    constexpr size_t kNodesAtOnce = 1 << 18;  // then pages that were read are given up
    const MappedArray mapped = array(graph, what);
    const Number type = head_.graphs[graph].arrays.at(what).type;
    SplitArray split(out_, graph, what, type, cut_.parts);
    const auto* bytes = static_cast<const char*>(mapped.tensor.data_ptr());
    for (size_t i = 0; i < part_.size(); ++i) {
      const auto [begin, end] = range(i);
      if (end > begin) split.add(part_[i], bytes + begin * size_of(type), end - begin);
      if ((i + 1) % kNodesAtOnce == 0) mapped.forget();
    }
    split.finish(head);
  }

  std::string out_;
  PartsHead cut_;
  std::vector<int32_t> part_;  // of each node of the graph at hand
};

}  // namespace

PartsHead partition(const std::string& path, int64_t parts, PartBy by, const std::string& out,
                    bool force) {
  if (in_parts(path)) {
    fail(ErrorKind::config, "{} is in parts already; give the folder that was cut", path);
  }
  if (!is_mapped(path)) {
    fail(ErrorKind::config,
         "{} holds no mapped graphs; 'grm data convert {} --mapped --out DIR' writes some", path,
         path);
  }
  if (by == PartBy::metis && !has_metis()) parts_by_metis({}, false, parts);  // says what lacks
  require_free_folder(out, force);
  std::error_code code;
  fs::remove(fs::path(out) / kPartsFile, code);  // what is there is whole no longer
  for (int64_t p = 0; p < parts; ++p) {
    fs::create_directories(fmt::format("{}/part{}", out, p), code);
    if (code) fail(ErrorKind::io, "{}/part{}: cannot be made: {}", out, p, code.message());
  }
  return Cutter(folder_of(path), parts, by, out)();
}

}  // namespace grm::mapped
