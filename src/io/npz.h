#pragma once

#include <torch/types.h>

#include <map>
#include <string>
#include <vector>

namespace grm::io {

/// The content of a NumPy .npz archive. Arrays of numbers are CPU tensors in C order; arrays of
/// anything else (text, Python objects, records, big-endian numbers), which often lie beside them,
/// are known by name and dtype only.
struct Npz {
  std::string path;
  std::map<std::string, torch::Tensor> arrays;  // by name, without ".npy"
  std::map<std::string, std::string> unread;    // name -> dtype as the file writes it

  bool has(const std::string& name) const { return arrays.count(name) > 0; }

  /// The named array. Error(data) names the file and says that the array is not numeric, or lists
  /// what the file holds instead.
  const torch::Tensor& at(const std::string& name) const;
};

/// Reads b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4 and f8 in C or Fortran order: the arrays
/// `wanted`, as far as they are there, or all. Booleans, signed integers and floats keep their type
/// (f2 becomes f4); unsigned integers become the next wider signed type (u8 becomes int64, with an
/// Error for numbers beyond it). Error(data) names file, array and fault.
Npz read_npz(const std::string& path, const std::vector<std::string>& wanted = {});

}  // namespace grm::io
