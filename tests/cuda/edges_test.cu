// Per-edge reductions and the elementwise parts of the generator.
#include "patterns.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

template <class T>
void degrees(const HostPattern& p, Random& random) {
  const HostPattern t = transposed(p);
  const int64_t nnz = p.entries();
  const auto w = uniform<T>(random, nnz, 0.1, 1.0), dy = uniform<T>(random, nnz);
  const auto s = uniform<T>(random, p.rows);
  const DevicePattern in(p), out(t);
  const Array<T> dw(w), ddy(dy), ds(s);
  Array<T> rows(p.rows), edges(nnz);
  for (const bool weighted : {true, false}) {
    std::vector<double> sum(p.rows), root(p.rows), scaled(nnz), gradient(nnz), spread(nnz);
    std::vector<double> through(p.rows);
    const auto weight = [&](int64_t k) { return weighted ? static_cast<double>(w[k]) : 1.0; };
    for (int64_t i = 0; i < p.rows; ++i) {
      for (int64_t k = p.offset[i]; k < p.offset[i + 1]; ++k) {
        sum[i] += weight(k);
        spread[k] = static_cast<double>(s[i]);
      }
      root[i] = sum[i] > 0 ? 1.0 / std::sqrt(sum[i]) : 0.0;
    }
    // By the chain rule: y_k = w_k r_i r_j moves with w_k, and with every r through the degrees.
    std::vector<double> towards_root(p.rows);
    for (int64_t i = 0; i < p.rows; ++i) {
      for (int64_t k = p.offset[i]; k < p.offset[i + 1]; ++k) {
        const int64_t j = p.index[k];
        scaled[k] = weight(k) * root[i] * root[j];
        towards_root[i] += static_cast<double>(dy[k]) * weight(k) * root[j];
        towards_root[j] += static_cast<double>(dy[k]) * weight(k) * root[i];
      }
    }
    for (int64_t i = 0; i < p.rows; ++i) {
      for (int64_t k = p.offset[i]; k < p.offset[i + 1]; ++k) {
        gradient[k] = static_cast<double>(dy[k]) * root[i] * root[p.index[k]] -
                      0.5 * root[i] * root[i] * root[i] * towards_root[i];
      }
    }
    const T* dws = weighted ? dw.get() : nullptr;
    const std::string what = describe(p, 1);
    make_case<T>("row_sum").out(rows, sum).run(
        what, [&] { gpu<kernels::row_sum<T>>(in.get(), dws, rows.get()); });
    make_case<T>("row_spread", 0.0, 0.0).out(edges, spread).run(what, [&] {
      gpu<kernels::row_spread<T>>(in.get(), ds.get(), edges.get());
    });
    make_case<T>("normalise").out(rows, root).out(edges, scaled).run(what, [&] {
      gpu<kernels::normalise<T>>(in.get(), dws, rows.get(), edges.get());
    });
    std::vector<T> scale(root.begin(), root.end());
    const Array<T> dscale(scale);
    make_case<T>("normalise_backward").out(edges, gradient).run(what, [&] {
      gpu<kernels::normalise_backward<T>>(in.get(), out.get(), dws, dscale.get(), ddy.get(),
                                          edges.get());
    });
  }
}

template <class T>
void softmax(const HostPattern& p, int64_t heads, Random& random) {
  const int64_t n = p.entries() * heads;
  const auto s = uniform<T>(random, n, -5.0, 5.0), dy = uniform<T>(random, n);
  std::vector<double> y(n), ds(n);
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t h = 0; h < heads; ++h) {
      double sum = 0.0, inner = 0.0;
      const auto each = [&](auto body) {
        for (int64_t k = p.offset[i]; k < p.offset[i + 1]; ++k) body(k * heads + h);
      };
      each([&](int64_t k) { sum += std::exp(static_cast<double>(s[k])); });
      each([&](int64_t k) { y[k] = std::exp(static_cast<double>(s[k])) / sum; });
      each([&](int64_t k) { inner += y[k] * static_cast<double>(dy[k]); });
      each([&](int64_t k) { ds[k] = y[k] * (static_cast<double>(dy[k]) - inner); });
    }
  }
  const DevicePattern a(p);
  const Array<T> dscores(s), ddy(dy), dsoft(std::vector<T>(y.begin(), y.end()));
  Array<T> out(n);
  const std::string what = describe(p, heads);
  make_case<T>("row_softmax").out(out, y).run(what, [&] {
    gpu<kernels::row_softmax<T>>(a.get(), dscores.get(), heads, out.get());
  });
  make_case<T>("row_softmax_backward").out(out, ds).run(what, [&] {
    gpu<kernels::row_softmax_backward<T>>(a.get(), dsoft.get(), ddy.get(), heads, out.get());
  });
}

template <class T>
void bernoulli(int64_t n, double theta, Random& random) {
  auto s = uniform<T>(random, n, -12.0, 12.0);
  if (n > 10) {
    s[0] = T(90), s[1] = T(-90), s[2] = T(0), s[3] = T(1e-6), s[4] = T(-400), s[5] = T(400);
  }
  const auto de = uniform<T>(random, n), dkl = uniform<T>(random, n);
  std::vector<double> e(n), kl(n), both(n), first(n), second(n);
  const double logit = std::log(theta) - std::log1p(-theta);
  for (int64_t k = 0; k < n; ++k) {
    const double x = static_cast<double>(s[k]);
    const double on = 1.0 / (1.0 + std::exp(-x)), off = 1.0 / (1.0 + std::exp(x));
    // log e = -softplus(-x), log (1 - e) = -softplus(x)
    const double log_on = -std::max(-x, 0.0) - std::log1p(std::exp(-std::abs(x)));
    const double log_off = -std::max(x, 0.0) - std::log1p(std::exp(-std::abs(x)));
    e[k] = on;
    kl[k] = on * (log_on - std::log(theta)) + off * (log_off - std::log1p(-theta));
    first[k] = on * off * static_cast<double>(de[k]);
    second[k] = on * off * (x - logit) * static_cast<double>(dkl[k]);
    both[k] = first[k] + second[k];
  }
  const Array<T> ds(s), dde(de), ddkl(dkl);
  Array<T> out(n), divergence(n);
  const std::string what = "n " + std::to_string(n);
  make_case<T>("bernoulli_forward").out(out, e).out(divergence, kl).run(what, [&] {
    gpu<kernels::bernoulli_forward<T>>(ds.get(), n, theta, out.get(), divergence.get());
  });
  make_case<T>("bernoulli_forward").out(out, e).run(what, [&] {
    gpu<kernels::bernoulli_forward<T>>(ds.get(), n, theta, out.get(), nullptr);
  });
  make_case<T>("bernoulli_forward").out(divergence, kl).run(what, [&] {
    gpu<kernels::bernoulli_forward<T>>(ds.get(), n, theta, nullptr, divergence.get());
  });
  make_case<T>("bernoulli_backward").out(out, both).run(what, [&] {
    gpu<kernels::bernoulli_backward<T>>(ds.get(), dde.get(), ddkl.get(), n, theta, out.get());
  });
  make_case<T>("bernoulli_backward").out(out, first).run(what, [&] {
    gpu<kernels::bernoulli_backward<T>>(ds.get(), dde.get(), nullptr, n, theta, out.get());
  });
  make_case<T>("bernoulli_backward").out(out, second).run(what, [&] {
    gpu<kernels::bernoulli_backward<T>>(ds.get(), nullptr, ddkl.get(), n, theta, out.get());
  });
}

template <class T>
void gaussian(int64_t rows, int64_t d, Random& random) {
  const auto mu = uniform<T>(random, rows * d), log_sigma = uniform<T>(random, rows * d, -3, 1);
  const auto dkl = uniform<T>(random, rows);
  std::vector<double> kl(rows), dmu(rows * d), dlog(rows * d);
  for (int64_t i = 0; i < rows * d; ++i) {
    const double m = static_cast<double>(mu[i]), l = static_cast<double>(log_sigma[i]);
    kl[i / d] += 0.5 * (std::exp(2 * l) + m * m - 1.0) - l;
    dmu[i] = static_cast<double>(dkl[i / d]) * m;
    dlog[i] = static_cast<double>(dkl[i / d]) * (std::exp(2 * l) - 1.0);
  }
  const Array<T> dm(mu), dl(log_sigma), dk(dkl);
  Array<T> out(rows), first(rows * d), second(rows * d);
  const std::string what = std::to_string(rows) + " x " + std::to_string(d);
  make_case<T>("gaussian_forward").out(out, kl).run(what, [&] {
    gpu<kernels::gaussian_forward<T>>(dm.get(), dl.get(), rows, d, out.get());
  });
  make_case<T>("gaussian_backward").out(first, dmu).out(second, dlog).run(what, [&] {
    gpu<kernels::gaussian_backward<T>>(dm.get(), dl.get(), dk.get(), rows, d, first.get(),
                                       second.get());
  });
}

template <class T>
void all(const Size& size, Random& random) {
  for (const HostPattern& p : all_patterns(random, size)) {
    if (p.rows == p.cols) degrees<T>(p, random);
    for (const int64_t heads : {1, 2, 3, 4, 8, 33}) softmax<T>(p, heads, random);
  }
  for (const int64_t n : {0, 1, 1000, 4097}) bernoulli<T>(n, 0.3, random);
  for (const int64_t d : size.widths()) gaussian<T>(size.small ? 20 : 300, d, random);
  gaussian<T>(0, 3, random);
}

}  // namespace

void test_edges(const Size& size) {
  Random random(12);
  all<float>(size, random);
  all<double>(size, random);
}

}  // namespace test
