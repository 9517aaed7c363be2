#pragma once

#include <torch/types.h>

#include <string>

namespace grm::io {

/// A sparse matrix in compressed rows, as the file stores it (columns of a row need not be sorted).
struct CsrMatrix {
  int64_t cols = 0;
  torch::Tensor offsets;  // [rows + 1] int64
  torch::Tensor indices;  // [nnz] int64
  torch::Tensor values;   // [nnz] float

  int64_t rows() const { return offsets.size(0) - 1; }
};

/// A Planetoid dataset with its rows in node order.
struct Planetoid {
  CsrMatrix features;    // [n, d]
  torch::Tensor labels;  // [n] int64: position of the one in the one-hot row, -1 for a row of zeros
  torch::Tensor source;  // [m] int64: pairs of the graph dictionary, node -> each entry of its
  torch::Tensor target;  // [m] int64: list, with duplicates and self-loops as they stand there
};

/// Reads ind.<name>.{allx,ally,tx,ty,graph,test.index} of `folder`. The files are Python 2 pickles;
/// they are read by a small interpreter that knows the few classes they need and executes nothing.
/// Error(data) names file, byte and opcode of anything else.
Planetoid read_planetoid(const std::string& folder, const std::string& name);

/// One pickled scipy.sparse.csr_matrix (x, tx, allx) or numeric numpy array (y, ty, ally).
CsrMatrix read_pickled_csr(const std::string& path);
torch::Tensor read_pickled_array(const std::string& path);

}  // namespace grm::io
