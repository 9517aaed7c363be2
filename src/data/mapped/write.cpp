#include "data/mapped/write.h"

#include <torch/types.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/files.h"
#include "data/convert.h"
#include "grm/core/error.h"
#include "grm/core/log.h"

namespace grm::mapped {
namespace fs = std::filesystem;
namespace {

constexpr size_t kWaiting = size_t{4} << 20;  // bytes that wait to be written

[[noreturn]] void cannot_write(const std::string& path) {
  fail(ErrorKind::io, "{}: cannot be written: {}", path, std::strerror(errno));
}

// A file of our own: what lies there, a link too, is removed and not written through.
std::FILE* fresh_file(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  std::FILE* file = std::fopen(path.c_str(), "w+bx");
  if (!file) cannot_write(path);
  return file;
}

torch::ScalarType scalar_type(Number type) {
  if (type == Number::f32) return torch::kFloat32;
  return type == Number::i32 ? torch::kInt32 : torch::kInt64;
}

}  // namespace

ArrayWriter::ArrayWriter(const std::string& path, Number type)
    : path_(path), file_(fresh_file(path)) {
  about_.type = type;
}

ArrayWriter::~ArrayWriter() {
  if (file_) std::fclose(file_);
}

void ArrayWriter::add(const void* numbers, int64_t count) {
  const auto* bytes = static_cast<const char*>(numbers);
  auto left = static_cast<size_t>(count * size_of(about_.type));
  about_.count += count;
  while (left > 0) {
    const size_t piece = std::min(left, kWaiting);
    waiting_.insert(waiting_.end(), bytes, bytes + piece);
    bytes += piece;
    left -= piece;
    if (waiting_.size() >= kWaiting) write_out(waiting_.size() / 8 * 8);
  }
}

void ArrayWriter::add(const torch::Tensor& numbers) {
  const torch::Tensor plain = numbers.contiguous();
  ensure(plain.scalar_type() == scalar_type(about_.type), "ArrayWriter: numbers of another type");
  if (plain.is_floating_point() && !torch::isfinite(plain).all().item<bool>()) {
    fail(ErrorKind::data, "{}: a number is not finite", path_);
  }
  add(plain.data_ptr(), plain.numel());
}

void ArrayWriter::write_out(size_t bytes) {
  checksum_.add(waiting_.data(), bytes);
  if (std::fwrite(waiting_.data(), 1, bytes, file_) != bytes) cannot_write(path_);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(bytes));
}

Array ArrayWriter::finish() {
  write_out(waiting_.size());
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed) cannot_write(path_);
  about_.checksum = checksum_.text();
  log_info("wrote {} ({} numbers)", path_, about_.count);
  return about_;
}

FolderWriter::FolderWriter(std::string folder, bool force) : folder_(std::move(folder)) {
  require_free_folder(folder_, force);
  std::error_code code;
  fs::create_directories(folder_, code);
  if (code) fail(ErrorKind::io, "{}: cannot be made: {}", folder_, code.message());
  fs::remove(fs::path(folder_) / kHeadFile, code);  // what is there is whole no longer
}

ArrayWriter FolderWriter::graph_array(size_t graph, const std::string& what, Number type) const {
  return ArrayWriter(folder_ + "/" + array_file("graph", graph, what, type), type);
}

ArrayWriter FolderWriter::domain_array(size_t domain, const std::string& what, Number type) const {
  return ArrayWriter(folder_ + "/" + array_file("domain", domain, what, type), type);
}

void FolderWriter::finish(const Head& head) const {
  const std::string path = folder_ + "/" + kHeadFile, text = to_json(head);
  head_from_json(text, path);  // what we write, we read
  write_file_atomic(path, text);
}

PairFiles::PairFiles(const std::string& folder, int64_t nodes, double mean_degree) : nodes_(nodes) {
  constexpr double kPairs = 1 << 24;  // of a range, about; they are sorted in memory
  constexpr int64_t kMostFiles = 500;
  const auto wanted = static_cast<int64_t>(kPairs / std::max(1.0, mean_degree));
  per_range_ = std::max({int64_t{4096}, wanted, (nodes + kMostFiles - 1) / kMostFiles});
  ranges_.resize((nodes + per_range_ - 1) / per_range_);
  for (size_t k = 0; k < ranges_.size(); ++k) {
    ranges_[k].path = fmt::format("{}/.pairs{}", folder, k);
    ranges_[k].file = fresh_file(ranges_[k].path);
  }
}

PairFiles::~PairFiles() {
  for (const Range& range : ranges_) {
    if (range.file) std::fclose(range.file);
    std::error_code ignored;
    fs::remove(range.path, ignored);
  }
}

void PairFiles::add(int32_t source, int32_t target) {
  constexpr size_t kPairsWaiting = 1 << 15;
  Range& range = ranges_[target / per_range_];
  range.waiting.push_back(static_cast<uint64_t>(target) << 32 | static_cast<uint32_t>(source));
  if (range.waiting.size() >= kPairsWaiting) write_out(range);
}

void PairFiles::write_out(Range& range) {
  const size_t count = range.waiting.size();
  if (std::fwrite(range.waiting.data(), 8, count, range.file) != count) cannot_write(range.path);
  range.waiting.clear();
}

int64_t PairFiles::write_rows(ArrayWriter& offsets, ArrayWriter& indices) {
  int64_t total = 0;
  offsets.add(&total, 1);
  for (size_t k = 0; k < ranges_.size(); ++k) {
    Range& range = ranges_[k];
    write_out(range);
    const long end = std::ftell(range.file);
    std::vector<uint64_t> pairs(static_cast<size_t>(end) / 8);
    std::rewind(range.file);
    if (end < 0 || std::fread(pairs.data(), 8, pairs.size(), range.file) != pairs.size()) {
      fail(ErrorKind::io, "{}: cannot be read back: {}", range.path, std::strerror(errno));
    }
    std::fclose(range.file);
    range.file = nullptr;
    std::error_code ignored;
    fs::remove(range.path, ignored);
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    const int64_t begin = static_cast<int64_t>(k) * per_range_;
    size_t next = 0;
    for (int64_t node = begin; node < std::min(nodes_, begin + per_range_); ++node) {
      for (; next < pairs.size() && static_cast<int64_t>(pairs[next] >> 32) == node; ++next) {
        const auto source = static_cast<int32_t>(pairs[next] & 0xffffffffU);
        indices.add(&source, 1);
        ++total;
      }
      offsets.add(&total, 1);
    }
  }
  return total;
}

}  // namespace grm::mapped
