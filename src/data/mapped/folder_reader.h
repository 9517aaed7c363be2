#pragma once

#include <string>

#include "data/mapped/mapped_array.h"
#include "grm/data/task.h"

namespace grm::mapped {

/// Makes a task of a head. Where the rows of its graphs lie is for those who derive from it.
class FolderReader {
 public:
  FolderReader(std::string folder, Head head)
      : folder_(std::move(folder)), head_(std::move(head)) {}
  virtual ~FolderReader() = default;
  /// Without hashes.
  Task task() const;

 protected:
  /// The graph of that number, with its labels.
  virtual Domain read_graph(size_t place) const = 0;

  std::string path_of(const char* owner, size_t place, const std::string& what,
                      const Array& about) const {
    return folder_ + "/" + array_file(owner, place, what, about.type);
  }
  MappedArray array(size_t graph, const std::string& what) const;
  /// An array that says nothing of where to look; undefined where it is not there.
  torch::Tensor numbers(size_t graph, const std::string& what, int64_t columns = 0) const;
  /// Labels of all nodes of a graph.
  torch::Tensor labels(size_t graph) const;
  /// Error(data) where the checksum of an array is another one.
  static void verify_array(const std::string& path, const Array& about);

  std::string folder_;
  Head head_;

 private:
  torch::Tensor list_of(size_t domain, const char* what, const torch::Tensor& y) const;
};

}  // namespace grm::mapped
