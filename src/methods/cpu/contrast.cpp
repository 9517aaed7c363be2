// Tiles of the contrast. Rows are cut into chunks of fixed size, and what chunks add to the column
// sums is added in their order: the result does not depend on the number of threads.
#include <algorithm>
#include <vector>

#include "grm/core/threads.h"
#include "methods/kernels.h"
#include "ops/cpu/vector_math.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

constexpr int64_t kRows = 64;  // per chunk
constexpr int64_t kLanes = 16;

// Sum of value(j) over the columns in lanes, so that it becomes vector code.
template <class T, class Value>
inline double sum_columns(int64_t cols, const Value& value) {
  T lanes[kLanes] = {};
  const int64_t whole = cols / kLanes * kLanes;
  for (int64_t j = 0; j < whole; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += value(j + l);
  }
  double sum = 0.0;
  for (int64_t l = 0; l < kLanes; ++l) sum += static_cast<double>(lanes[l]);
  for (int64_t j = whole; j < cols; ++j) sum += static_cast<double>(value(j));
  return sum;
}

}  // namespace

template <class T>
void tile_sums(const T* c, int64_t rows, int64_t cols, double inverse_tau, double* row_sum,
               double* col_sum, const TileClusters& clusters, double* cluster_sum) {
  const T scale = static_cast<T>(inverse_tau);
  const int64_t chunks = (rows + kRows - 1) / kRows;
  std::vector<T> partial(col_sum ? chunks * cols : 0, T{0});
  parallel_chunks(rows, kRows, [&](int64_t begin, int64_t end) {
    T* part = col_sum ? partial.data() + begin / kRows * cols : nullptr;
    for (int64_t i = begin; i < end; ++i) {
      const T* row = c + i * cols;
      if (part) {
        row_sum[i] += sum_columns<T>(cols, [&](int64_t j) {
          const T e = fast_exp((row[j] - T{1}) * scale);
          part[j] += e;
          return e;
        });
      } else {
        row_sum[i] +=
            sum_columns<T>(cols, [&](int64_t j) { return fast_exp((row[j] - T{1}) * scale); });
      }
      if (clusters.wanted && clusters.wanted[i] >= 0) {
        const int32_t wanted = clusters.wanted[i];
        cluster_sum[i] += sum_columns<T>(cols, [&](int64_t j) {
          const T f = fast_exp(row[j] - T{1});
          return clusters.column[j] == wanted ? f : T{0};
        });
      }
    }
  });
  for (int64_t k = 0; col_sum && k < chunks; ++k) {
    const T* part = partial.data() + k * cols;
    for (int64_t j = 0; j < cols; ++j) col_sum[j] += static_cast<double>(part[j]);
  }
}

template <class T>
void tile_weights(T* c, int64_t rows, int64_t cols, double inverse_tau, const T* row_scale,
                  const T* col_scale, const TileClusters& clusters, const T* cluster_scale) {
  const T scale = static_cast<T>(inverse_tau);
  parallel_chunks(rows, kRows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* row = c + i * cols;
      const T mine = row_scale[i];
      if (clusters.wanted && clusters.wanted[i] >= 0) {
        const int32_t wanted = clusters.wanted[i];
        const T inside = cluster_scale[i];
        for (int64_t j = 0; j < cols; ++j) {
          const T x = row[j] - T{1};
          const T f = clusters.column[j] == wanted ? inside : T{0};
          row[j] = fast_exp(x * scale) * (mine + col_scale[j]) - f * fast_exp(x);
        }
      } else {
        for (int64_t j = 0; j < cols; ++j) {
          row[j] = fast_exp((row[j] - T{1}) * scale) * (mine + col_scale[j]);
        }
      }
    }
  });
}

template <class T>
void sinkhorn(const T* s, int64_t n, int64_t k, double epsilon, int64_t iterations, T* q) {
  const T top = n * k > 0 ? *std::max_element(s, s + n * k) : T{0};
  const T scale = static_cast<T>(1.0 / epsilon);
  parallel_chunks(n, kRows, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin * k; e < end * k; ++e) q[e] = fast_exp((s[e] - top) * scale);
  });
  std::vector<double> a(n, 1.0), total(k);
  std::vector<T> b(k, T{1});
  const int64_t chunks = (n + kRows - 1) / kRows;
  std::vector<double> partial(chunks * k);
  for (int64_t t = 0; t < iterations; ++t) {
    parallel_chunks(n, kRows, [&](int64_t begin, int64_t end) {
      double* part = partial.data() + begin / kRows * k;
      std::fill(part, part + k, 0.0);
      for (int64_t i = begin; i < end; ++i) {
        const T* row = q + i * k;
        for (int64_t j = 0; j < k; ++j) part[j] += a[i] * static_cast<double>(row[j]);
      }
    });
    std::fill(total.begin(), total.end(), 0.0);
    for (int64_t p = 0; p < chunks; ++p) {
      for (int64_t j = 0; j < k; ++j) total[j] += partial[p * k + j];
    }
    for (int64_t j = 0; j < k; ++j)
      b[j] = static_cast<T>(1.0 / (static_cast<double>(k) * total[j]));
    parallel_chunks(n, kRows, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row = q + i * k;
        const double sum = sum_columns<T>(k, [&](int64_t j) { return row[j] * b[j]; });
        a[i] = 1.0 / (static_cast<double>(n) * sum);
      }
    });
  }
  parallel_chunks(n, kRows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T mine = static_cast<T>(static_cast<double>(n) * a[i]);
      for (int64_t j = 0; j < k; ++j) q[i * k + j] *= mine * b[j];
    }
  });
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(tile_sums)
GRM_CPU_KERNEL(tile_weights)
GRM_CPU_KERNEL(sinkhorn)
