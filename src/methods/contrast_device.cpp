#include "methods/contrast_device.h"

#include <limits>
#include <vector>

#include "graph/place.h"
#include "methods/contrast.h"
#include "methods/contrast_tiles.h"
#include "methods/kernels.h"

namespace grm {
namespace {

using torch::Tensor;

constexpr double kKeptTiles = 2.0 * 1024 * 1024 * 1024;  // bytes

// The class Tiles of contrast.cpp with all arrays on a GPU; formulas are there.
template <class T>
class DeviceTiles : public ContrastTiles {
 public:
  DeviceTiles(const Tensor& u, const Tensor& v, const Tensor& y1, const Tensor& y2, double tau,
              double gamma, int64_t block)
      : ContrastTiles(u, v, block),
        inverse_tau_(1.0 / tau),
        gamma_(gamma),
        place_(place_of(u)),
        keep_(kept_tile_bytes(u.size(0), static_cast<int64_t>(sizeof(T))) > 0),
        columns_{u.t().contiguous(), v.t().contiguous()},
        cluster_(y1.to(torch::kInt32).contiguous()) {
    const auto wide = u.options().dtype(torch::kFloat64);
    wanted_ = torch::where(y1.eq(y2), cluster_, torch::full_like(cluster_, -1));
    diagonal_ = torch::empty({n_}, wide);
    for (Tensor* sums : {&sums_[0], &sums_[1], &cluster_sums_}) *sums = torch::zeros({n_}, wide);
  }

  DeviceContrast run() {
    for_tiles([&](int a, int b, int64_t i, int64_t j) { add_sums(a, b, i, j); });
    finish_loss();
    for_tiles([&](int a, int b, int64_t i, int64_t j) { add_gradient(a, b, i, j); });
    return {terms_, {gradient_[0], gradient_[1]}};
  }

 private:
  kernels::TileClusters clusters(int a, int b, int64_t i, int64_t j) const {
    if (a == b) return {};
    return {wanted_.data_ptr<int32_t>() + i, cluster_.data_ptr<int32_t>() + j};
  }

  // The tile as the base class computes it, by a product of two matrices that both lie row by row:
  // the GPU's library has its fastest kernels for those.
  Tensor product(int a, int b, int64_t i, int64_t j) {
    const int64_t rows = height(i), cols = height(j);
    Tensor c = keep_ ? torch::empty({rows, cols}, rows_[0].options())
                     : space_.narrow(0, 0, rows * cols).view({rows, cols});
    at::mm_out(c, part(a, i), columns_[b].narrow(1, j, cols));
    if (a == b && i == j) c.fill_diagonal_(-std::numeric_limits<double>::infinity());
    return c;
  }

  void add_sums(int a, int b, int64_t i, int64_t j) {
    const Tensor c = product(a, b, i, j);
    if (keep_) kept_.push_back(c);
    const bool once = a == b && i == j;  // a whole square: its columns are its rows
    launch<kernels::tile_sums<T>>(place_, c.template data_ptr<T>(), c.size(0), c.size(1),
                                  inverse_tau_, sums_[a].template data_ptr<double>() + i,
                                  once ? nullptr : sums_[b].template data_ptr<double>() + j,
                                  clusters(a, b, i, j),
                                  cluster_sums_.template data_ptr<double>() + i);
    if (a != b && i == j) diagonal_.narrow(0, i, height(i)).copy_(c.diagonal());
  }

  void finish_loss() {
    const double n = static_cast<double>(n_);
    const Tensor away = 1.0 - diagonal_;
    const Tensor contrast = away * inverse_tau_ + 0.5 * (sums_[0].log() + sums_[1].log());
    const Tensor none = torch::zeros_like(away);
    const Tensor conditional = torch::where(wanted_ >= 0, away + cluster_sums_.log(), none);
    terms_ = torch::stack({contrast.sum() / n, conditional.sum() / n});
    const auto type = rows_[0].scalar_type();
    for (int view = 0; view < 2; ++view) {
      scales_[view] = (0.5 * inverse_tau_ / n / sums_[view]).to(type);
    }
    cluster_scale_ =
        torch::where(cluster_sums_ > 0, gamma_ / (n * cluster_sums_), none).to(type).contiguous();
    on_diagonal_ = torch::where(wanted_ >= 0, torch::full_like(away, gamma_ / n), none)
                       .sub_(inverse_tau_ / n)
                       .to(type);
  }

  void add_gradient(int a, int b, int64_t i, int64_t j) {
    Tensor c = keep_ ? kept_[next_++] : product(a, b, i, j);
    launch<kernels::tile_weights<T>>(place_, c.template data_ptr<T>(), c.size(0), c.size(1),
                                     inverse_tau_, scales_[a].template data_ptr<T>() + i,
                                     scales_[b].template data_ptr<T>() + j, clusters(a, b, i, j),
                                     cluster_scale_.template data_ptr<T>() + i);
    if (a != b && i == j) c.diagonal().add_(on_diagonal_.narrow(0, i, height(i)));
    add_products(a, b, i, j, c);
  }

  double inverse_tau_, gamma_;
  Place place_;
  bool keep_;                 // tiles from the sums to the gradient
  std::vector<Tensor> kept_;  // in the order of for_tiles
  size_t next_ = 0;
  Tensor columns_[2];                         // [h, n]: the unit rows, transposed
  Tensor wanted_, cluster_;                   // [n] int32
  Tensor diagonal_, sums_[2], cluster_sums_;  // [n] double
  Tensor scales_[2], cluster_scale_;          // [n]
  Tensor on_diagonal_;                        // [n]: what the diagonal of u v^T gets besides
  Tensor terms_;                              // [2] double
};

}  // namespace

double kept_tile_bytes(int64_t nodes, int64_t bytes_of_a_number) {
  const auto n = static_cast<double>(nodes);
  const double bytes = 2 * n * n * static_cast<double>(bytes_of_a_number);
  return bytes <= kKeptTiles ? bytes : 0.0;
}

DeviceContrast device_contrast(const Tensor& u, const Tensor& v, const Tensor& y1, const Tensor& y2,
                               double tau, double gamma, int64_t block) {
  if (u.scalar_type() == torch::kFloat64) {
    return DeviceTiles<double>(u, v, y1, y2, tau, gamma, block).run();
  }
  return DeviceTiles<float>(u, v, y1, y2, tau, gamma, block).run();
}

}  // namespace grm
