#pragma once

#include <torch/types.h>

#include <map>
#include <string>
#include <string_view>

namespace grm::io {

/// Named tensors and string metadata: the content of a .safetensors file (8-byte little-endian
/// length, JSON header, raw bytes). Models, checkpoints and caches all use it.
struct TensorFile {
  std::map<std::string, torch::Tensor> tensors;  // float32, float64, int64, int32, uint8, bool
  std::map<std::string, std::string> metadata;
};

/// What the format calls a type ("F32"); nullptr if it cannot hold it.
const char* safetensors_type(torch::ScalarType scalar);

/// Equal content gives equal bytes. Error(data) names a tensor that the format cannot hold.
std::string to_safetensors(const TensorFile& file);
/// Error(data) naming `origin` and the fault for anything malformed, truncated or overlapping.
TensorFile from_safetensors(std::string_view bytes, const std::string& origin);

void write_safetensors(const std::string& path, const TensorFile& file);  // atomic
TensorFile read_safetensors(const std::string& path);

}  // namespace grm::io
