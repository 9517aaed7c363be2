#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "data/mapped/head.h"

namespace grm::mapped {

/// Writes one array from its first number to its last.
class ArrayWriter {
 public:
  ArrayWriter(const std::string& path, Number type);
  ~ArrayWriter();
  ArrayWriter(const ArrayWriter&) = delete;
  ArrayWriter& operator=(const ArrayWriter&) = delete;
  /// `count` numbers of the array's type.
  void add(const void* numbers, int64_t count);
  void add(const torch::Tensor& numbers);
  Array finish();

 private:
  void write_out(size_t bytes);
  std::string path_;
  std::FILE* file_;
  std::vector<char> waiting_;
  Array about_;
  Checksum checksum_;
};

/// A folder that becomes whole when its head is written, at the end.
class FolderWriter {
 public:
  /// Error(config) for a folder that is not empty, unless `force`.
  FolderWriter(std::string folder, bool force);
  ArrayWriter graph_array(size_t graph, const std::string& what, Number type) const;
  ArrayWriter domain_array(size_t domain, const std::string& what, Number type) const;
  const std::string& folder() const { return folder_; }
  void finish(const Head& head) const;

 private:
  std::string folder_;
};

/// Directed pairs of a graph that is too large to sort at once: they wait in files, by ranges of
/// targets, and are written as rows of one range after the other. A pair that comes twice counts
/// once.
class PairFiles {
 public:
  PairFiles(const std::string& folder, int64_t nodes, double mean_degree);
  ~PairFiles();
  PairFiles(const PairFiles&) = delete;
  PairFiles& operator=(const PairFiles&) = delete;
  void add(int32_t source, int32_t target);
  /// Offsets and sources of all rows; the number of pairs.
  int64_t write_rows(ArrayWriter& offsets, ArrayWriter& indices);

 private:
  struct Range {
    std::string path;
    std::FILE* file = nullptr;
    std::vector<uint64_t> waiting;
  };
  void write_out(Range& range);
  int64_t nodes_, per_range_;
  std::vector<Range> ranges_;
};

/// Writes a task of node level with classes. Error(config) for others.
void write_task(const Task& task, const std::string& folder, const std::string& origin, bool force);

}  // namespace grm::mapped
