#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace grm::io {

/// What the header of one array says.
struct NpzAbout {
  std::string dtype;  // as the file writes it
  bool numeric = false;
  bool fortran = false;
  std::vector<int64_t> shape;
};

/// A NumPy .npz archive, read array by array: what nobody asks for is never unpacked. Error(data)
/// names file, array and fault.
class NpzArchive {
 public:
  explicit NpzArchive(const std::string& path);
  ~NpzArchive();
  NpzArchive(NpzArchive&&) noexcept;

  const std::string& path() const { return path_; }
  /// Names without ".npy", in alphabetical order.
  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const;
  /// Reads the header alone.
  NpzAbout about(const std::string& name) const;
  /// A numeric array, as read_npz promises. Numbers that would take more than kTimesFile times the
  /// size of the file and kAnyFile are refused: packed so tightly they are no data, or zeros that
  /// read_rows is for.
  torch::Tensor read(const std::string& name) const;
  /// A numeric array of two axes in C order, some rows at a time: `each` gets tensors
  /// [k, columns] of read's type and returns false when it has seen enough.
  void read_rows(const std::string& name,
                 const std::function<bool(const torch::Tensor& rows)>& each) const;

  static constexpr int64_t kTimesFile = 4;
  static constexpr int64_t kAnyFile = int64_t{256} << 20;  // bytes

 private:
  struct Archive;
  std::string path_;
  std::vector<std::string> names_;
  std::unique_ptr<Archive> archive_;
};

}  // namespace grm::io
