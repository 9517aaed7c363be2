// Messages through a ReLU and the largest entries of segments.
#include "patterns.h"

namespace test {
namespace {

namespace kernels = grm::kernels;

double relu(double m) {
  return m > 0 ? m : 0.0;
}

template <class T>
void messages(const HostPattern& p, int64_t d, Random& random) {
  const HostPattern t = transposed(p);
  const int64_t nnz = p.entries();
  const auto w = uniform<T>(random, nnz), x = uniform<T>(random, p.cols * d);
  const auto e = uniform<T>(random, nnz * d), dy = uniform<T>(random, p.rows * d);
  const DevicePattern in(p), out(t);
  const Array<T> dw(w), dx(x), de(e), ddy(dy);
  Array<T> y(p.rows * d), gx(p.cols * d), ge(nnz * d), gw(nnz);
  for (const bool weighted : {true, false}) {
    std::vector<double> ry(p.rows * d), rx(p.cols * d), re(nnz * d), rw(nnz);
    for (int64_t i = 0; i < p.rows; ++i) {
      for (int64_t k = p.offset[i]; k < p.offset[i + 1]; ++k) {
        const double weight = weighted ? static_cast<double>(w[k]) : 1.0;
        for (int64_t c = 0; c < d; ++c) {
          const T sum = x[p.index[k] * d + c] + e[k * d + c];  // its sign decides: same rounding
          const double m = static_cast<double>(sum), g = static_cast<double>(dy[i * d + c]);
          ry[i * d + c] += weight * relu(m);
          re[k * d + c] = m > 0 ? weight * g : 0.0;
          rx[p.index[k] * d + c] += re[k * d + c];
          rw[k] += g * relu(m);
        }
      }
    }
    const T* ws = weighted ? dw.get() : nullptr;
    const std::string what = describe(p, d);
    make_case<T>("relu_messages").out(y, ry).run(what, [&] {
      gpu<kernels::relu_messages<T>>(in.get(), ws, dx.get(), de.get(), d, y.get());
    });
    make_case<T>("relu_messages_backward").out(gx, rx).out(ge, re).out(gw, rw).run(what, [&] {
      gpu<kernels::relu_messages_backward<T>>(out.get(), ws, dx.get(), de.get(), ddy.get(), d,
                                              gx.get(), ge.get(), gw.get());
    });
    make_case<T>("relu_messages_backward").out(gx, rx).run(what, [&] {
      gpu<kernels::relu_messages_backward<T>>(out.get(), ws, dx.get(), de.get(), ddy.get(), d,
                                              gx.get(), nullptr, nullptr);
    });
  }
}

template <class T>
void pairs(const HostPattern& p, int64_t d, Random& random) {
  const HostPattern t = transposed(p);
  const int64_t nnz = p.entries();
  const auto own = uniform<T>(random, p.rows * d), other = uniform<T>(random, p.cols * d);
  const auto v = uniform<T>(random, d), ds = uniform<T>(random, nnz);
  std::vector<double> s(nnz), down(p.rows * d), dv(p.rows * d), up(p.cols * d);
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t k = p.offset[i]; k < p.offset[i + 1]; ++k) {
      const double g = static_cast<double>(ds[k]);
      for (int64_t c = 0; c < d; ++c) {
        const T sum = other[p.index[k] * d + c] + own[i * d + c];
        const double m = static_cast<double>(sum), scale = static_cast<double>(v[c]);
        s[k] += scale * relu(m);
        down[i * d + c] += m > 0 ? g * scale : 0.0;
        up[p.index[k] * d + c] += m > 0 ? g * scale : 0.0;
        dv[i * d + c] += g * relu(m);
      }
    }
  }
  const DevicePattern in(p), out(t);
  const Array<T> down_own(own), down_other(other), dvector(v), dds(ds);
  Array<T> scores(nnz), gown(p.rows * d), gv(p.rows * d), gother(p.cols * d);
  const std::string what = describe(p, d);
  make_case<T>("pair_scores").out(scores, s).run(what, [&] {
    gpu<kernels::pair_scores<T>>(in.get(), down_own.get(), down_other.get(), dvector.get(), d,
                                 scores.get());
  });
  make_case<T>("pair_scores_backward").out(gown, down).out(gv, dv).run(what, [&] {
    gpu<kernels::pair_scores_backward<T>>(in.get(), down_own.get(), down_other.get(), dvector.get(),
                                          dds.get(), d, gown.get(), gv.get());
  });
  make_case<T>("pair_scores_backward").out(gother, up).run(what, [&] {
    gpu<kernels::pair_scores_backward<T>>(out.get(), down_other.get(), down_own.get(),
                                          dvector.get(), dds.get(), d, gother.get(), nullptr);
  });
}

template <class T>
void maxima(const HostPattern& p, int64_t d, Random& random) {
  auto x = uniform<T>(random, p.entries() * d);
  for (T& value : x) value = std::round(value * T(50));  // equal ones, so that the first matters
  std::vector<double> y(p.rows * d), row(p.rows * d, -1.0);
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t r = p.offset[i]; r < p.offset[i + 1]; ++r) {
      for (int64_t c = 0; c < d; ++c) {
        const double value = static_cast<double>(x[r * d + c]);
        if (r > p.offset[i] && !(value > y[i * d + c])) continue;
        y[i * d + c] = value;
        row[i * d + c] = static_cast<double>(r);
      }
    }
  }
  const Array<int64_t> offset(p.offset);
  const Array<T> dx(x);
  Array<T> best(p.rows * d);
  Array<int64_t> place(p.rows * d);
  make_case<T>("segment_max", 0.0, 0.0).out(best, y).out(place, row).run(describe(p, d), [&] {
    gpu<kernels::segment_max<T>>(offset.get(), p.rows, dx.get(), d, best.get(), place.get());
  });
}

template <class T>
void all(const Size& size, Random& random) {
  for (const HostPattern& p : all_patterns(random, size)) {
    for (const int64_t d : size.widths()) {
      if (d > 300 && p.entries() > 1000) continue;  // the messages of each edge take memory
      messages<T>(p, d, random);
      pairs<T>(p, d, random);
      maxima<T>(p, d, random);
    }
  }
}

}  // namespace

void test_messages(const Size& size) {
  Random random(13);
  all<float>(size, random);
  all<double>(size, random);
}

}  // namespace test
