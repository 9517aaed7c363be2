#include "check.h"
#include "grm/ops/sparse.h"

namespace grm::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RowSum : torch::autograd::Function<RowSum> {
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& w) {
    const Tensor weights = w.contiguous();
    Tensor s = torch::empty({a->rows()}, w.options());
    with_type(w, [&](auto type) {
      using T = decltype(type);
      kernels::row_sum<T>(pattern_in(*a), data<T>(weights), s.data_ptr<T>());
    });
    save_pattern(context, a);
    return s;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("row_sum");
    const AdjacencyPtr a = saved_pattern(context);
    const Tensor ds = gradients[0].contiguous();
    Tensor dw = torch::empty({a->nnz()}, ds.options());
    with_type(ds, [&](auto type) {
      using T = decltype(type);
      kernels::row_spread<T>(pattern_in(*a), data<T>(ds), dw.data_ptr<T>());
    });
    return {Tensor(), dw};
  }
};

struct Normalise : torch::autograd::Function<Normalise> {
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& w) {
    const Tensor weights = w.contiguous();
    Tensor scale = torch::empty({a->rows()}, w.options());
    Tensor y = torch::empty({a->nnz()}, w.options());
    with_type(w, [&](auto type) {
      using T = decltype(type);
      kernels::normalise<T>(pattern_in(*a), data<T>(weights), scale.data_ptr<T>(), y.data_ptr<T>());
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
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      kernels::normalise_backward<T>(pattern_in(*a), pattern_out(*a), data<T>(saved[0]),
                                     data<T>(saved[1]), data<T>(dy), dw.data_ptr<T>());
    });
    return {Tensor(), dw};
  }
};

struct RowSoftmax : torch::autograd::Function<RowSoftmax> {
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& s) {
    const Tensor scores = s.contiguous();
    Tensor y = torch::empty(s.sizes(), s.options());
    with_type(s, [&](auto type) {
      using T = decltype(type);
      kernels::row_softmax<T>(pattern_in(*a), data<T>(scores), s.size(1), y.data_ptr<T>());
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
    with_type(y, [&](auto type) {
      using T = decltype(type);
      kernels::row_softmax_backward<T>(pattern_in(*a), data<T>(y), data<T>(dy), y.size(1),
                                       ds.data_ptr<T>());
    });
    return {Tensor(), ds};
  }
};

}  // namespace

Tensor row_sum(const AdjacencyPtr& a, const Tensor& w) {
  check_pattern("row_sum", a);
  if (!w.defined()) {
    Tensor s = torch::empty({a->rows()}, torch::kFloat32);
    kernels::row_sum<float>(pattern_in(*a), nullptr, s.data_ptr<float>());
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
    Tensor scale = torch::empty({a->rows()}, torch::kFloat32);
    Tensor y = torch::empty({a->nnz()}, torch::kFloat32);
    kernels::normalise<float>(pattern_in(*a), nullptr, scale.data_ptr<float>(),
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
