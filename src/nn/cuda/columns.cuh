#pragma once

#include "core/cuda/row_lanes.cuh"
#include "nn/kernels.h"

// Column sums in two steps: blocks add up kChunk rows each, then the chunks are added in their
// order. Sums are kept in double. Lanes lie along the columns; kRowLanes threads share a column and
// are folded in their order.
namespace grm::cuda {

constexpr int64_t kChunk = 128;  // rows

inline int64_t chunks_of(int64_t rows) {
  return (rows + kChunk - 1) / kChunk;
}

// What a chunk of rows adds to up to two sums of a column.
enum class Sum { gradient, moments };

/// The number of rows that count: all of them, or as many as stands in device memory.
struct Rows {
  int64_t all;
  const int64_t* place;  // null: all
  __device__ int64_t count() const { return place ? *place : all; }
};

template <class T, Sum kSum>
__global__ void __launch_bounds__(kBlock)
    sum_chunk(const T* x, const T* dy, const Rows rows, int64_t cols, const double* mean,
              double* part) {
  __shared__ double space[kRowLanes][kWarp];
  const int64_t c = blockIdx.y * static_cast<int64_t>(kWarp) + threadIdx.x, chunk = blockIdx.x;
  const int64_t last = rows.count(), begin = chunk * kChunk;
  if (begin >= last) return;
  const int64_t end = begin + kChunk < last ? begin + kChunk : last;
  const bool some = c < cols;
  double first = 0.0, second = 0.0;
  const double centre = some && kSum == Sum::gradient ? mean[c] : 0.0;
  if (some) {
#pragma unroll 4
    for (int64_t r = begin + threadIdx.y; r < end; r += kRowLanes) {
      const double value = static_cast<double>(x[r * cols + c]) - centre;
      if constexpr (kSum == Sum::gradient) {
        const double g = static_cast<double>(dy[r * cols + c]);
        first += g;
        second += g * value;
      } else {
        first += value;
      }
    }
  }
  first = fold(first, space);
  if constexpr (kSum == Sum::gradient) second = fold(second, space);
  if constexpr (kSum == Sum::moments) {  // the chunk's own mean, then squares around it
    first /= static_cast<double>(end - begin);
    if (some) {
#pragma unroll 4
      for (int64_t r = begin + threadIdx.y; r < end; r += kRowLanes) {
        const double value = static_cast<double>(x[r * cols + c]) - first;
        second += value * value;
      }
    }
    second = fold(second, space);
  }
  if (!some || threadIdx.y > 0) return;
  constexpr bool kTwo = kSum == Sum::gradient || kSum == Sum::moments;
  part[chunk * (kTwo ? 2 : 1) * cols + c] = first;
  if (kTwo) part[(chunk * 2 + 1) * cols + c] = second;
}

/// Up to 65535 * 32 columns.
template <class T, Sum kSum>
void sum_chunks(const T* x, const T* dy, const Rows& rows, int64_t cols, const double* mean,
                double* part, const Queue& queue) {
  if (rows.all == 0 || cols == 0) return;
  const dim3 grid(blocks_for(chunks_of(rows.all), 1), blocks_for(cols, kWarp));
  sum_chunk<T, kSum>
      <<<grid, dim3(kWarp, kRowLanes), 0, stream_of(queue)>>>(x, dy, rows, cols, mean, part);
  check_launch("column sums");
}

}  // namespace grm::cuda
