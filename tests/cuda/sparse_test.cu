// spmm, sddmm, both; segments; rows by index; positions by value.
#include "patterns.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

template <class T>
void products(const HostPattern& p, int64_t d, Random& random, bool shifted) {
  const int64_t nnz = p.entries(), move = shifted ? 1 : 0;
  const auto w = uniform<T>(random, nnz), x = uniform<T>(random, p.cols * d + move);
  const auto left = uniform<T>(random, p.rows * d + move);
  std::vector<double> y(p.rows * d), ones(p.rows * d), s(nnz);
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t k = p.offset[i]; k < p.offset[i + 1]; ++k) {
      for (int64_t c = 0; c < d; ++c) {
        const double value = x[move + p.index[k] * d + c];
        y[i * d + c] += static_cast<double>(w[p.edge_of(k)]) * value;
        ones[i * d + c] += value;
        s[p.edge_of(k)] += static_cast<double>(left[move + i * d + c]) * value;
      }
    }
  }
  const DevicePattern a(p);
  const Array<T> dw(w), dx(x), dp(left);
  Array<T> out(p.rows * d), dots(nnz);
  for (const bool cut : {true, false}) {
    const kernels::Pattern at = a.get(cut ? -1 : 0);
    const std::string what = describe(p, d) + (cut ? "" : ", uncut") + (shifted ? ", shifted" : "");
    const T* xs = dx.get() + move;
    const T* ps = dp.get() + move;
    make_case<T>("spmm").out(out, y).run(
        what, [&] { gpu<kernels::spmm<T>>(at, dw.get(), xs, d, out.get()); });
    make_case<T>("spmm, ones", 5e-6).out(out, ones).run(what, [&] {
      gpu<kernels::spmm<T>>(at, nullptr, xs, d, out.get());
    });
    make_case<T>("sddmm").out(dots, s).run(
        what, [&] { gpu<kernels::sddmm<T>>(at, ps, xs, d, dots.get()); });
    make_case<T>("spmm_sddmm").out(out, y).out(dots, s).run(what, [&] {
      gpu<kernels::spmm_sddmm<T>>(at, dw.get(), ps, xs, d, out.get(), dots.get());
    });
  }
}

template <class T>
void segments(const HostPattern& p, int64_t d, Random& random) {
  const int64_t n = p.entries();
  const auto x = uniform<T>(random, n * d), dy = uniform<T>(random, p.rows * d);
  const Array<int64_t> offset(p.offset);
  const Array<T> dx(x), ddy(dy);
  Array<T> out(p.rows * d), back(n * d);
  for (const bool mean : {false, true}) {
    std::vector<double> y(p.rows * d), spread(n * d);
    for (int64_t i = 0; i < p.rows; ++i) {
      const double count = static_cast<double>(p.offset[i + 1] - p.offset[i]);
      const double factor = mean && count > 0 ? 1.0 / count : 1.0;
      for (int64_t r = p.offset[i]; r < p.offset[i + 1]; ++r) {
        for (int64_t c = 0; c < d; ++c) {
          y[i * d + c] += factor * static_cast<double>(x[r * d + c]);
          spread[r * d + c] = factor * static_cast<double>(dy[i * d + c]);
        }
      }
    }
    const std::string what = describe(p, d) + (mean ? ", mean" : ", sum");
    for (const int64_t longest : {-1, 0}) {
      make_case<T>("segment_reduce").out(out, y).run(what, [&] {
        gpu<kernels::segment_reduce<T>>({offset.get(), p.rows, n, longest}, dx.get(), d, mean,
                                        out.get());
      });
    }
    make_case<T>("segment_reduce_backward").out(back, spread).run(what, [&] {
      gpu<kernels::segment_reduce_backward<T>>({offset.get(), p.rows, n}, ddy.get(), d, mean,
                                               back.get());
    });
    // The same with rows behind the last segment, of which the host does not know.
    const int64_t room = n + 150;
    std::vector<T> more = x;
    more.resize(room * d, T{9});
    const Array<T> dmore(more);
    make_case<T>("segment_reduce, spare rows").out(out, y).run(what, [&] {
      gpu<kernels::segment_reduce<T>>({offset.get(), p.rows, room}, dmore.get(), d, mean,
                                      out.get());
    });
    std::vector<double> wide_spread = spread;
    wide_spread.resize(room * d, 0.0);
    Array<T> wide_back(room * d);
    make_case<T>("segment_reduce_backward, spare rows").out(wide_back, wide_spread).run(what, [&] {
      gpu<kernels::segment_reduce_backward<T>>({offset.get(), p.rows, room}, ddy.get(), d, mean,
                                               wide_back.get());
    });
  }
}

template <class T>
void sums(int64_t rows, int64_t cols, Random& random) {
  const auto x = uniform<T>(random, rows * cols);
  std::vector<double> sum(cols);
  for (int64_t k = 0; k < rows * cols; ++k) sum[k % cols] += static_cast<double>(x[k]);
  const Array<T> dx(x);
  Array<T> out(cols);
  make_case<T>("bias_sums")
      .out(out, sum)
      .run(std::to_string(rows) + " x " + std::to_string(cols),
           [&] { gpu<kernels::bias_sums<T>>(dx.get(), rows, cols, out.get()); });
}

template <class T>
void gather(int64_t count, int64_t d, Random& random) {
  const int64_t rows = 77;
  const auto x = uniform<T>(random, rows * d);
  std::vector<int64_t> index(count);
  std::vector<double> y(count * d);
  for (int64_t k = 0; k < count; ++k) {
    index[k] = k % 7 == 3 ? -1 : static_cast<int64_t>(random() % rows);
    for (int64_t c = 0; index[k] >= 0 && c < d; ++c) {
      y[k * d + c] = static_cast<double>(x[index[k] * d + c]);
    }
  }
  const Array<T> dx(x);
  const Array<int64_t> di(index);
  Array<T> out(count * d);
  make_case<T>("gather_rows", 0.0, 0.0).out(out, y).run("d " + std::to_string(d), [&] {
    gpu<kernels::gather_rows<T>>(dx.get(), di.get(), count, d, out.get());
  });
}

void positions(int64_t count, int64_t values, Random& random) {
  std::vector<int64_t> index(count);
  for (int64_t& v : index) v = static_cast<int64_t>(random() % values);
  if (count > 10) std::fill(index.begin() + count / 2, index.begin() + count / 2 + count / 4, 1);
  std::vector<int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return index[a] < index[b]; });
  std::vector<double> offset(values + 1);
  for (const int64_t v : index) ++offset[v + 1];
  std::partial_sum(offset.begin(), offset.end(), offset.begin());
  const Array<int64_t> di(index);
  Array<int64_t> starts(values + 1);
  Array<int32_t> place(count);
  Case("positions_by_value", "int", 0.0)
      .out(starts, offset)
      .out(place, widened(order))
      .run("count " + std::to_string(count) + ", values " + std::to_string(values), [&] {
        gpu<kernels::positions_by_value>(di.get(), count, values, starts.get(), place.get());
      });
}

template <class T>
void all(const Size& size, Random& random) {
  for (const HostPattern& p : all_patterns(random, size)) {
    for (const int64_t d : size.widths()) {
      products<T>(p, d, random, false);
      segments<T>(p, d, random);
    }
    products<T>(transposed(p), 128, random, false);
    products<T>(transposed(p), 3, random, false);
  }
  const auto patterns = all_patterns(random, size);
  products<T>(patterns[0], 128, random, true);
  products<T>(patterns[0], 0, random, false);
  for (const int64_t d : {1, 3, 64, 128, 129}) gather<T>(size.small ? 50 : 3000, d, random);
  gather<T>(0, 64, random);
  for (const int64_t rows : {0, 1, 128, 129, 1000, size.small ? 1500 : 9498}) {
    for (const int64_t cols : {1, 33, 300}) sums<T>(rows, cols, random);
  }
}

}  // namespace

void test_sparse(const Size& size) {
  Random random(11);
  all<float>(size, random);
  all<double>(size, random);
  for (const int64_t values : {2, 255, 256, 257, 9498, 70000}) {
    for (const int64_t count : {0, 1, 31, 2048, 2049, size.small ? 5000 : 300000}) {
      positions(count, values, random);
    }
  }
  positions(70000, 300, random);
  positions(200000, 300, random);
  if (!size.small) positions(3000000, 20000000, random);
}

}  // namespace test
