#pragma once

#include <torch/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grm::io {

/// What the header of a .npy file says.
struct NpyHeader {
  std::string dtype;  // as written, without quotes: "<f8", "|O", "[('a', '<i4')]"
  bool fortran = false;
  std::vector<int64_t> shape;
};

/// Bytes before the header's text: magic, version and length. `size` of them are known; Error(data)
/// for a wrong magic or version. Returns {offset of the text, length of the text}.
struct NpyPrefix {
  int64_t text_offset;
  int64_t text_size;
};
constexpr int64_t kNpyPrefixSize = 12;  // enough for every version
NpyPrefix parse_npy_prefix(std::string_view bytes, const std::string& where);

/// The Python dictionary literal of the header. `where` begins every message.
NpyHeader parse_npy_header(std::string_view text, const std::string& where);

/// How elements of a little-endian numeric dtype are stored and what they become.
struct NpyType {
  torch::ScalarType stored;  // same size and bits; unsigned types are read as signed ones first
  torch::ScalarType result;
  bool is_unsigned;
  bool is_bool;
};
/// Nothing if the dtype is not one of the numeric types of read_npz.
std::optional<NpyType> npy_type(const std::string& dtype);

/// Turns bits as stored, or some of them, into the numbers that read_npz promises.
torch::Tensor npy_numbers(torch::Tensor stored, const NpyType& type, const std::string& where);
/// All numbers of an array in the shape of its header, in C order.
torch::Tensor npy_shaped(const torch::Tensor& numbers, const NpyHeader& header);

}  // namespace grm::io
