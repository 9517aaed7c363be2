#include "ops/check.h"
#include "ops/sparse.h"
#include "ops/sums.h"

namespace grm::ops {
namespace {

// row @ w as a sparse product: pattern row p holds the positions of piece p.
Tensor row_times(const Tensor& row, const Tensor& w) {
  if (w.is_cuda()) return torch::mm(row.unsqueeze(0), w);
  Csr in;
  in.cols = w.size(0);
  in.offsets = piece_offsets(in.cols);
  in.rows = in.offsets.numel() - 1;
  in.indices = torch::arange(in.cols, torch::kInt32);
  const Tensor parts = spmm(with_transpose(std::move(in)), row, w);
  return segment_sum(torch::tensor({int64_t{0}, parts.size(0)}, torch::kInt64), parts);
}

struct MinusRow : torch::autograd::Function<MinusRow> {
  // y: [n, h], row: [1, h]. y is ours alone, so it is overwritten.
  static Tensor forward(AutogradContext* context, Tensor y, const Tensor& row) {
    y.sub_(row);
    context->mark_dirty({y});
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const bool need_row = context->needs_input_grad(1);
    return {gradients[0], need_row ? -sum_rows(gradients[0]) : Tensor()};
  }
};

}  // namespace

Tensor feature_linear(const Features& given, const Tensor& w) {
  const Features x = w.defined() ? given.on(w.device()) : given;
  if (!x.sparse && !x.dense.defined()) {
    fail(ErrorKind::shape, "feature_linear: x has neither sparse nor dense columns");
  }
  if (x.dense.defined()) {
    check_shape("feature_linear", "x.dense", x.dense, {x.sparse ? x.sparse->rows() : -1, -1});
  }
  if (x.sparse_values.defined()) {
    const int64_t nnz = x.sparse ? x.sparse->nnz() : 0;
    check_shape("feature_linear", "x.sparse_values", x.sparse_values, {nnz});
  }
  check_shape("feature_linear", "w", w, {x.width(), -1});
  const auto type = w.scalar_type();
  const int64_t split = x.sparse_width();
  Tensor y;
  if (x.sparse) {
    const Tensor values = x.sparse_values.defined() ? x.sparse_values.to(type) : Tensor();
    y = spmm(x.sparse, values, x.dense.defined() ? w.narrow(0, 0, split) : w);
  }
  if (x.dense.defined()) {
    const Tensor dense = x.dense.to(type);
    const Tensor rows = x.sparse ? w.narrow(0, split, dense.size(1)) : w;
    y = y.defined() ? torch::addmm(y, dense, rows) : torch::mm(dense, rows);
  }
  if (x.shift.defined()) {
    check_shape("feature_linear", "x.shift", x.shift, {x.width()});
    y = MinusRow::apply(y, row_times(x.shift.to(type), w));
  }
  return y;
}

}  // namespace grm::ops
