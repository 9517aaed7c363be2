#pragma once

#include <string>
#include <vector>

#include "support/npz_writer.h"

// Files as Facebook-100 is published, made here.
namespace grm::test {

// Uncompressed MATLAB version 5, after MathWorks' "MAT-File Format".
inline std::string mat_element(uint32_t type, std::string data) {
  const std::string tag = bytes_of<uint32_t>({type, static_cast<uint32_t>(data.size())});
  data.resize((data.size() + 7) / 8 * 8);
  return tag + data;
}

inline std::string mat_matrix(uint32_t array_class, int32_t rows, int32_t cols,
                              const std::string& name, const std::string& parts,
                              uint32_t stored = 0) {
  return mat_element(14, mat_element(6, bytes_of<uint32_t>({array_class, stored})) +
                             mat_element(5, bytes_of<int32_t>({rows, cols})) +
                             mat_element(1, name) + parts);
}

// Three users 0 - 1 - 2; info by columns: status, gender, major, minor, dorm, year, school.
inline const std::vector<double> kUniversityInfo = {
    1, 1, 2, /**/ 1, 2,         0,    /**/ 5, 5,      9,  /**/ 0, 0,
    3, 7, 8, 7,      /**/ 2004, 2005, 2006,   /**/ 0, 11, 12};

inline std::string university(const std::vector<double>& info = kUniversityInfo,
                              int32_t info_rows = 3) {
  std::string header = "MATLAB 5.0 MAT-file, by hand";
  header.resize(124, ' ');
  return header + std::string("\x00\x01IM", 4) +
         mat_matrix(5, 3, 3, "A",
                    mat_element(5, bytes_of<int32_t>({1, 0, 2, 1})) +
                        mat_element(5, bytes_of<int32_t>({0, 1, 3, 4})) +
                        mat_element(9, bytes_of<double>({1, 1, 1, 1})),
                    4) +
         mat_matrix(6, info_rows, static_cast<int32_t>(info.size()) / info_rows, "local_info",
                    mat_element(9, bytes_of(info)));
}

}  // namespace grm::test
