#include "ops/check.h"
#include "ops/sparse.h"

namespace grm::ops {
namespace {

struct Spmm : torch::autograd::Function<Spmm> {
  // w: [nnz], or empty for all ones. Inputs by edge of the autograd graph: 0 w, 1 x.
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& w,
                        const Tensor& x, bool weighted) {
    const Tensor weights = weighted ? w.contiguous() : Tensor();
    const Tensor rows = x.contiguous();
    Tensor y = torch::empty({a->rows(), x.size(1)}, x.options());
    const Place place = place_of(x);
    with_type(x, [&](auto type) {
      using T = decltype(type);
      launch<kernels::spmm<T>>(place, rows_in(place, *a), data<T>(weights), data<T>(rows),
                               x.size(1), y.data_ptr<T>());
    });
    save_pattern(context, a);
    context->save_for_backward(
        {x.requires_grad() ? weights : Tensor(), weighted && w.requires_grad() ? rows : Tensor()});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("spmm");
    const AdjacencyPtr a = saved_pattern(context);
    const variable_list saved = context->get_saved_variables();
    const Tensor dy = gradients[0].contiguous();
    const bool need_w = context->needs_input_grad(0) && saved[1].defined();
    const bool need_x = context->needs_input_grad(1);
    const int64_t d = dy.size(1);
    Tensor dw = need_w ? torch::empty({a->nnz()}, dy.options()) : Tensor();
    Tensor dx = need_x ? torch::empty({a->cols(), d}, dy.options()) : Tensor();
    const Place place = place_of(dy);
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      const T *w = data<T>(saved[0]), *x = data<T>(saved[1]), *g = data<T>(dy);
      if (need_w && need_x) {
        launch<kernels::spmm_sddmm<T>>(place, rows_out(place, *a), w, x, g, d, dx.data_ptr<T>(),
                                       dw.data_ptr<T>());
      } else if (need_x) {
        launch<kernels::spmm<T>>(place, rows_out(place, *a), w, g, d, dx.data_ptr<T>());
      } else if (need_w) {
        launch<kernels::sddmm<T>>(place, rows_in(place, *a), g, x, d, dw.data_ptr<T>());
      }
    });
    return {Tensor(), dw, dx, Tensor()};
  }
};

struct Sddmm : torch::autograd::Function<Sddmm> {
  // Inputs by edge of the autograd graph: 0 p, 1 q.
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& p,
                        const Tensor& q) {
    const Tensor left = p.contiguous(), right = q.contiguous();
    Tensor s = torch::empty({a->nnz()}, p.options());
    const Place place = place_of(p);
    with_type(p, [&](auto type) {
      using T = decltype(type);
      launch<kernels::sddmm<T>>(place, rows_in(place, *a), data<T>(left), data<T>(right), p.size(1),
                                s.data_ptr<T>());
    });
    save_pattern(context, a);
    context->save_for_backward(
        {q.requires_grad() ? left : Tensor(), p.requires_grad() ? right : Tensor()});
    context->saved_data["d"] = p.size(1);
    return s;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("sddmm");
    const AdjacencyPtr a = saved_pattern(context);
    const variable_list saved = context->get_saved_variables();
    const Tensor ds = gradients[0].contiguous();
    const int64_t d = context->saved_data["d"].toInt();
    Tensor dp, dq;
    const Place place = place_of(ds);
    with_type(ds, [&](auto type) {
      using T = decltype(type);
      if (context->needs_input_grad(0)) {
        dp = torch::empty({a->rows(), d}, ds.options());
        launch<kernels::spmm<T>>(place, rows_in(place, *a), data<T>(ds), data<T>(saved[1]), d,
                                 dp.data_ptr<T>());
      }
      if (context->needs_input_grad(1)) {
        dq = torch::empty({a->cols(), d}, ds.options());
        launch<kernels::spmm<T>>(place, rows_out(place, *a), data<T>(ds), data<T>(saved[0]), d,
                                 dq.data_ptr<T>());
      }
    });
    return {Tensor(), dp, dq};
  }
};

}  // namespace

Tensor spmm(const AdjacencyPtr& a, const Tensor& w, const Tensor& x) {
  check_pattern("spmm", a);
  check_shape("spmm", "x", x, {a->cols(), -1});
  if (w.defined()) {
    check_shape("spmm", "w", w, {a->nnz()});
    check_same_type("spmm", "w", w, "x", x);
  }
  return Spmm::apply(a, or_empty(w, x), x, w.defined());
}

Tensor sddmm(const AdjacencyPtr& a, const Tensor& p, const Tensor& q) {
  check_pattern("sddmm", a);
  check_shape("sddmm", "p", p, {a->rows(), -1});
  check_shape("sddmm", "q", q, {a->cols(), p.size(1)});
  check_same_type("sddmm", "p", p, "q", q);
  return Sddmm::apply(a, p, q);
}

}  // namespace grm::ops
