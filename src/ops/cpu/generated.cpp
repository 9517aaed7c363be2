// The fused generator on graphs whose matrices over pairs fit in cache: one thread works on one
// graph. E is symmetric, and only vectors from the diagonal on are computed of symmetric matrices.
#include <algorithm>

#include "ops/cpu/generated_tile.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace tile {
namespace {

constexpr int64_t kCacheBytes = 768 << 10;  // four matrices
constexpr int64_t kChunkPairs = 1 << 12;

template <class T>
bool fits(int64_t nodes) {
  const int64_t p = padded<T>(nodes);
  return 4 * p * p * static_cast<int64_t>(sizeof(T)) <= kCacheBytes;
}

// The products of a symmetric matrix from the diagonal on.
template <class T, Dots kKind>
void upper_dots(const Rows<T>& a, const Rows<T>& b, int64_t p, T* s, Ahead& ahead) {
  for (int64_t i = 0; i < a.n; i += kLane<T>) {
    dots<T, kKind>(a, b, i, std::min<int64_t>(i + kLane<T>, a.n), i, p, s + i * p, &ahead);
  }
}

// r = degree^-1/2, zero in the padding; all ones where nothing is normalised.
template <class T>
void scales(const T* e, int64_t n, int64_t p, bool normalised, T* r) {
  for (int64_t i = 0; i < n; ++i) r[i] = normalised ? inverse_root(sum(e + i * p, p)) : T{1};
  std::fill(r + n, r + p, T{0});
}

template <class T>
void forward(const Task<T>& task, int64_t graph) {
  const int64_t n = task.nodes(graph), first = task.first(graph), p = padded<T>(n);
  const int64_t d = task.batch.edge_width, width = task.batch.width;
  T* e = workspace<T>(p * p + 2 * p);
  T *r = e + p * p, *kl = r + p;
  const Rows<T> f{task.f + first * d, n, d};
  Ahead ahead(8);
  ahead.add(f.first, n * d);
  if (task.y) {
    ahead.add(task.x + first * width, n * width);
    ahead.add(task.y + first * width, n * width);
  }
  upper_dots<T, Dots::plain>(f, f, p, e, ahead);
  Vec<T, kLane<T>> on_diagonal = {}, beyond = {};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = first_column<T>(i);
    T* row = e + i * p;
    if (task.kl) {
      weights_and_kl(row + begin, p - begin, task.prior, row + begin, kl + begin);
      clear_padding(kl, n, p);
      on_diagonal += load<T, kLane<T>>(kl + begin);
      for (int64_t k = begin + kLane<T>; k < p; k += kLane<T>) beyond += load<T, kLane<T>>(kl + k);
    } else {
      weights(row + begin, p - begin, row + begin);
    }
    clear_padding(row, n, p);
  }
  if (task.kl) {
    const T total = sum_lanes<T, kLane<T>>(on_diagonal) + T{2} * sum_lanes<T, kLane<T>>(beyond);
    task.kl[graph] = total * task.pair_share(n);
  }
  if (!task.y) return;
  mirror(e, n, p);
  if (task.batch.normalised) {
    scales(e, n, p, true, r);
    for (int64_t i = 0; i < n; ++i) scale_row(e + i * p, r[i], r, p);
  }
  product<T>(n, n, width, e, p, task.x + first * width, width, task.y + first * width, width);
}

// With G_ij = <dy_i, x_j>, M = G + G^T, r = degree^-1/2, u_i = r_i^2 t_i / 2 and
//   t_i  = sum_j r_i r_j e_ij M_ij,
// the gradient of s_ij, taken with that of s_ji, is
//   H_ij = e_ij (1 - e_ij) (r_i r_j M_ij - u_i - u_j + 2 dkl share (s_ij - logit theta)),
// and df = H f, dx = D^-1/2 E D^-1/2 dy.
template <class T>
void backward(const Task<T>& task, int64_t graph) {
  const int64_t n = task.nodes(graph), first = task.first(graph), p = padded<T>(n);
  const int64_t d = task.batch.edge_width, width = task.dy ? task.batch.width : 0;
  T* s = workspace<T>(4 * p * p + 2 * p);
  T *e = s + p * p, *h = e + p * p, *m = h + p * p, *r = m + p * p, *u = r + p;
  const Rows<T> f{task.f + first * d, n, d};
  Ahead ahead(task.dy && task.df ? 4 : 8);  // then there are twice as many blocks
  ahead.add(f.first, n * d);
  if (task.df) ahead.add(task.df + first * d, n * d);
  if (task.dy) {
    ahead.add(task.x + first * width, n * width);
    ahead.add(task.dy + first * width, n * width);
  }
  if (task.dx) ahead.add(task.dx + first * width, n * width);
  upper_dots<T, Dots::plain>(f, f, p, s, ahead);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = first_column<T>(i), at = i * p + begin;
    weights_and_slope(s + at, p - begin, e + at, h + at);
    clear_padding(e + i * p, n, p);
  }
  if (task.dy) {
    const Rows<T> x{task.x + first * width, n, width}, dy{task.dy + first * width, n, width};
    mirror(e, n, p);
    scales(e, n, p, task.batch.normalised, r);
    std::fill(u, u + p, T{0});
    if (task.df) {
      upper_dots<T, Dots::symmetrised>(dy, x, p, m, ahead);
      mirror(m, n, p);
    }
    if (task.df && task.batch.normalised) {
      for (int64_t i = 0; i < n; ++i) {
        const T t = r[i] * sum_of_products(e + i * p, m + i * p, r, p);
        u[i] = T(0.5) * r[i] * r[i] * t;
      }
    }
    if (task.dx) {
      if (task.batch.normalised) {
        for (int64_t i = 0; i < n; ++i) scale_row(e + i * p, r[i], r, p);
      }
      product<T>(n, n, width, e, p, dy.first, width, task.dx + first * width, width);
    }
  }
  if (!task.df) return;
  const T divergence = task.dkl ? T{2} * task.dkl[graph] * task.pair_share(n) : T{0};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = first_column<T>(i), at = i * p + begin;
    const LogitGradient<T> gradient{r[i], u[i], r + begin, u + begin, divergence, task.prior.logit};
    gradient.row(s + at, h + at, task.dy ? m + at : nullptr, p - begin, h + at);
  }
  mirror(h, n, p);
  product<T>(n, n, d, h, p, f.first, d, task.df + first * d, d);
}

}  // namespace
}  // namespace tile

namespace {

// Small graphs in parallel, then the large ones one after the other, each in parallel.
template <class T, class Small, class Large>
void each_graph(const GeneratorBatch& batch, const Small& small, const Large& large) {
  const int64_t pairs = std::max<int64_t>(1, batch.max_nodes * batch.max_nodes);
  const int64_t chunk = std::max<int64_t>(1, tile::kChunkPairs / pairs);
  parallel_chunks(batch.graphs, chunk, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const int64_t nodes = batch.offset[g + 1] - batch.offset[g];
      if (nodes > 0 && tile::fits<T>(nodes)) small(g);
    }
  });
  if (tile::fits<T>(batch.max_nodes)) return;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    if (!tile::fits<T>(batch.offset[g + 1] - batch.offset[g])) large(g);
  }
}

}  // namespace

template <class T>
void generate_forward(const GeneratorBatch& batch, const T* f, const T* x, T* y, T* kl) {
  const tile::Task<T> task{batch,   tile::Prior<T>(batch.theta),   f,  x,       nullptr,
                           nullptr, batch.width > 0 ? y : nullptr, kl, nullptr, nullptr};
  if (kl) std::fill(kl, kl + batch.graphs, T{0});
  each_graph<T>(
      batch, [&](int64_t g) { tile::forward(task, g); },
      [&](int64_t g) { tile::large_forward(task, g); });
}

template <class T>
void generate_backward(const GeneratorBatch& batch, const T* f, const T* x, const T* dy,
                       const T* dkl, T* df, T* dx) {
  const tile::Task<T> task{batch,
                           tile::Prior<T>(batch.theta),
                           f,
                           x,
                           batch.width > 0 ? dy : nullptr,
                           dkl,
                           nullptr,
                           nullptr,
                           batch.edge_width > 0 ? df : nullptr,
                           dx};
  each_graph<T>(
      batch, [&](int64_t g) { tile::backward(task, g); },
      [&](int64_t g) { tile::large_backward(task, g); });
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(generate_forward)
GRM_CPU_KERNEL(generate_backward)
