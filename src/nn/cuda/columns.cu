// Column sums and columnwise maps, as nn/kernels.h lists them.
#include "columns.cuh"

namespace grm::cuda {
namespace {

constexpr int64_t kRows = 32;  // of a block of the elementwise kernels

// Chunks hold `width` sums each; the first `cols` of them go to `sum`, the others to `second`.
__global__ void __launch_bounds__(kBlock)
    add_chunks(const double* part, int64_t chunks, int64_t width, int64_t cols, double* sum,
               double* second) {
  __shared__ double space[kRowLanes][kWarp];
  const int64_t c = blockIdx.x * static_cast<int64_t>(kWarp) + threadIdx.x;
  double total = 0.0;
  if (c < width) {
#pragma unroll 4
    for (int64_t k = threadIdx.y; k < chunks; k += kRowLanes) total += part[k * width + c];
  }
  total = fold(total, space);
  if (c >= width || threadIdx.y > 0) return;
  (c < cols ? sum[c] : second[c - cols]) = total;
}

void launch_add(const double* part, int64_t rows, int64_t width, int64_t cols, double* sum,
                double* second, void* stream) {
  if (cols == 0) return;
  add_chunks<<<blocks_for(width, kWarp), dim3(kWarp, kRowLanes), 0, as_stream(stream)>>>(
      part, chunks_of(rows), width, cols, sum, second);
  check_launch("column sums of chunks");
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    scale_kernel(const T* x, int64_t rows, int64_t cols, const T* mean, const T* scale,
                 const T* beta, T* y) {
  const int64_t c = blockIdx.y * static_cast<int64_t>(kWarp) + threadIdx.x;
  if (c >= cols) return;
  const T centre = mean[c], factor = scale[c], shift = beta[c];
#pragma unroll
  for (int64_t u = 0; u < kRows; u += kRowLanes) {
    const int64_t r = blockIdx.x * kRows + u + threadIdx.y;
    if (r < rows) y[r * cols + c] = (x[r * cols + c] - centre) * factor + shift;
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    gradient_kernel(const T* x, const T* dy, const Rows rows, int64_t cols, const T* mean,
                    const T* scale, const T* dy_mean, const T* slope, T* dx) {
  const int64_t c = blockIdx.y * static_cast<int64_t>(kWarp) + threadIdx.x;
  if (c >= cols) return;
  const T centre = mean[c], factor = scale[c], away = dy_mean[c], steep = slope[c];
  const int64_t last = rows.count();
#pragma unroll
  for (int64_t u = 0; u < kRows; u += kRowLanes) {
    const int64_t r = blockIdx.x * kRows + u + threadIdx.y, k = r * cols + c;
    if (r < last) {
      dx[k] = factor * (dy[k] - away - (x[k] - centre) * steep);
    } else if (r < rows.all) {
      dx[k] = T{0};
    }
  }
}

dim3 grid_for(int64_t rows, int64_t cols) {
  return dim3(blocks_for(rows, kRows), blocks_for(cols, kWarp));
}

}  // namespace

size_t column_workspace_bytes(int64_t rows, int64_t cols) {
  return static_cast<size_t>((chunks_of(rows) * 2 + 4) * cols) * sizeof(double);
}

template <class T>
void column_sums(const T* x, int64_t rows, int64_t cols, double* sum, void* work, void* stream) {
  auto* part = static_cast<double*>(work);
  sum_chunks<T, Sum::plain>(x, nullptr, {rows, nullptr}, cols, nullptr, part, stream);
  launch_add(part, rows, cols, cols, sum, nullptr, stream);
}

template <class T>
void column_squares(const T* x, int64_t rows, int64_t cols, const double* mean, double* sum,
                    void* work, void* stream) {
  auto* part = static_cast<double*>(work);
  sum_chunks<T, Sum::squares>(x, nullptr, {rows, nullptr}, cols, mean, part, stream);
  launch_add(part, rows, cols, cols, sum, nullptr, stream);
}

template <class T>
void gradient_sums(const T* x, const T* dy, int64_t rows, int64_t cols, const double* mean,
                   double* dy_sum, double* dot, void* work, void* stream) {
  auto* part = static_cast<double*>(work);
  sum_chunks<T, Sum::gradient>(x, dy, {rows, nullptr}, cols, mean, part, stream);
  launch_add(part, rows, 2 * cols, cols, dy_sum, dot, stream);
}

template <class T>
void scale_columns(const T* x, int64_t rows, int64_t cols, const T* mean, const T* scale,
                   const T* beta, T* y, void* stream) {
  if (rows == 0 || cols == 0) return;
  scale_kernel<T><<<grid_for(rows, cols), dim3(kWarp, kRowLanes), 0, as_stream(stream)>>>(
      x, rows, cols, mean, scale, beta, y);
  check_launch("scale_columns");
}

template <class T>
void gradient_columns(const T* x, const T* dy, int64_t rows, int64_t cols, const T* mean,
                      const T* scale, const T* dy_mean, const T* slope, T* dx,
                      const int64_t* counted, void* stream) {
  if (rows == 0 || cols == 0) return;
  gradient_kernel<T><<<grid_for(rows, cols), dim3(kWarp, kRowLanes), 0, as_stream(stream)>>>(
      x, dy, {rows, counted}, cols, mean, scale, dy_mean, slope, dx);
  check_launch("gradient_columns");
}

#define INSTANTIATE(T)                                                                            \
  template void column_sums(const T*, int64_t, int64_t, double*, void*, void*);                   \
  template void column_squares(const T*, int64_t, int64_t, const double*, double*, void*, void*); \
  template void gradient_sums(const T*, const T*, int64_t, int64_t, const double*, double*,       \
                              double*, void*, void*);                                             \
  template void scale_columns(const T*, int64_t, int64_t, const T*, const T*, const T*, T*,       \
                              void*);                                                             \
  template void gradient_columns(const T*, const T*, int64_t, int64_t, const T*, const T*,        \
                                 const T*, const T*, T*, const int64_t*, void*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace grm::cuda
