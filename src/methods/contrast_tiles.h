#pragma once

#include <torch/types.h>

#include <algorithm>
#include <limits>

namespace grm {

/// The matrices of cosines between unit rows of two views, u u^T, v v^T and u v^T, one tile at a
/// time, so that memory grows with the rows alone; and the gradients that come out of them.
class ContrastTiles {
 public:
  ContrastTiles(const torch::Tensor& u, const torch::Tensor& v, int64_t block)
      : n_(u.size(0)),
        block_(std::min(block, std::max<int64_t>(n_, 1))),
        rows_{u, v},
        gradient_{torch::zeros_like(u), torch::zeros_like(v)},
        space_(torch::empty({block_ * block_}, u.options())) {}

  const torch::Tensor& gradient(int view) const { return gradient_[view]; }

 protected:
  /// Tiles of u u^T and v v^T on and above the diagonal, and all tiles of u v^T:
  /// body(view of the rows, view of the columns, first row, first column).
  template <class Body>
  void for_tiles(const Body& body) {
    for (int64_t i = 0; i < n_; i += block_) {
      for (int64_t j = 0; j < n_; j += block_) {
        if (j >= i) body(0, 0, i, j);
        if (j >= i) body(1, 1, i, j);
        body(0, 1, i, j);
      }
    }
  }

  int64_t height(int64_t at) const { return std::min(block_, n_ - at); }
  torch::Tensor part(int view, int64_t at) const { return rows_[view].narrow(0, at, height(at)); }

  /// Cosines of two blocks; inside one view a node is not compared with itself.
  torch::Tensor tile(int a, int b, int64_t i, int64_t j) {
    const int64_t rows = height(i), cols = height(j);
    torch::Tensor c = space_.narrow(0, 0, rows * cols).view({rows, cols});
    at::mm_out(c, part(a, i), part(b, j).t());
    if (a == b && i == j) c.fill_diagonal_(-std::numeric_limits<double>::infinity());
    return c;
  }

  /// What derivatives by the cosines of a tile are for the rows.
  void add_products(int a, int b, int64_t i, int64_t j, const torch::Tensor& by_cosine) {
    gradient_[a].narrow(0, i, height(i)).addmm_(by_cosine, part(b, j));
    if (a != b || i != j) gradient_[b].narrow(0, j, height(j)).addmm_(by_cosine.t(), part(a, i));
  }

  int64_t n_, block_;
  torch::Tensor rows_[2], gradient_[2], space_;
};

}  // namespace grm
