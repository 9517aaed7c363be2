#include "train/memory_input.h"

#include <torch/types.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "grm/core/error.h"
#include "grm/data/own_data.h"
#include "grm/graph/device.h"
#include "train/memory.h"

namespace grm {
namespace fs = std::filesystem;
namespace {

constexpr double kText = 2.5;    // cells as doubles, then as features
constexpr double kArrays = 1.5;  // arrays as they were read, then as tensors
constexpr double kWidest = 4.0;  // rows of the widest layer that a pass holds at once

const std::string kArchive = ".npz";

// Bytes of memory for a byte of a file of own data, by its ending.
const std::map<std::string, double> kGrowth = {{".csv", kText}, {".tsv", kText},
                                               {".txt", kText}, {".libsvm", kText},
                                               {".svm", kText}, {kArchive, kArrays}};

void add_files(const fs::path& folder, std::vector<std::string>& files) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (kGrowth.count(entry.path().extension()) > 0) files.push_back(entry.path().string());
  }
}

[[noreturn]] void refuse(const std::string& what, double needed, const MemoryLimit& limit) {
  fail(ErrorKind::memory,
       "{} needs at least {} of memory, but the limit is {} ({}); use a larger machine or smaller "
       "data",
       what, memory_text(needed), memory_text(limit.bytes), limit.source);
}

// Bytes of the arrays of a graph.
double graph_bytes(const Graph& graph) {
  const GraphShape shape = shape_of(graph);
  return cost::adjacency(shape.edges, shape.nodes, shape.nodes) +
         cost::adjacency(shape.sparse, shape.nodes, shape.features) +
         cost::kFloat * shape.nodes * shape.dense;
}

// The widest layer: the largest second size of a matrix that the model holds.
double widest_layer(Model& model) {
  double widest = static_cast<double>(model.classes());
  for (const auto& [name, tensor] : model.method().parameters().parameters()) {
    if (tensor.dim() == 2) widest = std::max(widest, static_cast<double>(tensor.size(1)));
  }
  return widest;
}

}  // namespace

double memory_to_read(const std::vector<std::string>& files) {
  double bytes = 0;
  for (const std::string& file : files) {
    std::error_code missing;
    const uintmax_t size = fs::file_size(file, missing);
    if (missing) continue;  // told by whoever reads it
    const auto growth = kGrowth.find(fs::path(file).extension());
    bytes += static_cast<double>(size) * (growth == kGrowth.end() ? 1.0 : growth->second);
  }
  return bytes;
}

std::vector<std::string> own_input_files(const std::string& path) {
  std::error_code ignored;
  if (fs::path(path).extension() == kArchive) return {path};
  const fs::path folder =
      fs::is_directory(path, ignored) ? fs::path(path) : fs::path(path).parent_path();
  std::vector<std::string> files;
  add_files(folder.empty() ? "." : folder, files);
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    std::error_code unreadable;
    if (entry.is_directory(unreadable)) add_files(entry.path(), files);
  }
  return files;
}

void check_memory_to_read(const std::string& what, const std::vector<std::string>& files) {
  const double needed = kProgramBytes + memory_to_read(files);
  const MemoryLimit limit = memory_limit(torch::Device(torch::kCPU));
  if (needed > limit.bytes) refuse("reading " + what, needed, limit);
}

Task load_within_memory(const DatasetChoice& dataset, const DataContext& context) {
  const std::string& name = dataset.entry().name;
  std::vector<std::string> files;
  if (is_own_data(name)) {
    files = own_input_files(name);
  } else {
    for (const std::string& file : dataset.files()) files.push_back(context.root + "/" + file);
  }
  check_memory_to_read(dataset.entry().short_name(), files);
  return dataset.load(context);
}

void check_memory_to_predict(Model& model, const std::vector<Asked>& data) {
  double graphs = 0, pass = 0;
  for (const Asked& asked : data) {
    const GraphShape shape = shape_of(asked.domain.graph);
    graphs += graph_bytes(asked.domain.graph);
    // Sets of graphs are predicted some thousand at a time.
    if (model.about().level == Level::node) {
      pass = std::max(pass, cost::kFloat * kWidest * shape.nodes * widest_layer(model));
    }
  }
  const torch::Device device = compute_device();
  const double needed = graphs + pass + (device.is_cuda() ? 0 : kProgramBytes);
  const MemoryLimit limit = memory_limit(device);
  if (needed > limit.bytes) refuse("predicting with " + model.path(), needed, limit);
}

}  // namespace grm
