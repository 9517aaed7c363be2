#include "ops/messages.h"

#include "ops/check.h"
#include "ops/sparse.h"
#include "ops/sums.h"

namespace grm::ops {
namespace {

struct ReluMessages : torch::autograd::Function<ReluMessages> {
  // w: [nnz], or empty for all ones. Inputs by edge of the autograd graph: 0 w, 1 x, 2 e.
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& w,
                        const Tensor& x, const Tensor& e, bool weighted) {
    const Tensor weights = weighted ? w.contiguous() : Tensor();
    const Tensor rows = x.contiguous(), edges = e.contiguous();
    Tensor y = torch::empty({a->rows(), x.size(1)}, x.options());
    const Place place = place_of(x);
    with_type(x, [&](auto type) {
      using T = decltype(type);
      launch<kernels::relu_messages<T>>(place, rows_in(place, *a), data<T>(weights), data<T>(rows),
                                        data<T>(edges), x.size(1), y.data_ptr<T>());
    });
    save_pattern(context, a);
    context->save_for_backward({weights, rows, edges});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("relu_messages");
    const AdjacencyPtr a = saved_pattern(context);
    const variable_list saved = context->get_saved_variables();
    const Tensor &w = saved[0], &x = saved[1], &e = saved[2];
    const Tensor dy = gradients[0].contiguous();
    const bool need_w = context->needs_input_grad(0) && w.defined();
    Tensor dw = need_w ? torch::empty_like(w) : Tensor();
    Tensor dx = torch::empty_like(x);
    Tensor de = context->needs_input_grad(2) ? torch::empty_like(e) : Tensor();
    const Place place = place_of(dy);
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      launch<kernels::relu_messages_backward<T>>(
          place, rows_out(place, *a), data<T>(w), data<T>(x), data<T>(e), data<T>(dy), x.size(1),
          dx.data_ptr<T>(), de.defined() ? de.data_ptr<T>() : nullptr,
          need_w ? dw.data_ptr<T>() : nullptr);
    });
    return {Tensor(), dw, dx, de, Tensor()};
  }
};

struct PairScores : torch::autograd::Function<PairScores> {
  // Inputs by edge of the autograd graph: 0 p, 1 q, 2 v.
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& p,
                        const Tensor& q, const Tensor& v) {
    const Tensor source = p.contiguous(), target = q.contiguous(), direction = v.contiguous();
    Tensor s = torch::empty({a->nnz()}, p.options());
    const Place place = place_of(p);
    with_type(p, [&](auto type) {
      using T = decltype(type);
      launch<kernels::pair_scores<T>>(place, rows_in(place, *a), data<T>(target), data<T>(source),
                                      data<T>(direction), p.size(1), s.data_ptr<T>());
    });
    save_pattern(context, a);
    context->save_for_backward({source, target, direction});
    return s;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("pair_scores");
    const AdjacencyPtr a = saved_pattern(context);
    const variable_list saved = context->get_saved_variables();
    const Tensor &p = saved[0], &q = saved[1], &v = saved[2];
    const Tensor ds = gradients[0].contiguous();
    const bool need_v = context->needs_input_grad(2);
    const int64_t d = p.size(1);
    Tensor dp, dq, by_row, dv;
    const Place place = place_of(ds);
    with_type(ds, [&](auto type) {
      using T = decltype(type);
      if (context->needs_input_grad(0)) {
        dp = torch::empty_like(p);
        launch<kernels::pair_scores_backward<T>>(place, rows_out(place, *a), data<T>(p), data<T>(q),
                                                 data<T>(v), data<T>(ds), d, dp.data_ptr<T>(),
                                                 nullptr);
      }
      if (context->needs_input_grad(1) || need_v) {
        dq = torch::empty_like(q);
        if (need_v) by_row = torch::empty_like(q);
        launch<kernels::pair_scores_backward<T>>(place, rows_in(place, *a), data<T>(q), data<T>(p),
                                                 data<T>(v), data<T>(ds), d, dq.data_ptr<T>(),
                                                 need_v ? by_row.data_ptr<T>() : nullptr);
      }
    });
    if (need_v) dv = sum_rows(by_row).squeeze(0);
    return {Tensor(), dp, context->needs_input_grad(1) ? dq : Tensor(), dv};
  }
};

struct SegmentMax : torch::autograd::Function<SegmentMax> {
  static Tensor forward(AutogradContext* context, const Tensor& offsets, const Tensor& x) {
    const Tensor rows = x.contiguous();
    const int64_t segments = offsets.numel() - 1;
    Tensor y = torch::empty({segments, x.size(1)}, x.options());
    Tensor row = torch::empty({segments, x.size(1)}, x.options().dtype(torch::kInt64));
    const Place place = place_of(x);
    with_type(x, [&](auto type) {
      using T = decltype(type);
      launch<kernels::segment_max<T>>(place, offsets.data_ptr<int64_t>(), segments, data<T>(rows),
                                      x.size(1), y.data_ptr<T>(), row.data_ptr<int64_t>());
    });
    context->saved_data["row"] = row;
    context->saved_data["rows"] = x.size(0);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("segment_max");
    const Tensor row = context->saved_data["row"].toTensor();
    const Tensor dy = gradients[0].contiguous();
    const int64_t d = dy.size(1);
    const int64_t rows = context->saved_data["rows"].toInt();
    if (dy.is_cuda()) {
      // Empty segments write to a row that is cut off; all other places differ.
      Tensor with_spare = torch::zeros({rows + 1, d}, dy.options());
      with_spare.scatter_(0, torch::where(row < 0, torch::full_like(row, rows), row), dy);
      return {Tensor(), with_spare.narrow(0, 0, rows)};
    }
    Tensor dx = torch::zeros({rows, d}, dy.options());
    const int64_t* at = row.data_ptr<int64_t>();
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      const T* from = data<T>(dy);
      T* to = dx.data_ptr<T>();
      for (int64_t k = 0; k < dy.numel(); ++k) {
        if (at[k] >= 0) to[at[k] * d + k % d] = from[k];
      }
    });
    return {Tensor(), dx};
  }
};

}  // namespace

Tensor relu_messages(const AdjacencyPtr& a, const Tensor& w, const Tensor& x, const Tensor& e) {
  if (!e.defined()) return spmm(a, w, torch::relu(x));
  check_pattern("relu_messages", a);
  check_shape("relu_messages", "x", x, {a->cols(), -1});
  check_shape("relu_messages", "e", e, {a->nnz(), x.size(1)});
  check_same_type("relu_messages", "e", e, "x", x);
  if (w.defined()) {
    check_shape("relu_messages", "w", w, {a->nnz()});
    check_same_type("relu_messages", "w", w, "x", x);
  }
  return ReluMessages::apply(a, or_empty(w, x), x, e, w.defined());
}

Tensor pair_scores(const AdjacencyPtr& a, const Tensor& p, const Tensor& q, const Tensor& v) {
  check_pattern("pair_scores", a);
  check_shape("pair_scores", "p", p, {a->cols(), -1});
  check_shape("pair_scores", "q", q, {a->rows(), p.size(1)});
  check_shape("pair_scores", "v", v, {p.size(1)});
  check_same_type("pair_scores", "p", p, "q", q);
  check_same_type("pair_scores", "p", p, "v", v);
  return PairScores::apply(a, p, q, v);
}

Tensor segment_max(const Tensor& offsets, const Tensor& x) {
  const Tensor ends = check_index("segment_max", "offsets", offsets);
  check_shape("segment_max", "x", x, {-1, -1});
  check_offsets("segment_max", ends, x);
  return SegmentMax::apply(to_place_of(ends, x), x);
}

}  // namespace grm::ops
