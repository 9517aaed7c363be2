// Random streams, dropout, batch normalisation and Adam. The streams are compared with the CPU's
// own fill (src/core/cpu/rng_fill.cpp is linked in).
#include <array>
#include <memory>

#include "harness.h"
#include "nn/kernels.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

const auto host_uniform = grm::cpu_kernel<kernels::philox_uniform<float>, grm::variants::plain>();
const auto host_normal = grm::cpu_kernel<kernels::philox_normal<float>, grm::variants::plain>();

constexpr uint64_t kKey = 0x9E3779B97F4A7C15u;

// Philox4x32-10 once more, from the paper's text, for the numbers in double.
std::array<uint32_t, 4> philox(uint64_t counter, uint64_t key) {
  std::array<uint32_t, 4> c{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c[0], p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

double unit(uint32_t low, uint32_t high) {
  return static_cast<double>((low | (static_cast<uint64_t>(high) << 32)) >> 11) * 0x1.0p-53;
}

void streams(int64_t n) {
  std::vector<float> unit_floats(n), shifted(n), normal(n);
  host_uniform(unit_floats.data(), n, {kKey}, 3, 0.0f, 1.0f);
  host_uniform(shifted.data(), n, {kKey}, 0, -0.7f, 0.2f);
  host_normal(normal.data(), n, {kKey}, 1ull << 33);
  std::vector<double> wide(n), wide_normal(n);
  for (int64_t i = 0; i < n; ++i) {
    const auto pair = philox(static_cast<uint64_t>(i / 2), kKey);
    const auto own = philox(static_cast<uint64_t>(i), kKey);
    wide[i] = -2.0 + 5.0 * unit(pair[i % 2 * 2], pair[i % 2 * 2 + 1]);
    wide_normal[i] = std::sqrt(-2.0 * std::log(1.0 - unit(own[0], own[1]))) *
                     std::cos(2.0 * M_PI * unit(own[2], own[3]));
  }
  Array<float> out(n);
  Array<double> out64(n);
  const Array<uint64_t> place(std::vector<uint64_t>{kKey});
  const std::string what = "n " + std::to_string(n);
  Case("philox_uniform", "float", 0.0).out(out, widened(unit_floats)).run(what, [&] {
    gpu<kernels::philox_uniform<float>>(out.get(), n, {kKey}, 3, 0.0f, 1.0f);
  });
  Case("philox_uniform", "float", 0.0).out(out, widened(unit_floats)).run(what + ", placed", [&] {
    gpu<kernels::philox_uniform<float>>(out.get(), n, {0, place.get()}, 3, 0.0f, 1.0f);
  });
  Case("philox_uniform, shifted", "float", 1e-7).out(out, widened(shifted)).run(what, [&] {
    gpu<kernels::philox_uniform<float>>(out.get(), n, {kKey}, 0, -0.7f, 0.2f);
  });
  Case("philox_normal", "float", 1e-6).out(out, widened(normal)).run(what, [&] {
    gpu<kernels::philox_normal<float>>(out.get(), n, {kKey}, 1ull << 33);
  });
  const auto values = out.read();
  double largest = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(values[i]) - normal[i]));
  }
  Array<double> worst(1);
  Case("philox_normal, largest", "float", 2e-6).out(worst, {0.0}).run(what, [&] {
    worst.set({largest});
  });
  Case("philox_uniform", "double", 0.0).out(out64, wide).run(what, [&] {
    gpu<kernels::philox_uniform<double>>(out64.get(), n, {kKey}, 0, -2.0, 3.0);
  });
  Case("philox_normal", "double", 1e-14).out(out64, wide_normal).run(what, [&] {
    gpu<kernels::philox_normal<double>>(out64.get(), n, {kKey}, 0);
  });
}

template <class T>
void dropout(int64_t n, Random& random) {
  const auto x = uniform<T>(random, n);
  std::vector<float> draw(n);
  host_uniform(draw.data(), n, {kKey}, 0, 0.0f, 1.0f);
  std::vector<double> y(n);
  for (int64_t i = 0; i < n; ++i) {
    y[i] = draw[i] >= 0.3f ? static_cast<double>(x[i] * static_cast<T>(1.0 / 0.7)) : 0.0;
  }
  const Array<T> dx(x);
  Array<T> out(n);
  make_case<T>("dropout", 0.0, 0.0).out(out, y).run("n " + std::to_string(n), [&] {
    gpu<kernels::dropout<T>>(dx.get(), n, 0.3, {kKey}, out.get());
  });
}

template <class T>
void norm(int64_t rows, int64_t cols, Random& random) {
  const auto x = uniform<T>(random, rows * cols, 2.0, 5.0), dy = uniform<T>(random, rows * cols);
  const auto gamma = uniform<T>(random, cols), beta = uniform<T>(random, cols);
  const auto old_mean = uniform<T>(random, cols), old_variance = uniform<T>(random, cols, 0.5, 2.0);
  const double n = static_cast<double>(rows), eps = 1e-5, momentum = 0.1;
  std::vector<double> sum(cols), mean(cols), square(cols), inverse(cols), dsum(cols), dot(cols);
  const auto each = [&](auto body) {
    for (int64_t k = 0; k < rows * cols; ++k) {
      body(k, k % cols, static_cast<double>(x[k]), static_cast<double>(dy[k]));
    }
  };
  each([&](int64_t, int64_t c, double value, double) { sum[c] += value; });
  for (int64_t c = 0; c < cols; ++c) mean[c] = sum[c] / n;
  each([&](int64_t, int64_t c, double value, double g) {
    square[c] += (value - mean[c]) * (value - mean[c]);
    dsum[c] += g;
    dot[c] += g * (value - mean[c]);
  });
  std::vector<double> y(rows * cols), dx(rows * cols), dgamma(cols), new_mean(cols), new_var(cols);
  for (int64_t c = 0; c < cols; ++c) {
    inverse[c] = 1.0 / std::sqrt(square[c] / n + eps);
    dgamma[c] = dot[c] * inverse[c];
    new_mean[c] = 0.9 * static_cast<double>(old_mean[c]) + momentum * mean[c];
    new_var[c] = static_cast<double>(old_variance[c]);
    if (rows > 1) new_var[c] = 0.9 * new_var[c] + momentum * square[c] / (n - 1.0);
  }
  each([&](int64_t k, int64_t c, double value, double g) {
    const double hat = (value - mean[c]) * inverse[c];
    y[k] = hat * static_cast<double>(gamma[c]) + static_cast<double>(beta[c]);
    dx[k] = static_cast<double>(gamma[c]) * inverse[c] *
            (g - dsum[c] / n - hat * (dot[c] * inverse[c] / n));
  });
  const Array<T> ax(x), ady(dy), ag(gamma), ab(beta);
  const Array<double> am(mean), ai(inverse);
  Array<double> s1(cols), s2(cols);
  Array<T> out(rows * cols), g1(cols), g2(cols), rm(cols), rv(cols);
  const std::string what = std::to_string(rows) + " x " + std::to_string(cols);
  const kernels::BatchNormState<T> state{ag.get(), ab.get(), s1.get(), s2.get(),
                                         rm.get(), rv.get(), eps,      momentum};
  make_case<T>("batch_norm_forward", 1e-5, 1e-12)
      .out(out, y)
      .out(s1, mean)
      .out(s2, inverse)
      .out(rm, new_mean, &old_mean)
      .out(rv, new_var, &old_variance)
      .run(what, [&] {
        gpu<kernels::batch_norm_forward<T>>(ax.get(), rows, cols, state, nullptr, out.get());
      });
  // With one or two rows the gradient is all but zero, and what is left is rounding of dy.
  const std::string few = rows > 2 ? "" : ", 1 or 2 rows";
  make_case<T>("batch_norm_backward" + few, rows > 2 ? 3e-6 : 1e-2, rows > 2 ? 1e-12 : 1e-6)
      .out(out, dx)
      .out(g1, dgamma)
      .out(g2, dsum)
      .run(what, [&] {
        gpu<kernels::batch_norm_backward<T>>(ax.get(), ady.get(), rows, cols, ag.get(), am.get(),
                                             ai.get(), nullptr, out.get(), g1.get(), g2.get());
      });

  // The same with rows behind them that do not count.
  const int64_t spare = 200, all = rows + spare;
  std::vector<T> more_x = x, more_dy = dy;
  more_x.resize(all * cols, T{3});
  more_dy.resize(all * cols, T{5});
  std::vector<double> more_y = y, more_dx = dx;
  for (int64_t k = rows * cols; k < all * cols; ++k) {
    const int64_t c = k % cols;
    more_y.push_back((3.0 - mean[c]) * inverse[c] * static_cast<double>(gamma[c]) +
                     static_cast<double>(beta[c]));
    more_dx.push_back(0.0);
  }
  const Array<T> bx(more_x), bdy(more_dy);
  const Array<int64_t> counted(std::vector<int64_t>{rows});
  Array<T> wide(all * cols);
  make_case<T>("batch_norm_forward, counted", 1e-5, 1e-11)
      .out(wide, more_y)
      .out(s1, mean)
      .out(s2, inverse)
      .out(rm, new_mean, &old_mean)
      .out(rv, new_var, &old_variance)
      .run(what, [&] {
        gpu<kernels::batch_norm_forward<T>>(bx.get(), all, cols, state, counted.get(), wide.get());
      });
  make_case<T>("batch_norm_backward, counted" + few, rows > 2 ? 3e-6 : 1e-2,
               rows > 2 ? 1e-12 : 1e-6)
      .out(wide, more_dx)
      .out(g1, dgamma)
      .out(g2, dsum)
      .run(what, [&] {
        gpu<kernels::batch_norm_backward<T>>(bx.get(), bdy.get(), all, cols, ag.get(), am.get(),
                                             ai.get(), counted.get(), wide.get(), g1.get(),
                                             g2.get());
      });
}

template <class T>
void adam(const std::vector<int64_t>& sizes, bool placed, Random& random) {
  const kernels::AdamStep step{0.9, 0.999, 1e-8, 0.999, 1e-3, 0.02, 1.7};
  std::vector<std::vector<T>> p, g, m, v;
  std::vector<std::unique_ptr<Array<T>>> arrays;
  std::vector<kernels::AdamTensor<T>> list;
  Case test = make_case<T>("adam", 1e-6);
  const size_t count = sizes.size();
  for (const int64_t n : sizes) {
    p.push_back(uniform<T>(random, n));
    g.push_back(uniform<T>(random, n));
    m.push_back(uniform<T>(random, n));
    v.push_back(uniform<T>(random, n, 0.0, 1.0));
  }
  for (size_t k = 0; k < count; ++k) {
    for (const auto* values : {&p[k], &g[k], &m[k], &v[k]}) {
      arrays.push_back(std::make_unique<Array<T>>(*values));
    }
    const size_t base = 4 * k;
    list.push_back({arrays[base]->get(), arrays[base + 1]->get(), arrays[base + 2]->get(),
                    arrays[base + 3]->get(), sizes[k]});
    std::vector<double> rp(sizes[k]), rm(sizes[k]), rv(sizes[k]);
    for (int64_t i = 0; i < sizes[k]; ++i) {
      const double old = p[k][i], grad = static_cast<double>(g[k][i]) + step.coupled_decay * old;
      rm[i] = step.beta1 * static_cast<double>(m[k][i]) + (1.0 - step.beta1) * grad;
      rv[i] = step.beta2 * static_cast<double>(v[k][i]) + (1.0 - step.beta2) * grad * grad;
      rp[i] = step.keep * old -
              step.step_size * rm[i] / (std::sqrt(rv[i]) * step.second_scale + step.eps);
    }
    test.out(*arrays[base], rp, &p[k]).out(*arrays[base + 2], rm, &m[k]);
    test.out(*arrays[base + 3], rv, &v[k]);
  }
  const Array<kernels::AdamStep> place(std::vector<kernels::AdamStep>{step});
  test.run(std::to_string(count) + " tensors", [&] {
    gpu<kernels::adam<T>>(list, placed ? kernels::AdamStep{} : step,
                          placed ? place.get() : nullptr);
  });
}

template <class T>
void all(const Size& size, Random& random) {
  for (const int64_t n : {0, 1, 3, 1000, 4099}) dropout<T>(n, random);
  for (const int64_t cols : {1, 3, 64, 128, 129}) {
    for (const int64_t rows : {1, 2, 127, 128, 129, size.small ? 300 : 10500}) {
      norm<T>(rows, cols, random);
    }
  }
  adam<T>({1, 5, 2047, 2048, 2049, 0, 100000}, false, random);
  adam<T>(std::vector<int64_t>(size.small ? 70 : 150, 333), true, random);
  adam<T>({}, false, random);
}

}  // namespace

void test_nn(const Size& size) {
  Random random(15);
  for (const int64_t n : {0, 1, 5, 1000, size.small ? 4097 : 1000003}) streams(n);
  all<float>(size, random);
  all<double>(size, random);
}

}  // namespace test
