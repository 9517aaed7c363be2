#include "methods/contrast.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/place.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "methods/contrast_device.h"
#include "methods/contrast_tiles.h"
#include "methods/kernels.h"

namespace grm {
namespace {

using torch::Tensor;

// The loss and its gradient with respect to unit rows u, v, tile by tile. With e_ij the exponential
// of a cosine over tau and shares r_i = 1 / (2 n tau d_i) of the denominators d, the derivatives
// are
//   u-u (v-v alike):  e_ij (r1_i + r1_j), once per unordered pair,
//   u-v:              e_ij (r1_i + r2_j) - [i = j] / (n tau)
//                     - gamma act_i / n (m_ij e^{c_ij} / d3_i - [i = j]).
template <class T>
class Tiles : public ContrastTiles {
 public:
  Tiles(const Tensor& u, const Tensor& v, const Tensor& y1, const Tensor& y2, double tau,
        double gamma, int64_t block)
      : ContrastTiles(u, v, block),
        inverse_tau_(1.0 / tau),
        gamma_(gamma),
        wanted_(n_),
        cluster_(n_),
        diagonal_(n_) {
    const int64_t *first = y1.data_ptr<int64_t>(), *second = y2.data_ptr<int64_t>();
    for (int64_t i = 0; i < n_; ++i) {
      cluster_[i] = static_cast<int32_t>(first[i]);
      wanted_[i] = first[i] == second[i] ? cluster_[i] : -1;
    }
    for (std::vector<double>* sums : {&sums_[0], &sums_[1], &cluster_sums_}) sums->assign(n_, 0.0);
  }

  void run() {
    for_tiles([&](int a, int b, int64_t i, int64_t j) { add_sums(a, b, i, j); });
    finish_loss();
    for_tiles([&](int a, int b, int64_t i, int64_t j) { add_gradient(a, b, i, j); });
  }

  double contrast() const { return contrast_; }
  double conditional() const { return conditional_; }

 private:
  kernels::TileClusters clusters(int a, int b, int64_t i, int64_t j) const {
    if (a == b) return {};
    return {wanted_.data() + i, cluster_.data() + j};
  }

  void add_sums(int a, int b, int64_t i, int64_t j) {
    const Tensor c = tile(a, b, i, j);
    const T* p = c.template data_ptr<T>();
    const bool once = a == b && i == j;  // a whole square: its columns are its rows
    on_host<kernels::tile_sums<T>>(p, c.size(0), c.size(1), inverse_tau_, sums_[a].data() + i,
                                   once ? nullptr : sums_[b].data() + j, clusters(a, b, i, j),
                                   cluster_sums_.data() + i);
    if (a != b && i == j) {
      for (int64_t k = 0; k < c.size(0); ++k) {
        diagonal_[i + k] = static_cast<double>(p[k * c.size(1) + k]);
      }
    }
  }

  void finish_loss() {
    const double n = static_cast<double>(n_);
    for (int64_t i = 0; i < n_; ++i) {
      const double away = 1.0 - diagonal_[i];
      contrast_ +=
          (away * inverse_tau_ + 0.5 * (std::log(sums_[0][i]) + std::log(sums_[1][i]))) / n;
      if (wanted_[i] >= 0) conditional_ += (away + std::log(cluster_sums_[i])) / n;
    }
    const double share = 0.5 * inverse_tau_ / n;
    for (int view = 0; view < 2; ++view) {
      for (const double sum : sums_[view]) scales_[view].push_back(static_cast<T>(share / sum));
    }
    for (const double sum : cluster_sums_) {
      cluster_scale_.push_back(static_cast<T>(sum > 0 ? gamma_ / (n * sum) : 0.0));
    }
  }

  void add_gradient(int a, int b, int64_t i, int64_t j) {
    Tensor c = tile(a, b, i, j);
    T* p = c.template data_ptr<T>();
    on_host<kernels::tile_weights<T>>(p, c.size(0), c.size(1), inverse_tau_, scales_[a].data() + i,
                                      scales_[b].data() + j, clusters(a, b, i, j),
                                      cluster_scale_.data() + i);
    if (a != b && i == j) {
      const double n = static_cast<double>(n_);
      for (int64_t k = 0; k < c.size(0); ++k) {
        const double conditional = wanted_[i + k] >= 0 ? gamma_ / n : 0.0;
        p[k * c.size(1) + k] += static_cast<T>(conditional - inverse_tau_ / n);
      }
    }
    add_products(a, b, i, j, c);
  }

  double inverse_tau_, gamma_;
  std::vector<int32_t> wanted_, cluster_;
  std::vector<double> diagonal_, sums_[2], cluster_sums_;
  std::vector<T> scales_[2], cluster_scale_;
  double contrast_ = 0.0, conditional_ = 0.0;
};

struct Contrast : torch::autograd::Function<Contrast> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& u, const Tensor& v,
                        const Tensor& y1, const Tensor& y2, double tau, double gamma, int64_t block,
                        ContrastTerms* terms) {
    Tensor loss;
    if (u.is_cuda()) {
      const DeviceContrast found =
          device_contrast(u.contiguous(), v.contiguous(), y1, y2, tau, gamma, block);
      context->save_for_backward({found.gradient[0], found.gradient[1]});
      terms->contrast = found.terms.select(0, 0);
      terms->conditional = found.terms.select(0, 1);
      return (terms->contrast - gamma * terms->conditional).to(u.scalar_type());
    }
    AT_DISPATCH_FLOATING_TYPES(u.scalar_type(), "contrast", [&] {
      Tiles<scalar_t> tiles(u.contiguous(), v.contiguous(), y1.contiguous(), y2.contiguous(), tau,
                            gamma, block);
      tiles.run();
      terms->contrast = torch::full({}, tiles.contrast(), torch::kFloat64);
      terms->conditional = torch::full({}, tiles.conditional(), torch::kFloat64);
      loss = torch::full({}, tiles.contrast() - gamma * tiles.conditional(), u.options());
      context->save_for_backward({tiles.gradient(0), tiles.gradient(1)});
    });
    return loss;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    ensure(!at::GradMode::is_enabled(), "the contrast has no second derivative");
    const auto saved = context->get_saved_variables();
    const Tensor none;
    return {saved[0] * gradients[0], saved[1] * gradients[0], none, none, none, none, none, none};
  }
};

}  // namespace

Tensor unit_rows(const Tensor& z) {
  return z / torch::clamp_min(z.norm(2, 1, /*keepdim=*/true), 1e-12);
}

ContrastTerms contrast_loss(const Tensor& z1, const Tensor& z2, const Tensor& y1, const Tensor& y2,
                            double tau, double gamma, int64_t block) {
  ensure(z1.dim() == 2 && z1.sizes() == z2.sizes() && z1.size(0) > 0,
         "contrast: two views of the same nodes are needed");
  ensure(y1.numel() == z1.size(0) && y2.numel() == z1.size(0), "contrast: a cluster per node");
  ensure(tau >= 0.05 && block >= 0, "contrast: tau or the block is too small");
  if (block == 0) block = z1.is_cuda() ? 4096 : 512;
  ContrastTerms terms;
  terms.loss = Contrast::apply(unit_rows(z1), unit_rows(z2), to_place_of(y1, z1),
                               to_place_of(y2, z1), tau, gamma, block, &terms);
  return terms;
}

Tensor sinkhorn(const Tensor& s, double epsilon, int64_t iterations) {
  ensure(s.dim() == 2, "sinkhorn: one row of scores per node is needed");
  const Tensor scores = s.detach().contiguous();
  Tensor q = torch::empty_like(scores);
  AT_DISPATCH_FLOATING_TYPES(s.scalar_type(), "sinkhorn", [&] {
    launch<kernels::sinkhorn<scalar_t>>(place_of(scores), scores.data_ptr<scalar_t>(), s.size(0),
                                        s.size(1), epsilon, iterations, q.data_ptr<scalar_t>());
  });
  return q;
}

}  // namespace grm
