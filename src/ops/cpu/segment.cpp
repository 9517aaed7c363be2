// Reductions of consecutive rows, and rows by index.
#include <algorithm>

#include "ops/cpu/vec.h"

namespace grm::cpu::GRM_CPU_VARIANT {
namespace {

// Sum of n consecutive numbers in sixteen lanes, folded in a fixed order.
template <class T>
T sum_numbers(const T* x, int64_t n) {
  constexpr int kLanes = 16;
  T lane[kLanes] = {};
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (int l = 0; l < kLanes; ++l) lane[l] += x[k + l];
  }
  for (int l = 0; k + l < n; ++l) lane[l] += x[k + l];
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

}  // namespace

template <class T>
void segment_reduce(const Segments& s, const T* x, int64_t d, bool mean, T* y) {
  const int64_t* offset = s.offset;
  parallel_rows(offset, s.segments, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t count = offset[i + 1] - offset[i];
      const T factor = mean && count > 0 ? T{1} / static_cast<T>(count) : T{1};
      T* to = y + i * d;
      if (d == 1) {
        *to = sum_numbers(x + offset[i], count) * factor;
        continue;
      }
      std::fill(to, to + d, T{0});
      for (int64_t r = offset[i]; r < offset[i + 1]; ++r) {
        for (int64_t c = 0; c < d; ++c) to[c] += x[r * d + c];
      }
      for (int64_t c = 0; c < d; ++c) to[c] *= factor;
    }
  });
}

template <class T>
void segment_reduce_backward(const Segments& s, const T* dy, int64_t d, bool mean, T* dx) {
  const int64_t* offset = s.offset;
  parallel_rows(offset, s.segments, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t count = offset[i + 1] - offset[i];
      const T factor = mean && count > 0 ? T{1} / static_cast<T>(count) : T{1};
      for (int64_t r = offset[i]; r < offset[i + 1]; ++r) {
        for (int64_t c = 0; c < d; ++c) dx[r * d + c] = dy[i * d + c] * factor;
      }
    }
  });
}

template <class T>
void gather_rows(const T* x, const int64_t* index, int64_t count, int64_t d, T* y) {
  parallel_chunks(count, entries_per_chunk(d), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      if (index[k] < 0) {
        std::fill_n(y + k * d, d, T{0});
      } else {
        std::copy_n(x + index[k] * d, d, y + k * d);
      }
    }
  });
}

void positions_by_value(const int64_t* index, int64_t count, int64_t values, int64_t* offset,
                        int32_t* position) {
  // Counts are kept one place further, so that the running ends become the next value's start.
  std::fill(offset, offset + values + 1, 0);
  for (int64_t k = 0; k < count; ++k) ++offset[index[k] + 1];
  for (int64_t v = 0; v < values; ++v) offset[v + 1] += offset[v];
  for (int64_t k = count - 1; k >= 0; --k) {
    position[--offset[index[k] + 1]] = static_cast<int32_t>(k);
  }
  // offset[v + 1] now holds the start of value v.
  std::copy(offset + 1, offset + values + 1, offset);
  offset[values] = count;
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(segment_reduce)
GRM_CPU_KERNEL(segment_reduce_backward)
GRM_CPU_KERNEL(gather_rows)
GRM_CPU_KERNEL_OF(kernels::positions_by_value, positions_by_value)
