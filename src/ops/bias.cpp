#include "ops/bias.h"

#include "ops/check.h"
#include "ops/sums.h"

namespace grm::ops {
namespace {

struct AddBias : torch::autograd::Function<AddBias> {
  static Tensor forward(AutogradContext*, const Tensor& x, const Tensor& bias) { return x + bias; }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("add_bias");
    return {gradients[0],
            context->needs_input_grad(1) ? sum_rows(gradients[0]).squeeze(0) : Tensor()};
  }
};

struct Affine : torch::autograd::Function<Affine> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& w,
                        const Tensor& bias) {
    context->save_for_backward(
        {w.requires_grad() ? x : Tensor(), x.requires_grad() ? w : Tensor()});
    return torch::addmm(bias, x, w);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("affine");
    const variable_list saved = context->get_saved_variables();
    const Tensor& dy = gradients[0];
    Tensor dx, dw, dbias;
    if (context->needs_input_grad(0)) dx = torch::mm(dy, saved[1].t());
    if (context->needs_input_grad(1)) dw = torch::mm(saved[0].t(), dy);
    if (context->needs_input_grad(2)) dbias = sum_rows(dy).squeeze(0);
    return {dx, dw, dbias};
  }
};

// Whether the sum of rows is ours: on a GPU, for what it can add.
bool ours(const Tensor& x, const Tensor& bias) {
  return x.is_cuda() && x.dim() == 2 && bias.dim() == 1 && x.scalar_type() == bias.scalar_type() &&
         (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kFloat64);
}

}  // namespace

Tensor add_bias(const Tensor& x, const Tensor& bias) {
  return ours(x, bias) && x.size(1) == bias.size(0) ? AddBias::apply(x, bias) : x + bias;
}

Tensor affine(const Tensor& x, const Tensor& w, const Tensor& bias) {
  return ours(x, bias) ? Affine::apply(x, w, bias) : torch::addmm(bias, x, w);
}

}  // namespace grm::ops
