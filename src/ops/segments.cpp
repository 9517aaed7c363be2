#include "check.h"
#include "grm/ops/sparse.h"
#include "sums.h"

namespace grm::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::vector<int64_t> with_rows(int64_t rows, const Tensor& like) {
  std::vector<int64_t> sizes = like.sizes().vec();
  sizes[0] = rows;
  return sizes;
}

int64_t row_width(const Tensor& x) {
  int64_t width = 1;
  for (int64_t k = 1; k < x.dim(); ++k) width *= x.size(k);
  return width;
}

struct SegmentReduce : torch::autograd::Function<SegmentReduce> {
  static Tensor forward(AutogradContext* context, const Tensor& offsets, const Tensor& x,
                        bool mean) {
    const Tensor rows = x.contiguous();
    const int64_t segments = offsets.numel() - 1;
    Tensor y = torch::empty(with_rows(segments, x), x.options());
    with_type(x, [&](auto type) {
      using T = decltype(type);
      kernels::segment_reduce<T>(offsets.data_ptr<int64_t>(), segments, data<T>(rows), row_width(x),
                                 mean, y.data_ptr<T>());
    });
    context->saved_data["offsets"] = offsets;
    context->saved_data["mean"] = mean;
    context->saved_data["rows"] = x.size(0);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("segment_sum");
    const Tensor offsets = context->saved_data["offsets"].toTensor();
    const Tensor dy = gradients[0].contiguous();
    Tensor dx = torch::empty(with_rows(context->saved_data["rows"].toInt(), dy), dy.options());
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      kernels::segment_reduce_backward<T>(offsets.data_ptr<int64_t>(), dy.size(0), data<T>(dy),
                                          row_width(dy), context->saved_data["mean"].toBool(),
                                          dx.data_ptr<T>());
    });
    return {Tensor(), dx, Tensor()};
  }
};

struct GatherRows : torch::autograd::Function<GatherRows> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& index) {
    const Tensor rows = x.contiguous();
    Tensor y = torch::empty(with_rows(index.numel(), x), x.options());
    with_type(x, [&](auto type) {
      using T = decltype(type);
      kernels::gather_rows<T>(data<T>(rows), index.data_ptr<int64_t>(), index.numel(), row_width(x),
                              y.data_ptr<T>());
    });
    context->saved_data["index"] = index;
    context->saved_data["rows"] = x.size(0);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("gather_rows");
    const Tensor index = context->saved_data["index"].toTensor();
    const int64_t rows = context->saved_data["rows"].toInt();
    const Tensor dy = gradients[0].contiguous();
    Tensor offsets = torch::empty({rows + 1}, torch::kInt64);
    Tensor positions = torch::empty({index.numel()}, torch::kInt32);
    kernels::positions_by_value(index.data_ptr<int64_t>(), index.numel(), rows,
                                offsets.data_ptr<int64_t>(), positions.data_ptr<int32_t>());
    Tensor dx = torch::empty(with_rows(rows, dy), dy.options());
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      const kernels::Pattern pattern{rows, offsets.data_ptr<int64_t>(),
                                     positions.data_ptr<int32_t>(), nullptr};
      kernels::spmm<T>(pattern, nullptr, data<T>(dy), row_width(dy), dx.data_ptr<T>());
    });
    return {dx, Tensor()};
  }
};

Tensor segment_reduce(const char* op, const Tensor& offsets, const Tensor& x, bool mean) {
  const Tensor ends = check_index(op, "offsets", offsets);
  check_numbers(op, "x", x);
  if (x.dim() == 0) fail(ErrorKind::shape, "{}: x is {}, rows were expected", op, describe(x));
  const int64_t* at = ends.data_ptr<int64_t>();
  const int64_t count = ends.numel();
  if (count == 0 || at[0] != 0 || at[count - 1] != x.size(0)) {
    fail(ErrorKind::shape,
         "{}: offsets of {} numbers go from {} to {}, but x is {}: from 0 to {} "
         "was expected",
         op, count, count > 0 ? at[0] : 0, count > 0 ? at[count - 1] : 0, describe(x), x.size(0));
  }
  for (int64_t k = 1; k < count; ++k) {
    if (at[k] < at[k - 1]) {
      fail(ErrorKind::shape,
           "{}: offsets fall from {} to {} at position {}, ascending ones were "
           "expected",
           op, at[k - 1], at[k], k);
    }
  }
  return SegmentReduce::apply(ends, x, mean);
}

}  // namespace

Tensor segment_sum(const Tensor& offsets, const Tensor& x) {
  return segment_reduce("segment_sum", offsets, x, false);
}

Tensor segment_mean(const Tensor& offsets, const Tensor& x) {
  return segment_reduce("segment_mean", offsets, x, true);
}

Tensor gather_rows(const Tensor& x, const Tensor& index) {
  check_shape("gather_rows", "x", x, {-1, -1});
  const Tensor rows = check_index("gather_rows", "index", index);
  if (rows.numel() > INT32_MAX) {
    fail(ErrorKind::shape, "gather_rows: index has {} entries, at most {} were expected",
         rows.numel(), INT32_MAX);
  }
  const int64_t* at = rows.data_ptr<int64_t>();
  for (int64_t k = 0; k < rows.numel(); ++k) {
    if (at[k] < 0 || at[k] >= x.size(0)) {
      fail(ErrorKind::shape, "gather_rows: index[{}] is {}, but x is {}: 0 to {} was expected", k,
           at[k], describe(x), x.size(0) - 1);
    }
  }
  return GatherRows::apply(x, rows);
}

Tensor piece_offsets(int64_t rows) {
  constexpr int64_t kPiece = 256;  // rows that one piece of a long sum adds
  const int64_t pieces = (rows + kPiece - 1) / kPiece;
  return (torch::arange(pieces + 1, torch::kInt64) * kPiece).clamp_max(rows);
}

Tensor sum_rows(const Tensor& rows) {
  const Tensor parts = segment_sum(piece_offsets(rows.size(0)), rows);
  return segment_sum(torch::tensor({int64_t{0}, parts.size(0)}, torch::kInt64), parts);
}

}  // namespace grm::ops
