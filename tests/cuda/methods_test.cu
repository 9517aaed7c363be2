// Instance normalisation, the tiles of the contrast, Sinkhorn.
#include "harness.h"
#include "methods/kernels.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

template <class T>
void instance_norm(const std::vector<int64_t>& sizes, int64_t cols, Random& random) {
  std::vector<int64_t> offset{0};
  for (const int64_t n : sizes) offset.push_back(offset.back() + n);
  const int64_t graphs = static_cast<int64_t>(sizes.size()), rows = offset.back();
  const auto x = uniform<T>(random, rows * cols, 1.0, 3.0), dy = uniform<T>(random, rows * cols);
  std::vector<double> y(rows * cols), dx(rows * cols), scale(graphs * cols);
  for (int64_t g = 0; g < graphs; ++g) {
    const double n = static_cast<double>(sizes[g]);
    for (int64_t c = 0; sizes[g] > 0 && c < cols; ++c) {
      double mean = 0.0, square = 0.0, first = 0.0, second = 0.0;
      const auto each = [&](auto body) {
        for (int64_t r = offset[g]; r < offset[g + 1]; ++r) body(r * cols + c);
      };
      each([&](int64_t k) { mean += static_cast<double>(x[k]) / n; });
      each([&](int64_t k) { square += std::pow(static_cast<double>(x[k]) - mean, 2) / n; });
      const double inverse = 1.0 / std::sqrt(square + 1e-5);
      scale[g * cols + c] = inverse;
      each([&](int64_t k) {
        y[k] = (static_cast<double>(x[k]) - mean) * inverse;
        first += static_cast<double>(dy[k]) / n;
        second += static_cast<double>(dy[k]) * y[k] / n;
      });
      each([&](int64_t k) {
        dx[k] = inverse * (static_cast<double>(dy[k]) - first - y[k] * second);
      });
    }
  }
  const Array<int64_t> starts(offset);
  const Array<T> ax(x), ady(dy), ay(std::vector<T>(y.begin(), y.end())),
      as(std::vector<T>(scale.begin(), scale.end()));
  Array<T> out(rows * cols), factors(graphs * cols);
  const std::string what = std::to_string(graphs) + " graphs, " + std::to_string(cols) + " columns";
  make_case<T>("instance_norm").out(out, y).out(factors, scale).run(what, [&] {
    gpu<kernels::instance_norm<T>>(starts.get(), graphs, ax.get(), cols, 1e-5, out.get(),
                                   factors.get());
  });
  make_case<T>("instance_norm_gradient").out(out, dx).run(what, [&] {
    gpu<kernels::instance_norm_gradient<T>>(starts.get(), graphs, ay.get(), ady.get(), as.get(),
                                            cols, out.get());
  });
}

template <class T>
void tiles(int64_t rows, int64_t cols, bool clustered, bool columns, Random& random) {
  const auto c = uniform<T>(random, rows * cols);
  const auto row_scale = uniform<T>(random, rows), col_scale = uniform<T>(random, cols);
  const auto cluster_scale = uniform<T>(random, rows);
  std::vector<int32_t> wanted(rows), column(cols);
  for (int32_t& k : wanted) k = static_cast<int32_t>(random() % 5) - 1;
  for (int32_t& k : column) k = static_cast<int32_t>(random() % 4);
  const auto old_row = uniform<double>(random, rows, 0, 1), old_col = uniform<double>(random, cols);
  const auto old_cluster = uniform<double>(random, rows, 0, 1);
  std::vector<double> row(old_row), col(old_col), inside(old_cluster), weight(rows * cols);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      const double x = static_cast<double>(c[i * cols + j]) - 1.0, e = std::exp(x * 2.5);
      row[i] += e;
      col[j] += e;
      weight[i * cols + j] =
          e * (static_cast<double>(row_scale[i]) + static_cast<double>(col_scale[j]));
      if (clustered && wanted[i] == column[j]) {
        inside[i] += std::exp(x);
        weight[i * cols + j] -= static_cast<double>(cluster_scale[i]) * std::exp(x);
      }
    }
  }
  const Array<T> ac(c), rs(row_scale), cs(col_scale), is(cluster_scale);
  const Array<int32_t> aw(wanted), acol(column);
  Array<double> r(rows), l(cols), k(rows);
  Array<T> tile(rows * cols);
  kernels::TileClusters clusters;
  if (clustered) clusters = {aw.get(), acol.get()};
  const std::string what = std::to_string(rows) + " x " + std::to_string(cols);
  Case sums = make_case<T>("tile_sums");
  sums.out(r, row, &old_row);
  if (columns) sums.out(l, col, &old_col);
  if (clustered) sums.out(k, inside, &old_cluster);
  sums.run(what, [&] {
    gpu<kernels::tile_sums<T>>(ac.get(), rows, cols, 2.5, r.get(), columns ? l.get() : nullptr,
                               clusters, k.get());
  });
  make_case<T>("tile_weights").out(tile, weight, &c).run(what, [&] {
    gpu<kernels::tile_weights<T>>(tile.get(), rows, cols, 2.5, rs.get(), cs.get(), clusters,
                                  is.get());
  });
}

template <class T>
void sinkhorn(int64_t n, int64_t k, int64_t iterations, Random& random) {
  const auto s = uniform<T>(random, n * k);
  const double epsilon = 0.2;
  double top = -1e300;
  for (const T value : s) top = std::max(top, static_cast<double>(value));
  std::vector<double> q(n * k), a(n, 1.0), b(k, 1.0);
  for (int64_t e = 0; e < n * k; ++e) q[e] = std::exp((static_cast<double>(s[e]) - top) / epsilon);
  for (int64_t t = 0; t < iterations; ++t) {
    for (int64_t j = 0; j < k; ++j) {
      double sum = 0.0;
      for (int64_t i = 0; i < n; ++i) sum += a[i] * q[i * k + j];
      b[j] = 1.0 / (static_cast<double>(k) * sum);
    }
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0.0;
      for (int64_t j = 0; j < k; ++j) sum += q[i * k + j] * b[j];
      a[i] = 1.0 / (static_cast<double>(n) * sum);
    }
  }
  for (int64_t e = 0; e < n * k; ++e) q[e] *= static_cast<double>(n) * a[e / k] * b[e % k];
  const Array<T> as(s);
  Array<T> out(n * k);
  const std::string what = std::to_string(n) + " x " + std::to_string(k) + ", " +
                           std::to_string(iterations) + " iterations";
  make_case<T>("sinkhorn", 5e-6).out(out, q).run(what, [&] {
    gpu<kernels::sinkhorn<T>>(as.get(), n, k, epsilon, iterations, out.get());
  });
}

template <class T>
void all(const Size& size, Random& random) {
  for (const int64_t cols : {1, 3, 64, 128, 129}) {
    instance_norm<T>({5, 0, 20, 1, 33, size.small ? 300 : 3000, 0}, cols, random);
  }
  instance_norm<T>({}, 64, random);
  for (const bool on : {false, true}) {
    tiles<T>(1, 1, on, true, random);
    tiles<T>(65, 129, on, !on, random);
    tiles<T>(size.small ? 100 : 1000, size.small ? 150 : 700, on, true, random);
  }
  sinkhorn<T>(1, 1, 1, random);
  sinkhorn<T>(size.small ? 130 : 2000, 100, 3, random);
  sinkhorn<T>(100, 7, 0, random);
  sinkhorn<T>(0, 7, 2, random);
}

}  // namespace

void test_methods(const Size& size) {
  Random random(16);
  all<float>(size, random);
  all<double>(size, random);
}

}  // namespace test
