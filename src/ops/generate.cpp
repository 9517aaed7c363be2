#include "ops/generate.h"

#include "ops/check.h"

namespace grm::ops {
namespace {

Tensor logit_gradient(AutogradContext* context, const Tensor& de, const Tensor& dkl) {
  const Tensor s = context->get_saved_variables()[0];
  if (!de.defined() && !dkl.defined()) return Tensor();
  const Tensor weight = de.defined() ? de.contiguous() : Tensor();
  const Tensor divergence = dkl.defined() ? dkl.contiguous() : Tensor();
  Tensor ds = torch::empty(s.sizes(), s.options());
  const Place place = place_of(s);
  with_type(s, [&](auto type) {
    using T = decltype(type);
    launch<kernels::bernoulli_backward<T>>(place, data<T>(s), data<T>(weight), data<T>(divergence),
                                           s.numel(), context->saved_data["theta"].toDouble(),
                                           ds.data_ptr<T>());
  });
  return ds;
}

struct EdgeKl : torch::autograd::Function<EdgeKl> {
  static Tensor forward(AutogradContext* context, const Tensor& logits, double theta) {
    const Tensor s = logits.contiguous();
    Tensor kl = torch::empty(s.sizes(), s.options());
    const Place place = place_of(s);
    with_type(s, [&](auto type) {
      using T = decltype(type);
      launch<kernels::bernoulli_forward<T>>(place, data<T>(s), s.numel(), theta, nullptr,
                                            kl.data_ptr<T>());
    });
    context->save_for_backward({s});
    context->saved_data["theta"] = theta;
    return kl;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("edge_kl");
    return {logit_gradient(context, Tensor(), gradients[0]), Tensor()};
  }
};

struct GenerateEdges : torch::autograd::Function<GenerateEdges> {
  static variable_list forward(AutogradContext* context, const Tensor& logits, double theta) {
    const Tensor s = logits.contiguous();
    Tensor e = torch::empty(s.sizes(), s.options());
    Tensor kl = torch::empty(s.sizes(), s.options());
    const Place place = place_of(s);
    with_type(s, [&](auto type) {
      using T = decltype(type);
      launch<kernels::bernoulli_forward<T>>(place, data<T>(s), s.numel(), theta, e.data_ptr<T>(),
                                            kl.data_ptr<T>());
    });
    context->save_for_backward({s});
    context->saved_data["theta"] = theta;
    context->set_materialize_grads(false);
    return {e, kl};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("generate_edges");
    return {logit_gradient(context, gradients[0], gradients[1]), Tensor()};
  }
};

struct GaussianKl : torch::autograd::Function<GaussianKl> {
  static Tensor forward(AutogradContext* context, const Tensor& mu, const Tensor& log_sigma) {
    const Tensor m = mu.contiguous(), l = log_sigma.contiguous();
    Tensor kl = torch::empty({m.size(0)}, m.options());
    const Place place = place_of(m);
    with_type(m, [&](auto type) {
      using T = decltype(type);
      launch<kernels::gaussian_forward<T>>(place, data<T>(m), data<T>(l), m.size(0), m.size(1),
                                           kl.data_ptr<T>());
    });
    context->save_for_backward({m, l});
    return kl;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    check_first_order("gaussian_kl");
    const variable_list saved = context->get_saved_variables();
    const Tensor &m = saved[0], &l = saved[1];
    const Tensor dkl = gradients[0].contiguous();
    Tensor dm = context->needs_input_grad(0) ? torch::empty(m.sizes(), m.options()) : Tensor();
    Tensor dl = context->needs_input_grad(1) ? torch::empty(l.sizes(), l.options()) : Tensor();
    const Place place = place_of(m);
    with_type(m, [&](auto type) {
      using T = decltype(type);
      launch<kernels::gaussian_backward<T>>(place, data<T>(m), data<T>(l), data<T>(dkl), m.size(0),
                                            m.size(1), dm.defined() ? dm.data_ptr<T>() : nullptr,
                                            dl.defined() ? dl.data_ptr<T>() : nullptr);
    });
    return {dm, dl};
  }
};

}  // namespace

Tensor edge_kl(const Tensor& logits, double theta) {
  check_numbers("edge_kl", "logits", logits);
  check_theta("edge_kl", theta);
  return EdgeKl::apply(logits, theta);
}

GeneratedEdges generate_edges(const Tensor& logits, double theta) {
  check_numbers("generate_edges", "logits", logits);
  check_theta("generate_edges", theta);
  const variable_list both = GenerateEdges::apply(logits, theta);
  return {both[0], both[1]};
}

Tensor gaussian_kl(const Tensor& mu, const Tensor& log_sigma) {
  check_shape("gaussian_kl", "mu", mu, {-1, -1});
  check_shape("gaussian_kl", "log_sigma", log_sigma, {mu.size(0), mu.size(1)});
  check_same_type("gaussian_kl", "mu", mu, "log_sigma", log_sigma);
  return GaussianKl::apply(mu, log_sigma);
}

}  // namespace grm::ops
