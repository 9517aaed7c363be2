#pragma once

#include <torch/types.h>

#include <map>
#include <string>

namespace grm::io {

/// The bytes of a .npz archive as numpy.savez writes it: stored entries, headers of NPY
/// version 1.0, C order. Arrays are bool, uint8, int8, int16, int32, int64, float32 or float64; of
/// these read_npz gives uint8 back as int16. Equal arrays give equal bytes. Error(data) names an
/// array of another type, and arrays that are too much for the 4 GiB of a plain zip archive.
std::string to_npz(const std::map<std::string, torch::Tensor>& arrays, const std::string& origin);

void write_npz(const std::string& path,
               const std::map<std::string, torch::Tensor>& arrays);  // atomic

}  // namespace grm::io
