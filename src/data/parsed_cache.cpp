#include "data/parsed_cache.h"

#include <torch/types.h>

#include <filesystem>

#include "core/files.h"
#include "data/digest.h"
#include "grm/core/error.h"
#include "grm/core/log.h"

namespace grm {
namespace {

constexpr size_t kHashPrefix = 16;  // hexadecimal digits in the name of a cache file

std::string content_digest(const io::TensorFile& file) {
  std::string all;
  for (const auto& [name, tensor] : file.tensors) all += name + " " + tensor_digest(tensor) + "\n";
  return sha256(all);
}

std::string state_of(const std::map<std::string, std::string>& sources, int version) {
  std::string state = fmt::format("parser {}\n", version);
  for (const auto& [file, hash] : sources) state += file + " " + hash + "\n";
  return state;
}

}  // namespace

io::TensorFile cached(const DataContext& context, const std::string& key,
                      const std::map<std::string, std::string>& sources, int version,
                      const std::function<io::TensorFile()>& parse) {
  if (context.cache.empty()) return parse();
  const std::string state = state_of(sources, version);
  const std::string path =
      context.cache + "/" + key + "-" + sha256(state).substr(0, kHashPrefix) + ".safetensors";
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    try {
      io::TensorFile file = io::read_safetensors(path);
      if (file.metadata["sources"] == state && file.metadata["content"] == content_digest(file)) {
        return file;
      }
      log_warning("{}: the cached data is damaged, parsing the source again", path);
    } catch (const Error& error) {
      log_warning("{}, parsing the source again", error.what());
    }
  }
  io::TensorFile file = parse();
  file.metadata["sources"] = state;
  file.metadata["content"] = content_digest(file);
  try {
    io::write_safetensors(path, file);
  } catch (const Error& error) {
    log_warning("{}; continuing without the cache", error.what());
  }
  return file;
}

void put_pattern(io::TensorFile& file, const std::string& name, const Csr& rows) {
  file.tensors[name + ".offsets"] = rows.offsets;
  file.tensors[name + ".indices"] = rows.indices;
  file.tensors[name + ".cols"] = torch::full({1}, rows.cols, torch::kInt64);
}

AdjacencyPtr get_pattern(const io::TensorFile& file, const std::string& name) {
  Csr rows;
  rows.offsets = file.tensors.at(name + ".offsets");
  rows.indices = file.tensors.at(name + ".indices");
  rows.rows = rows.offsets.numel() - 1;
  rows.cols = file.tensors.at(name + ".cols").item<int64_t>();
  return with_transpose(std::move(rows));
}

}  // namespace grm
