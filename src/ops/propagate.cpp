#include "ops/propagate.h"

#include "ops/bias.h"
#include "ops/check.h"
#include "ops/sparse.h"

namespace grm::ops {
namespace {

struct Propagate : torch::autograd::Function<Propagate> {
  // w: [nnz], or empty for all ones. Inputs by edge of the autograd graph: 0 w, 1 x, 2 bias.
  static Tensor forward(AutogradContext* context, const AdjacencyPtr& a, const Tensor& w,
                        const Tensor& x, const Tensor& bias, bool weighted, bool relu) {
    const Tensor weights = weighted ? w.contiguous() : Tensor();
    const Tensor rows = x.contiguous(), added = bias.contiguous();
    Tensor y = torch::empty({a->rows(), x.size(1)}, x.options());
    with_type(x, [&](auto type) {
      using T = decltype(type);
      on_host<kernels::spmm_bias<T>>(rows_of(a->in, nullptr), data<T>(weights), data<T>(rows),
                                     x.size(1), data<T>(added), relu, y.data_ptr<T>());
    });
    save_pattern(context, a);
    context->save_for_backward(
        {weights, weighted && w.requires_grad() ? rows : Tensor(), relu ? y : Tensor()});
    context->saved_data["relu"] = relu;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("propagate");
    const AdjacencyPtr a = saved_pattern(context);
    const variable_list saved = context->get_saved_variables();
    const Tensor &weights = saved[0], &x = saved[1], &y = saved[2];
    const bool relu = context->saved_data["relu"].toBool();
    const Tensor dy = gradients[0].contiguous();
    const int64_t d = dy.size(1);
    const bool need_w = context->needs_input_grad(0) && x.defined();
    const bool need_x = context->needs_input_grad(1);
    Tensor g = relu ? torch::empty(dy.sizes(), dy.options()) : dy;
    Tensor dbias = torch::empty({d}, dy.options());
    Tensor dw = need_w ? torch::empty({a->nnz()}, dy.options()) : Tensor();
    Tensor dx = need_x ? torch::empty({a->cols(), d}, dy.options()) : Tensor();
    with_type(dy, [&](auto type) {
      using T = decltype(type);
      on_host<kernels::bias_gradient<T>>(data<T>(y), data<T>(dy), dy.size(0), d,
                                         relu ? g.data_ptr<T>() : nullptr, dbias.data_ptr<T>());
      const kernels::Pattern out =
          rows_of(a->out, a->nnz() > 0 ? a->out_edge.data_ptr<int64_t>() : nullptr);
      const T* w = data<T>(weights);
      if (need_w && need_x) {
        on_host<kernels::spmm_sddmm<T>>(out, w, data<T>(x), data<T>(g), d, dx.data_ptr<T>(),
                                        dw.data_ptr<T>());
      } else if (need_x) {
        on_host<kernels::spmm<T>>(out, w, data<T>(g), d, dx.data_ptr<T>());
      } else if (need_w) {
        on_host<kernels::sddmm<T>>(rows_of(a->in, nullptr), data<T>(g), data<T>(x), d,
                                   dw.data_ptr<T>());
      }
    });
    return {Tensor(), dw, dx, dbias, Tensor(), Tensor()};
  }
};

}  // namespace

Tensor propagate(const AdjacencyPtr& a, const Tensor& w, const Tensor& x, const Tensor& bias,
                 Activation activation) {
  check_pattern("propagate", a);
  check_shape("propagate", "x", x, {a->cols(), -1});
  check_shape("propagate", "bias", bias, {x.size(1)});
  check_same_type("propagate", "bias", bias, "x", x);
  const bool relu = activation == Activation::relu;
  if (!x.device().is_cpu()) {  // the same mathematics in plain operators
    const Tensor y = add_bias(spmm(a, w, x), bias);
    return relu ? torch::relu(y) : y;
  }
  if (w.defined()) {
    check_shape("propagate", "w", w, {a->nnz()});
    check_same_type("propagate", "w", w, "x", x);
  }
  return Propagate::apply(a, w.defined() ? w : torch::empty({0}, x.options()), x, bias, w.defined(),
                          relu);
}

}  // namespace grm::ops
