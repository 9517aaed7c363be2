#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace grm::io {

/// Number of elements of a shape; nothing if a size is negative, if there are more than 32
/// dimensions, or if the strides of such a tensor would not fit into 64 bits.
inline std::optional<int64_t> element_count(const std::vector<int64_t>& shape) {
  if (shape.size() > 32) return std::nullopt;
  int64_t stride = 1;
  bool empty = false;
  for (const int64_t size : shape) {
    if (size < 0) return std::nullopt;
    empty = empty || size == 0;
    if (size > 1 && __builtin_mul_overflow(stride, size, &stride)) return std::nullopt;
  }
  return empty ? 0 : stride;
}

/// element_count(shape) * item_size == bytes, without overflow.
inline bool fills(const std::vector<int64_t>& shape, int64_t item_size, int64_t bytes) {
  const auto count = element_count(shape);
  int64_t product = 0;
  return count && !__builtin_mul_overflow(*count, item_size, &product) && product == bytes;
}

}  // namespace grm::io
