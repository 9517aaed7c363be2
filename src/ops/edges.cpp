#include "ops/check.h"
#include "ops/sparse.h"

namespace grm::ops {
namespace {

// Without weights there are no numbers that say where the result should live: it lives with the
// pattern.
torch::TensorOptions ones_options(const Adjacency& a) {
  return torch::dtype(torch::kFloat32).device(a.in.offsets.device());
}

struct RowSum : torch::autograd::Function<RowSum> {
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& w) {
    const Tensor weights = w.contiguous();
    Tensor s = torch::empty({a->rows()}, w.options());
    const Place place = place_of(w);
    with_type(w, [&](auto type) {
      using T = decltype(type);
      launch<kernels::row_sum<T>>(place, rows_in(place, *a), data<T>(weights), s.data_ptr<T>());
    });
    save_pattern(context, a);
    return s;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("row_sum");
    const AdjacencyPtr a = saved_pattern(context);
    const Tensor ds = gradients[0].contiguous();
    Tensor dw = torch::empty({a->nnz()}, ds.options());
    const Place place = place_of(ds);
    with_type(ds, [&](auto type) {
      using T = decltype(type);
      launch<kernels::row_spread<T>>(place, rows_in(place, *a), data<T>(ds), dw.data_ptr<T>());
    });
    return {Tensor(), dw};
  }
};

struct Normalise : torch::autograd::Function<Normalise> {
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& w) {
    const Tensor weights = w.contiguous();
    Tensor scale = torch::empty({a->rows()}, w.options());
    Tensor y = torch::empty({a->nnz()}, w.options());
    const Place place = place_of(w);
    with_type(w, [&](auto type) {
      using T = decltype(type);
      launch<kernels::normalise<T>>(place, rows_in(place, *a), data<T>(weights),
                                    scale.data_ptr<T>(), y.data_ptr<T>());
    });
    save_pattern(context, a);
    context->save_for_backward({weights, scale});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("normalise");
    const AdjacencyPtr a = saved_pattern(context);
    const variable_list saved = context->get_saved_variables();
    const Tensor dy = gradients[0].contiguous();
    Tensor dw = torch::empty({a->nnz()}, dy.options());
    const Place place = place_of(dy);
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      launch<kernels::normalise_backward<T>>(place, rows_in(place, *a), rows_out(place, *a),
                                             data<T>(saved[0]), data<T>(saved[1]), data<T>(dy),
                                             dw.data_ptr<T>());
    });
    return {Tensor(), dw};
  }
};

struct RowSoftmax : torch::autograd::Function<RowSoftmax> {
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& s) {
    const Tensor scores = s.contiguous();
    Tensor y = torch::empty(s.sizes(), s.options());
    const Place place = place_of(s);
    with_type(s, [&](auto type) {
      using T = decltype(type);
      launch<kernels::row_softmax<T>>(place, rows_in(place, *a), data<T>(scores), s.size(1),
                                      y.data_ptr<T>());
    });
    save_pattern(context, a);
    context->save_for_backward({y});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("row_softmax");
    const AdjacencyPtr a = saved_pattern(context);
    const Tensor y = context->get_saved_variables()[0];
    const Tensor dy = gradients[0].contiguous();
    Tensor ds = torch::empty(y.sizes(), y.options());
    const Place place = place_of(y);
    with_type(y, [&](auto type) {
      using T = decltype(type);
      launch<kernels::row_softmax_backward<T>>(place, rows_in(place, *a), data<T>(y), data<T>(dy),
                                               y.size(1), ds.data_ptr<T>());
    });
    return {Tensor(), ds};
  }
};

}  // namespace

Tensor row_sum(const AdjacencyPtr& a, const Tensor& w) {
  check_pattern("row_sum", a);
  if (!w.defined()) {
    Tensor s = torch::empty({a->rows()}, ones_options(*a));
    const Place place = place_of(s);
    launch<kernels::row_sum<float>>(place, rows_in(place, *a), nullptr, s.data_ptr<float>());
    return s;
  }
  check_shape("row_sum", "w", w, {a->nnz()});
  return RowSum::apply(a, w);
}

Tensor normalise(const AdjacencyPtr& a, const Tensor& w) {
  check_pattern("normalise", a);
  if (a->rows() != a->cols()) {
    fail(ErrorKind::shape, "normalise: the pattern is [{}, {}], a square one was expected",
         a->rows(), a->cols());
  }
  if (!w.defined()) {
    Tensor scale = torch::empty({a->rows()}, ones_options(*a));
    Tensor y = torch::empty({a->nnz()}, ones_options(*a));
    const Place place = place_of(y);
    launch<kernels::normalise<float>>(place, rows_in(place, *a), nullptr, scale.data_ptr<float>(),
                                      y.data_ptr<float>());
    return y;
  }
  check_shape("normalise", "w", w, {a->nnz()});
  return Normalise::apply(a, w);
}

Tensor row_softmax(const AdjacencyPtr& a, const Tensor& s) {
  check_pattern("row_softmax", a);
  check_shape("row_softmax", "s", s, {a->nnz(), -1});
  if (s.numel() == 0) return s.clone();
  return RowSoftmax::apply(a, s);
}

}  // namespace grm::ops
