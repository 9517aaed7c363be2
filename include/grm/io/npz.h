#pragma once

#include <torch/types.h>

#include <map>
#include <string>

namespace grm::io {

/// All arrays of a NumPy .npz archive as CPU tensors, by name (without ".npy"). Little-endian
/// b1, i1, u1, i2, u2, i4, u4, i8, u8, f4, f8 in C or Fortran order; unsigned and narrow integers are
/// widened to the next signed type that holds them. Error(data) names file, array and fault.
std::map<std::string, torch::Tensor> read_npz(const std::string& path);

/// The named array, or Error(data) that lists what the file holds.
const torch::Tensor& npz_array(const std::map<std::string, torch::Tensor>& arrays,
                               const std::string& name, const std::string& path);

}  // namespace grm::io
