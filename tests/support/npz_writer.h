#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace grm::test {

/// Bytes of a .npy file, written by hand: `header` is the Python dictionary as text.
std::string npy_with_header(const std::string& header, const std::string& data, int version = 1);

/// The same with the usual header; `shape` as Python writes it: "(2, 3)", "(4,)", "()".
std::string npy(const std::string& dtype, const std::string& shape, const std::string& data,
                bool fortran = false, int version = 1);

/// A zip archive of the entries, stored or deflated.
std::string zip(const std::vector<std::pair<std::string, std::string>>& entries,
                bool deflated = false);

/// Little-endian bytes of numbers.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace grm::test
