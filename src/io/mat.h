#pragma once

#include <torch/types.h>

#include <string>

namespace grm::io {

/// A sparse matrix of a MATLAB file as triples, sorted by column.
struct MatSparse {
  int64_t rows = 0;
  int64_t cols = 0;
  torch::Tensor row;    // [m] int64
  torch::Tensor col;    // [m] int64
  torch::Tensor value;  // [m] double
};

/// Variables of MATLAB version 5 files (what `save -v6` and `save -v7` write), plain or compressed.
/// Cells, structures and text beside them are skipped. Error(data) names file, variable and fault.
MatSparse read_mat_sparse(const std::string& path, const std::string& name);

/// A real matrix of any numeric class as [rows, cols] double.
torch::Tensor read_mat_dense(const std::string& path, const std::string& name);

/// The same as int64; Error(data) names the first entry that is not a whole number.
torch::Tensor read_mat_integers(const std::string& path, const std::string& name);

}  // namespace grm::io
