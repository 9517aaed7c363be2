#include "ops/check.h"
#include "ops/sparse.h"
#include "ops/sums.h"

namespace grm::ops {
namespace {

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
  static Tensor forward(AutogradContext* context, const Tensor& offsets, const Tensor& x, bool mean,
                        int64_t longest) {
    const Tensor rows = x.contiguous();
    const int64_t segments = offsets.numel() - 1;
    Tensor y = torch::empty(with_rows(segments, x), x.options());
    const Place place = place_of(x);
    with_type(x, [&](auto type) {
      using T = decltype(type);
      const kernels::Segments parts{offsets.data_ptr<int64_t>(), segments, x.size(0), longest};
      launch<kernels::segment_reduce<T>>(place, parts, data<T>(rows), row_width(x), mean,
                                         y.data_ptr<T>());
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
    const int64_t rows = context->saved_data["rows"].toInt();
    Tensor dx = torch::empty(with_rows(rows, dy), dy.options());
    const Place place = place_of(dy);
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      const kernels::Segments parts{offsets.data_ptr<int64_t>(), dy.size(0), rows, -1};
      launch<kernels::segment_reduce_backward<T>>(place, parts, data<T>(dy), row_width(dy),
                                                  context->saved_data["mean"].toBool(),
                                                  dx.data_ptr<T>());
    });
    return {Tensor(), dx, Tensor(), Tensor()};
  }
};

// y[k] = x[index[k]], zeros below 0.
Tensor gathered(const Tensor& x, const Tensor& index) {
  const Tensor rows = x.contiguous();
  Tensor y = torch::empty(with_rows(index.numel(), x), x.options());
  const Place place = place_of(x);
  with_type(x, [&](auto type) {
    using T = decltype(type);
    launch<kernels::gather_rows<T>>(place, data<T>(rows), index.data_ptr<int64_t>(), index.numel(),
                                    row_width(x), y.data_ptr<T>());
  });
  return y;
}

struct GatherRows : torch::autograd::Function<GatherRows> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& index) {
    context->saved_data["index"] = index;
    context->saved_data["rows"] = x.size(0);
    return gathered(x, index);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("gather_rows");
    const Tensor index = context->saved_data["index"].toTensor();
    const int64_t rows = context->saved_data["rows"].toInt();
    const Tensor dy = gradients[0].contiguous();
    const Place place = place_of(dy);
    Csr by_row;
    by_row.rows = rows;
    by_row.offsets = torch::empty({rows + 1}, index.options());
    by_row.indices = torch::empty({index.numel()}, index.options().dtype(torch::kInt32));
    launch<kernels::positions_by_value>(place, index.data_ptr<int64_t>(), index.numel(), rows,
                                        by_row.offsets.data_ptr<int64_t>(),
                                        by_row.indices.data_ptr<int32_t>());
    Tensor dx = torch::empty(with_rows(rows, dy), dy.options());
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      launch<kernels::spmm<T>>(place, rows_of(by_row, nullptr), nullptr, data<T>(dy), row_width(dy),
                               dx.data_ptr<T>());
    });
    return {dx, Tensor()};
  }
};

struct TakeRows : torch::autograd::Function<TakeRows> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& index,
                        const Tensor& inverse) {
    context->saved_data["inverse"] = inverse;
    return gathered(x, index);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("take_rows");
    return {gathered(gradients[0], context->saved_data["inverse"].toTensor()), Tensor(), Tensor()};
  }
};

Tensor segment_reduce(const char* op, const Tensor& offsets, const Tensor& x, bool mean) {
  const Tensor ends = check_index(op, "offsets", offsets);
  check_numbers(op, "x", x);
  if (x.dim() == 0) fail(ErrorKind::shape, "{}: x is {}, rows were expected", op, describe(x));
  const int64_t longest = check_offsets(op, ends, x);
  return SegmentReduce::apply(to_place_of(ends, x), x, mean, longest);
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
  for (int64_t k = 0; rows.device().is_cpu() && k < rows.numel(); ++k) {
    if (at[k] < 0 || at[k] >= x.size(0)) {
      fail(ErrorKind::shape, "gather_rows: index[{}] is {}, but x is {}: 0 to {} was expected", k,
           at[k], describe(x), x.size(0) - 1);
    }
  }
  return GatherRows::apply(x, to_place_of(rows, x));
}

Tensor take_rows(const Tensor& x, const Tensor& index, const Tensor& inverse) {
  check_numbers("take_rows", "x", x);
  const Tensor rows = check_index("take_rows", "index", index);
  const Tensor back = check_index("take_rows", "inverse", inverse);
  if (x.dim() == 0 || back.numel() != x.size(0)) {
    fail(ErrorKind::shape, "take_rows: x is {}, but inverse has {} entries", describe(x),
         back.numel());
  }
  return TakeRows::apply(x, to_place_of(rows, x), to_place_of(back, x));
}

Tensor piece_offsets(int64_t rows) {
  constexpr int64_t kPiece = 256;  // rows that one piece of a long sum adds
  const int64_t pieces = (rows + kPiece - 1) / kPiece;
  return (torch::arange(pieces + 1, torch::kInt64) * kPiece).clamp_max(rows);
}

Tensor sum_rows(const Tensor& rows) {
  if (rows.is_cuda()) {
    const Tensor all = rows.contiguous();
    Tensor sum = torch::empty({1, rows.size(1)}, rows.options());
    with_type(rows, [&](auto type) {
      using T = decltype(type);
      on_gpu<kernels::bias_sums<T>>(place_of(all), data<T>(all), rows.size(0), rows.size(1),
                                    sum.data_ptr<T>());
    });
    return sum;
  }
  const Tensor parts = segment_sum(piece_offsets(rows.size(0)), rows);
  return segment_sum(torch::tensor({int64_t{0}, parts.size(0)}, torch::kInt64), parts);
}

}  // namespace grm::ops
