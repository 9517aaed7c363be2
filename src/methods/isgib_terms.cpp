// The terms of IS-GIB over pairs of nodes, with their derivatives.
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "methods/isgib.h"
#include "ops/sparse.h"

namespace grm::isgib {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

template <class Body>
void for_blocks(int64_t rows, int64_t block, Body body) {
  for (int64_t begin = 0; begin < rows; begin += block) {
    body(begin, std::min(block, rows - begin));
  }
}

// Row by row, then in double: the order does not depend on the number of threads.
Tensor total(const Tensor& matrix) {
  return matrix.sum(1).to(torch::kFloat64).sum();
}

Tensor zero_of(const Tensor& like) {
  return torch::zeros({}, like.options().dtype(torch::kFloat64));
}

struct LabelRelation : torch::autograd::Function<LabelRelation> {
  // Whether labels agree: [count, b], for a block of rows.
  static Tensor agreement(const Tensor& y, int64_t begin, int64_t count) {
    return y.narrow(0, begin, count).unsqueeze(1).eq(y.unsqueeze(0));
  }

  static Tensor forward(AutogradContext* context, const Tensor& z, const Tensor& y, int64_t block) {
    context->save_for_backward({z, y});
    context->saved_data["block"] = block;
    Tensor same = zero_of(z), diff = zero_of(z);
    for_blocks(z.size(0), block, [&](int64_t begin, int64_t count) {
      const Tensor agree = agreement(y, begin, count);
      const Tensor u = torch::mm(z.narrow(0, begin, count), z.t());
      const Tensor cost = -torch::log_sigmoid(torch::where(agree, u, -u));
      same += total(cost.masked_fill(agree.logical_not(), 0));
      diff += total(cost.masked_fill(agree, 0));
    });
    return torch::stack({same, diff}).to(z.scalar_type());
  }

  // With g_ij = dL/du_ij, which is symmetric: dL/dz_i = 2 sum_j g_ij z_j.
  static variable_list backward(AutogradContext* context, variable_list outputs) {
    ensure(!at::GradMode::is_enabled(), "label_relation has no second derivative");
    const variable_list saved = context->get_saved_variables();
    const Tensor &z = saved[0], &y = saved[1];
    Tensor dz = torch::empty_like(z);
    for_blocks(z.size(0), context->saved_data["block"].toInt(), [&](int64_t begin, int64_t count) {
      const Tensor agree = agreement(y, begin, count);
      const Tensor u = torch::mm(z.narrow(0, begin, count), z.t());
      const Tensor g = torch::where(agree, torch::sigmoid(-u) * (-outputs[0][0]),
                                    torch::sigmoid(u) * outputs[0][1]);
      dz.narrow(0, begin, count).copy_(2 * torch::mm(g, z));
    });
    return {dz, Tensor(), Tensor()};
  }
};

struct SecondOrder : torch::autograd::Function<SecondOrder> {
  static Tensor difference(const Tensor& a, const Tensor& z, int64_t begin, int64_t count) {
    return torch::mm(a.narrow(0, begin, count), a.t()) -
           torch::mm(z.narrow(0, begin, count), z.t());
  }

  static Tensor forward(AutogradContext* context, const Tensor& a, const Tensor& z, int64_t block) {
    Tensor squares = zero_of(z);
    for_blocks(z.size(0), block, [&](int64_t begin, int64_t count) {
      squares += total(difference(a, z, begin, count).square());
    });
    const Tensor norm = squares.sqrt();
    context->save_for_backward({a, z, norm});
    context->saved_data["block"] = block;
    return norm.to(z.scalar_type());
  }

  // M = a a^T - z z^T is symmetric: da = 2 (M / norm) a and dz = -2 (M / norm) z.
  static variable_list backward(AutogradContext* context, variable_list outputs) {
    ensure(!at::GradMode::is_enabled(), "second_order has no second derivative");
    const variable_list saved = context->get_saved_variables();
    const Tensor &a = saved[0], &z = saved[1], &norm = saved[2];
    Tensor da = torch::empty_like(a), dz = torch::empty_like(z);
    const Tensor share = 2.0 * outputs[0].to(torch::kFloat64) / norm;
    const Tensor scale = torch::where(norm > 0.0, share, torch::zeros_like(share));
    for_blocks(z.size(0), context->saved_data["block"].toInt(), [&](int64_t begin, int64_t count) {
      const Tensor m = difference(a, z, begin, count) * scale;
      da.narrow(0, begin, count).copy_(torch::mm(m, a));
      dz.narrow(0, begin, count).copy_(torch::mm(m, z).neg_());
    });
    return {da, dz, Tensor()};
  }
};

}  // namespace

Tensor label_relation(const Tensor& z, const Tensor& y, int64_t block) {
  ensure(block > 0 && z.dim() == 2 && y.dim() == 1 && y.size(0) == z.size(0),
         "label_relation: rows, labels and block do not fit");
  return LabelRelation::apply(z, to_place_of(y, z), block);
}

Tensor individual(const Tensor& critic, const Tensor& z) {
  const Tensor cost = -torch::log_sigmoid(-(critic * z).sum(1));
  return ops::segment_sum(torch::tensor({int64_t{0}, cost.size(0)}, torch::kInt64), cost)
      .squeeze(0);
}

Tensor second_order(const Tensor& a, const Tensor& z, int64_t block) {
  ensure(block > 0 && a.dim() == 2 && z.dim() == 2 && a.size(0) == z.size(0),
         "second_order: rows and block do not fit");
  return SecondOrder::apply(a, z, block);
}

}  // namespace grm::isgib
