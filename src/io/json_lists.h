#pragma once

#include <torch/types.h>

#include <string>

namespace grm::io {

/// An object of lists of whole numbers, {"7": [3, 1], "2": [5]}, as pairs in file order:
/// key = 7 7 2, value = 3 1 5. Keys with an empty list leave no trace.
struct IntLists {
  torch::Tensor key;    // [m] int64
  torch::Tensor value;  // [m] int64
};

/// Reads the file as a stream, without building a document. Error(data) names the file and the byte
/// at which anything but such an object was met.
IntLists read_json_lists(const std::string& path);

}  // namespace grm::io
