#pragma once

#include <torch/types.h>

#include <string>

namespace grm::io {

/// The array of a plain or gzipped IDX file of unsigned bytes (MNIST's format: two zero bytes, the
/// type 8, the number of dimensions, their sizes as big-endian 32-bit numbers, the values in C
/// order), as a uint8 tensor. Error(data) names the file and the fault for another type, another
/// number of dimensions than `dimensions`, and a file that is shorter or longer than it says.
torch::Tensor read_idx(const std::string& path, int64_t dimensions);

}  // namespace grm::io
