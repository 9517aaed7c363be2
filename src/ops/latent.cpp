#include "ops/latent.h"

#include "ops/check.h"
#include "ops/generate.h"
#include "ops/sparse.h"

namespace grm::ops {
namespace {

constexpr double kTiny = 1e-12;  // the distance of equal points has a gradient, 0

kernels::LogSigma rule_of(double shift) {
  return {shift, kLogSigmaLow, kLogSigmaHigh};
}

struct Latent : torch::autograd::Function<Latent> {
  // eps is empty for z = mu.
  static variable_list forward(AutogradContext* context, const Tensor& heads, const Tensor& eps,
                               double shift) {
    const Tensor rows = heads.contiguous(), noise = eps.contiguous();
    const int64_t n = rows.size(0), k = rows.size(1) / 2;
    Tensor z = torch::empty({n, k}, rows.options()), kl = torch::empty({n}, rows.options());
    with_type(rows, [&](auto type) {
      using T = decltype(type);
      on_host<kernels::latent_forward<T>>(data<T>(rows),
                                          noise.dim() == 2 ? data<T>(noise) : nullptr, n, k,
                                          rule_of(shift), z.data_ptr<T>(), kl.data_ptr<T>());
    });
    context->save_for_backward({rows, noise});
    context->saved_data["shift"] = shift;
    context->set_materialize_grads(false);
    return {z, kl};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("latent_sample");
    if (!gradients[0].defined() && !gradients[1].defined()) return {Tensor(), Tensor(), Tensor()};
    const variable_list saved = context->get_saved_variables();
    const Tensor &rows = saved[0], &noise = saved[1];
    const Tensor dz = gradients[0].defined() ? gradients[0].contiguous() : Tensor();
    const Tensor dkl = gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    Tensor dheads = torch::empty(rows.sizes(), rows.options());
    with_type(rows, [&](auto type) {
      using T = decltype(type);
      on_host<kernels::latent_backward<T>>(
          data<T>(rows), noise.dim() == 2 ? data<T>(noise) : nullptr, data<T>(dz), data<T>(dkl),
          rows.size(0), rows.size(1) / 2, rule_of(context->saved_data["shift"].toDouble()),
          dheads.data_ptr<T>());
    });
    return {dheads, Tensor(), Tensor()};
  }
};

struct RowDistance : torch::autograd::Function<RowDistance> {
  // Inputs by edge of the autograd graph: 0 h, 1 z. index is empty where row i belongs to row i.
  static Tensor forward(AutogradContext* context, const Tensor& h, const Tensor& z,
                        const Tensor& index, bool indexed) {
    const Tensor from = h.contiguous(), to = z.contiguous();
    Tensor d = torch::empty({z.size(0)}, z.options());
    with_type(z, [&](auto type) {
      using T = decltype(type);
      on_host<kernels::distance_forward<T>>(data<T>(from), data<T>(to), place(index, indexed),
                                            z.size(0), z.size(1), static_cast<T>(kTiny),
                                            d.data_ptr<T>());
    });
    context->save_for_backward({from, to, d});
    context->saved_data["index"] = index;
    context->saved_data["indexed"] = indexed;
    return d;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("row_distance");
    const variable_list saved = context->get_saved_variables();
    const Tensor &h = saved[0], &z = saved[1], &d = saved[2];
    const Tensor index = context->saved_data["index"].toTensor();
    const bool indexed = context->saved_data["indexed"].toBool();
    const Tensor dd = gradients[0].contiguous();
    Tensor dz = torch::empty(z.sizes(), z.options()), dh;
    with_type(z, [&](auto type) {
      using T = decltype(type);
      on_host<kernels::distance_backward<T>>(data<T>(h), data<T>(z), place(index, indexed),
                                             data<T>(d), data<T>(dd), z.size(0), z.size(1),
                                             dz.data_ptr<T>());
    });
    if (context->needs_input_grad(0)) {
      dh = indexed ? sum_by_index(dz, index, h.size(0)).neg_() : dz.neg();
    }
    return {dh, dz, Tensor(), Tensor()};
  }

 private:
  static const int64_t* place(const Tensor& index, bool indexed) {
    return indexed ? index.data_ptr<int64_t>() : nullptr;
  }

  // Row j: the sum of the rows i with index[i] = j, in order.
  static Tensor sum_by_index(const Tensor& rows, const Tensor& index, int64_t count) {
    Tensor offsets = torch::empty({count + 1}, torch::kInt64);
    Tensor positions = torch::empty({index.numel()}, torch::kInt32);
    on_host<kernels::positions_by_value>(index.data_ptr<int64_t>(), index.numel(), count,
                                         offsets.data_ptr<int64_t>(),
                                         positions.data_ptr<int32_t>());
    Tensor sums = torch::empty({count, rows.size(1)}, rows.options());
    with_type(rows, [&](auto type) {
      using T = decltype(type);
      const kernels::Pattern pattern{count, offsets.data_ptr<int64_t>(),
                                     positions.data_ptr<int32_t>(), nullptr};
      on_host<kernels::spmm<T>>(pattern, nullptr, data<T>(rows), rows.size(1), sums.data_ptr<T>());
    });
    return sums;
  }
};

// On other devices than the CPU: the same mathematics in plain operators.
LatentSample plain_sample(const Tensor& heads, double shift, const Tensor& eps) {
  const std::vector<Tensor> halves = heads.chunk(2, 1);
  const Tensor log_sigma = torch::clamp(halves[1] + shift, kLogSigmaLow, kLogSigmaHigh);
  return {eps.defined() ? halves[0] + torch::exp(log_sigma) * eps : halves[0],
          gaussian_kl(halves[0], log_sigma)};
}

}  // namespace

LatentSample latent_sample(const Tensor& heads, double shift, const Tensor& eps) {
  check_shape("latent_sample", "heads", heads, {-1, -1});
  if (heads.size(1) % 2 != 0) {
    fail(ErrorKind::shape, "latent_sample: heads is {}, an even number of columns was expected",
         describe(heads));
  }
  if (eps.defined()) {
    check_shape("latent_sample", "eps", eps, {heads.size(0), heads.size(1) / 2});
    check_same_type("latent_sample", "heads", heads, "eps", eps);
  }
  if (!heads.device().is_cpu()) return plain_sample(heads, shift, eps);
  const variable_list both =
      Latent::apply(heads, eps.defined() ? eps : torch::empty({0}, heads.options()), shift);
  return {both[0], both[1]};
}

Tensor row_distance(const Tensor& h, const Tensor& z, const Tensor& index) {
  check_shape("row_distance", "z", z, {-1, -1});
  check_shape("row_distance", "h", h, {index.defined() ? -1 : z.size(0), z.size(1)});
  check_same_type("row_distance", "h", h, "z", z);
  if (!z.device().is_cpu()) {
    const Tensor from = index.defined() ? gather_rows(h, index) : h;
    return torch::sqrt((from - z).square().sum(1) + kTiny);
  }
  if (!index.defined()) {
    return RowDistance::apply(h, z, torch::empty({0}, torch::kInt64), false);
  }
  const Tensor places = check_index("row_distance", "index", index);
  const int64_t* at = places.data_ptr<int64_t>();
  if (places.numel() != z.size(0)) {
    fail(ErrorKind::shape, "row_distance: index has {} entries, but z is {}", places.numel(),
         describe(z));
  }
  for (int64_t k = 0; k < places.numel(); ++k) {
    if (at[k] < 0 || at[k] >= h.size(0)) {
      fail(ErrorKind::shape, "row_distance: index[{}] is {}, but h is {}: 0 to {} was expected", k,
           at[k], describe(h), h.size(0) - 1);
    }
  }
  return RowDistance::apply(h, z, places, true);
}

}  // namespace grm::ops
