#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace grm::io {

/// A real matrix of two dimensions inside a MATLAB version 5 file.
struct MatMatrix {
  int64_t at = 0;  // byte of its element
  bool sparse = false;
  int64_t rows = 0;
  int64_t cols = 0;
  /// Numbers that it stores: values alone, or row numbers, column starts and values.
  std::vector<int64_t> counts;
};

/// Takes numbers `first`, `first + 1`, ... of one part.
using MatSink = std::function<void(int64_t first, const double* numbers, int64_t count)>;

/// Walks over the whole file (MathWorks, "MAT-File Format", level 5) with a few kilobytes of memory,
/// and throws Error(data) unless
///   - every element lies inside the file and every compressed one inflates to its checksum,
///   - the file holds `name` once, a real sparse or numeric matrix of two dimensions whose data have
///     exactly the size that its dimensions ask for.
/// So what is reserved for the matrix afterwards is known to be there. Others may be anything.
MatMatrix find_mat_matrix(const std::string& path, const std::string& name);

/// Hands the numbers of each part to its sink, block by block.
void read_mat_matrix(const std::string& path, const MatMatrix& matrix,
                     const std::vector<MatSink>& sinks);

}  // namespace grm::io
