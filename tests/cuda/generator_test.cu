// The fused generator against the chain of plain operators (logits, sigmoid, degrees, propagation,
// divergence) with its gradients written out pair by pair, as the CPU kernels have them.
#include "harness.h"
#include "ops/kernels.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

struct Shape {
  std::vector<int64_t> sizes;
  int64_t max_nodes, edge_width, width;
};

struct Reference {
  std::vector<double> y, kl, df, dx, df_of_kl, df_of_y;
};

template <class T>
struct Inputs {
  std::vector<T> f, x, dy, dkl;
};

// s_ij = <f_i, f_j>, e = sigmoid(s), a_ij = e_ij r_i r_j, y_i = sum_j a_ij x_j, and backwards with
// ds_ij for every ordered pair apart.
template <class T>
void one_graph(const kernels::GeneratorBatch& b, const Inputs<T>& in, int64_t g, int64_t first,
               int64_t n, Reference& r) {
  const int64_t de = b.edge_width, d = b.width;
  const double log_on = std::log(b.theta), log_off = std::log1p(-b.theta);
  std::vector<double> s(n * n), e(n * n), a(n * n), root(n, 1.0), da(n * n), droot(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double dot = 0.0;
      for (int64_t c = 0; c < de; ++c) {
        dot += static_cast<double>(in.f[(first + i) * de + c]) *
               static_cast<double>(in.f[(first + j) * de + c]);
      }
      s[i * n + j] = dot;
      e[i * n + j] = 1.0 / (1.0 + std::exp(-dot));
      const double small = std::log1p(std::exp(-std::abs(dot)));
      const double value = e[i * n + j] * (-std::max(-dot, 0.0) - small - log_on) +
                           (1.0 - e[i * n + j]) * (-std::max(dot, 0.0) - small - log_off);
      r.kl[g] += b.mean_kl ? value / static_cast<double>(n * n) : value;
    }
  }
  for (int64_t i = 0; b.normalised && i < n; ++i) {
    double degree = 0.0;
    for (int64_t j = 0; j < n; ++j) degree += e[i * n + j];
    root[i] = 1.0 / std::sqrt(degree);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      a[i * n + j] = e[i * n + j] * root[i] * root[j];
      for (int64_t c = 0; c < d; ++c) {
        const double x = in.x[(first + j) * d + c], dy = in.dy[(first + i) * d + c];
        r.y[(first + i) * d + c] += a[i * n + j] * x;
        r.dx[(first + j) * d + c] += a[i * n + j] * dy;
        da[i * n + j] += dy * x;
      }
    }
  }
  for (int64_t i = 0; b.normalised && i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      droot[i] += da[i * n + j] * e[i * n + j] * root[j];
      droot[j] += da[i * n + j] * e[i * n + j] * root[i];
    }
  }
  const double dkl = static_cast<double>(in.dkl[g]) / (b.mean_kl ? static_cast<double>(n * n) : 1);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      // A weight moves y itself and the degree of its target i; d root / d degree = -root^3 / 2.
      const double of_weight =
          da[i * n + j] * root[i] * root[j] - 0.5 * root[i] * root[i] * root[i] * droot[i];
      const double slope = e[i * n + j] * (1.0 - e[i * n + j]);
      const double of_y = slope * of_weight;
      const double of_kl = slope * (s[i * n + j] - (log_on - log_off)) * dkl;
      for (int64_t c = 0; c < de; ++c) {
        const double fi = in.f[(first + i) * de + c], fj = in.f[(first + j) * de + c];
        r.df_of_y[(first + i) * de + c] += of_y * fj;
        r.df_of_y[(first + j) * de + c] += of_y * fi;
        r.df_of_kl[(first + i) * de + c] += of_kl * fj;
        r.df_of_kl[(first + j) * de + c] += of_kl * fi;
      }
    }
  }
}

template <class T>
void compare(const Shape& shape, bool normalised, bool mean_kl, Random& random) {
  std::vector<int64_t> offset{0};
  for (const int64_t n : shape.sizes) offset.push_back(offset.back() + n);
  const int64_t graphs = static_cast<int64_t>(shape.sizes.size()), rows = offset.back();
  const int64_t de = shape.edge_width, d = shape.width;
  Inputs<T> in{uniform<T>(random, rows * de, -0.4, 0.4), uniform<T>(random, rows * d),
               uniform<T>(random, rows * d), uniform<T>(random, graphs)};
  const Array<int64_t> starts(offset);
  const kernels::GeneratorBatch b{graphs, starts.get(), shape.max_nodes, de,
                                  d,      0.3,          normalised,      mean_kl};
  Reference r;
  r.y.resize(rows * d), r.dx.resize(rows * d), r.kl.resize(graphs);
  r.df_of_y.resize(rows * de), r.df_of_kl.resize(rows * de);
  for (int64_t g = 0; g < graphs; ++g) one_graph<T>(b, in, g, offset[g], shape.sizes[g], r);
  r.df = r.df_of_y;
  for (int64_t k = 0; k < rows * de; ++k) r.df[k] += r.df_of_kl[k];

  const Array<T> f(in.f), x(in.x), dy(in.dy), dkl(in.dkl);
  Array<T> y(rows * d), kl(graphs), df(rows * de), dx(rows * d);
  const std::string what = std::to_string(graphs) + " graphs of at most " +
                           std::to_string(shape.max_nodes) + ", widths " + std::to_string(de) +
                           " and " + std::to_string(d) + (normalised ? ", normalised" : "");
  make_case<T>("generate_forward").out(y, r.y).out(kl, r.kl).run(what, [&] {
    gpu<kernels::generate_forward<T>>(b, f.get(), x.get(), y.get(), kl.get());
  });
  make_case<T>("generate_forward").out(y, r.y).run(what + ", no kl", [&] {
    gpu<kernels::generate_forward<T>>(b, f.get(), x.get(), y.get(), nullptr);
  });
  make_case<T>("generate_forward").out(kl, r.kl).run(what + ", kl alone", [&] {
    gpu<kernels::generate_forward<T>>(b, f.get(), nullptr, nullptr, kl.get());
  });
  make_case<T>("generate_backward", 5e-6, 1e-12).out(df, r.df).out(dx, r.dx).run(what, [&] {
    gpu<kernels::generate_backward<T>>(b, f.get(), x.get(), dy.get(), dkl.get(), df.get(),
                                       dx.get());
  });
  make_case<T>("generate_backward", 5e-6, 1e-12).out(df, r.df_of_y).run(what + ", y", [&] {
    gpu<kernels::generate_backward<T>>(b, f.get(), x.get(), dy.get(), nullptr, df.get(), nullptr);
  });
  make_case<T>("generate_backward", 5e-6, 1e-12).out(dx, r.dx).run(what + ", x alone", [&] {
    gpu<kernels::generate_backward<T>>(b, f.get(), x.get(), dy.get(), dkl.get(), nullptr, dx.get());
  });
  make_case<T>("generate_backward", 5e-6, 1e-12).out(df, r.df_of_kl).run(what + ", kl", [&] {
    gpu<kernels::generate_backward<T>>(b, f.get(), nullptr, nullptr, dkl.get(), df.get(), nullptr);
  });
}

// sum y dy + sum kl dkl moves by <df, step> along a random step of f: the kernel against itself.
void differences(Random& random) {
  const int64_t n = 21, de = 128, d = 128;
  const std::vector<int64_t> offset{0, n};
  const Array<int64_t> starts(offset);
  const kernels::GeneratorBatch b{1, starts.get(), n, de, d, 0.3, true, true};
  const auto f = uniform<double>(random, n * de, -0.4, 0.4), step = uniform<double>(random, n * de);
  const auto x = uniform<double>(random, n * d), dy = uniform<double>(random, n * d);
  const std::vector<double> dkl{0.7};
  const Array<double> dx(x), ddy(dy), ddkl(dkl), df0(f);
  const auto loss = [&](double h) {
    std::vector<double> moved(f);
    for (size_t k = 0; k < moved.size(); ++k) moved[k] += h * step[k];
    const Array<double> df(moved);
    const Array<double> y(n * d), kl(1);
    gpu<kernels::generate_forward<double>>(b, df.get(), dx.get(), y.get(), kl.get());
    must(cudaStreamSynchronize(stream()), "differences");
    const auto ys = y.read();
    double sum = kl.read()[0] * dkl[0];
    for (int64_t k = 0; k < n * d; ++k) sum += ys[k] * dy[k];
    return sum;
  };
  Array<double> gradient(n * de), slope(1);
  gpu<kernels::generate_backward<double>>(b, df0.get(), dx.get(), ddy.get(), ddkl.get(),
                                          gradient.get(), nullptr);
  must(cudaStreamSynchronize(stream()), "differences");
  const auto g = gradient.read();
  double along = 0.0;
  for (int64_t k = 0; k < n * de; ++k) along += g[k] * step[k];
  const double h = 1e-5, numeric = (loss(h) - loss(-h)) / (2 * h);
  Case("generate_backward, differences", "double", 1e-7)
      .out(slope, {numeric})
      .run("one graph of 21", [&] { slope.set({along}); });
}

template <class T>
void all(const Size& size, Random& random) {
  std::vector<Shape> shapes = {{{21, 21, 5, 0, 1, 2, 20}, 21, 128, 128},
                               {{64, 63, 0, 33}, 64, 128, 2},
                               {{}, 21, 128, 128},
                               {{3, 4, 1}, 4, 1, 1},
                               {{7, 12, 17}, 17, 3, 129}};
  if (!size.small) {
    shapes.push_back({std::vector<int64_t>(40, 21), 21, 128, 128});
    shapes.push_back({{64, 61}, 64, 300, 300});
    shapes.push_back({{64, 61, 10}, 64, 129, 257});
    shapes.push_back({{25, 40, 0}, 40, 64, 3});
    shapes.push_back({{64, 64}, 64, 128, 128});
  }
  for (const Shape& shape : shapes) {
    compare<T>(shape, true, true, random);
    compare<T>(shape, false, false, random);
  }
}

}  // namespace

void test_generator(const Size& size) {
  Random random(14);
  all<float>(size, random);
  all<double>(size, random);
  differences(random);
}

}  // namespace test
