// The fused generator on graphs whose matrices over pairs do not fit in cache.
#include <algorithm>
#include <vector>

#include "ops/cpu/generated_tile.h"

namespace grm::cpu::GRM_CPU_VARIANT::tile {
namespace {

constexpr int64_t kPanel = 32;  // rows

/// The matrices of one graph, a panel of rows at a time.
template <class T>
class Panels {
 public:
  Panels(const Task<T>& task, int64_t graph)
      : task_(task),
        n_(task.nodes(graph)),
        p_(padded<T>(n_)),
        d_(task.batch.edge_width),
        width_(task.batch.width),
        f_{task.f + task.first(graph) * d_, n_, d_},
        r_(p_, T{0}),
        u_(p_, T{0}) {}

  int64_t nodes() const { return n_; }
  int64_t stride() const { return p_; }
  T* r() { return r_.data(); }
  T* u() { return u_.data(); }

  /// body(begin, end, memory) for every panel, in parallel, with `matrices` panels of memory.
  template <class Body>
  void each(int64_t matrices, const Body& body) const {
    parallel_chunks(n_, kPanel, [&](int64_t begin, int64_t end) {
      body(begin, end, workspace<T>(matrices * kPanel * p_ + p_));
    });
  }

  /// The logits of a panel.
  void logits(int64_t begin, int64_t end, T* s) const {
    dots<T, Dots::plain>(f_, f_, begin, end, 0, p_, s);
  }

  /// e = sigmoid(s) with zeros in the padding, and r_i of the rows. In place is fine.
  void weigh(int64_t begin, int64_t end, const T* s, T* e) const {
    weights(s, (end - begin) * p_, e);
    clear_padding(end - begin, e);
  }

  void clear_padding(int64_t rows, T* e) const {
    for (int64_t i = 0; i < rows; ++i) std::fill(e + i * p_ + n_, e + (i + 1) * p_, T{0});
  }

  void set_scales(int64_t begin, int64_t end, const T* e) {
    for (int64_t i = begin; i < end; ++i) {
      r_[i] = task_.batch.normalised ? inverse_root(sum(e + (i - begin) * p_, p_)) : T{1};
    }
  }

  /// to = D^-1/2 E D^-1/2 from for the rows of a panel, whose weights are overwritten.
  void propagate(int64_t begin, int64_t end, T* e, const T* from, T* to) const {
    if (task_.batch.normalised) {
      for (int64_t i = begin; i < end; ++i) {
        scale_row(e + (i - begin) * p_, r_[i], r_.data(), p_);
      }
    }
    product<T>(end - begin, n_, width_, e, p_, from, width_, to + begin * width_, width_);
  }

 private:
  const Task<T>& task_;
  int64_t n_, p_, d_, width_;
  Rows<T> f_;
  std::vector<T> r_, u_;
};

}  // namespace

template <class T>
void large_forward(const Task<T>& task, int64_t graph) {
  Panels<T> panels(task, graph);
  const int64_t n = panels.nodes(), p = panels.stride(), width = task.batch.width;
  std::vector<T> divergence((n + kPanel - 1) / kPanel, T{0});
  panels.each(1, [&](int64_t begin, int64_t end, T* s) {
    panels.logits(begin, end, s);
    if (task.kl) {
      T* kl = s + kPanel * p;
      T& total = divergence[begin / kPanel];
      for (int64_t i = 0; i < end - begin; ++i) {
        weights_and_kl(s + i * p, p, task.prior, s + i * p, kl);
        std::fill(kl + n, kl + p, T{0});
        total += sum(kl, p);
      }
      panels.clear_padding(end - begin, s);
    } else {
      panels.weigh(begin, end, s, s);
    }
    panels.set_scales(begin, end, s);
  });
  if (task.kl) {
    T total = T{0};
    for (const T part : divergence) total += part;
    task.kl[graph] = total * task.pair_share(n);
  }
  if (!task.y) return;
  const int64_t first = task.first(graph) * width;
  panels.each(1, [&](int64_t begin, int64_t end, T* s) {
    panels.logits(begin, end, s);
    panels.weigh(begin, end, s, s);
    panels.propagate(begin, end, s, task.x + first, task.y + first);
  });
}

// As for small graphs; see there for the formulas.
template <class T>
void large_backward(const Task<T>& task, int64_t graph) {
  Panels<T> panels(task, graph);
  const int64_t n = panels.nodes(), p = panels.stride();
  const int64_t d = task.batch.edge_width, width = task.batch.width;
  const int64_t first = task.first(graph);
  const T* f = task.f + first * d;
  const T* dy = task.dy ? task.dy + first * width : nullptr;
  const bool through_product = dy && task.df;
  T *r = panels.r(), *u = panels.u();
  // M of a panel.
  const auto products = [&](int64_t begin, int64_t end, T* m) {
    const Rows<T> given{dy, n, width}, x{task.x + first * width, n, width};
    dots<T, Dots::symmetrised>(given, x, begin, end, 0, p, m);
  };
  if (dy) {
    panels.each(1, [&](int64_t begin, int64_t end, T* s) {
      panels.logits(begin, end, s);
      panels.weigh(begin, end, s, s);
      panels.set_scales(begin, end, s);
    });
    panels.each(2, [&](int64_t begin, int64_t end, T* e) {
      panels.logits(begin, end, e);
      panels.weigh(begin, end, e, e);
      if (through_product && task.batch.normalised) {
        T* m = e + kPanel * p;
        products(begin, end, m);
        for (int64_t i = begin; i < end; ++i) {
          const int64_t at = (i - begin) * p;
          u[i] = T(0.5) * r[i] * r[i] * (r[i] * sum_of_products(e + at, m + at, r, p));
        }
      }
      if (task.dx) panels.propagate(begin, end, e, dy, task.dx + first * width);
    });
  }
  if (!task.df) return;
  const T divergence = task.dkl ? T{2} * task.dkl[graph] * task.pair_share(n) : T{0};
  panels.each(4, [&](int64_t begin, int64_t end, T* s) {
    T *h = s + kPanel * p, *m = h + kPanel * p, *other = m + kPanel * p;
    panels.logits(begin, end, s);
    weights_and_slope(s, (end - begin) * p, other, h);
    if (through_product) products(begin, end, m);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = (i - begin) * p;
      const LogitGradient<T> gradient{r[i], u[i], r, u, divergence, task.prior.logit};
      gradient.row(s + at, h + at, through_product ? m + at : nullptr, p, h + at);
    }
    product<T>(end - begin, n, d, h, p, f, d, task.df + (first + begin) * d, d);
  });
}

template void large_forward(const Task<float>&, int64_t);
template void large_forward(const Task<double>&, int64_t);
template void large_backward(const Task<float>&, int64_t);
template void large_backward(const Task<double>&, int64_t);

}  // namespace grm::cpu::GRM_CPU_VARIANT::tile
