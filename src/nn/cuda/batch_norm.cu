// Batch normalisation of training. Each chunk of rows gives its own mean and the squares around it,
// so that one pass over memory is enough and nothing cancels; a small kernel joins the chunks and
// prepares what the elementwise pass needs.
#include "nn/cuda/columns.cuh"

namespace grm::cuda {
namespace {

constexpr int64_t kRows = 32;  // of a block of the elementwise kernels

template <class T>
struct Columns {  // what the elementwise kernels need of a column, in T
  T *mean, *scale, *third, *slope;
};

// Mean and variance of all rows from those of the chunks; running statistics; factors.
template <class T>
__global__ void __launch_bounds__(kBlock)
    finish_moments(const double* part, const Rows counted, int64_t cols, BatchNormState<T> state,
                   Columns<T> out) {
  const int64_t rows = counted.count();
  __shared__ double space[kRowLanes][kWarp];
  const int64_t c = blockIdx.x * static_cast<int64_t>(kWarp) + threadIdx.x;
  const int64_t chunks = (rows + kChunk - 1) / kChunk;
  const double n = static_cast<double>(rows);
  const auto size = [&](int64_t k) {
    return static_cast<double>(k + 1 < chunks ? kChunk : rows - k * kChunk);
  };
  double mean = 0.0, square = 0.0;
  if (c < cols) {
    for (int64_t k = threadIdx.y; k < chunks; k += kRowLanes)
      mean += size(k) * part[2 * k * cols + c];
  }
  mean = fold(mean, space) / n;
  if (c < cols) {
    for (int64_t k = threadIdx.y; k < chunks; k += kRowLanes) {
      const double away = part[2 * k * cols + c] - mean;
      square += part[(2 * k + 1) * cols + c] + size(k) * away * away;
    }
  }
  square = fold(square, space);
  if (c >= cols || threadIdx.y > 0) return;
  const double inverse = 1.0 / sqrt(square / n + state.eps);
  state.mean[c] = mean;
  state.inverse[c] = inverse;
  out.mean[c] = static_cast<T>(mean);
  out.scale[c] = static_cast<T>(inverse * static_cast<double>(state.gamma[c]));
  const double keep = 1.0 - state.momentum;
  if (state.running_mean) {
    state.running_mean[c] =
        static_cast<T>(keep * static_cast<double>(state.running_mean[c]) + state.momentum * mean);
  }
  if (state.running_variance && rows > 1) {
    state.running_variance[c] =
        static_cast<T>(keep * static_cast<double>(state.running_variance[c]) +
                       state.momentum * square / (n - 1.0));
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    finish_gradient(const double* part, const Rows counted, int64_t cols, const T* gamma,
                    const double* mean, const double* inverse, T* dgamma, T* dbeta,
                    Columns<T> out) {
  const int64_t rows = counted.count();
  __shared__ double space[kRowLanes][kWarp];
  const int64_t c = blockIdx.x * static_cast<int64_t>(kWarp) + threadIdx.x;
  const int64_t chunks = (rows + kChunk - 1) / kChunk;
  double sum = 0.0, dot = 0.0;
  if (c < cols) {
    for (int64_t k = threadIdx.y; k < chunks; k += kRowLanes) {
      sum += part[2 * k * cols + c];
      dot += part[(2 * k + 1) * cols + c];
    }
  }
  sum = fold(sum, space);
  dot = fold(dot, space);
  if (c >= cols || threadIdx.y > 0) return;
  const double n = static_cast<double>(rows), towards_gamma = dot * inverse[c];
  dbeta[c] = static_cast<T>(sum);
  dgamma[c] = static_cast<T>(towards_gamma);
  out.mean[c] = static_cast<T>(mean[c]);
  out.scale[c] = static_cast<T>(inverse[c] * static_cast<double>(gamma[c]));
  out.third[c] = static_cast<T>(sum / n);
  out.slope[c] = static_cast<T>(towards_gamma * inverse[c] / n);
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

template <class T>
void scale_columns(const Queue& queue, const T* x, int64_t rows, int64_t cols, const T* mean,
                   const T* scale, const T* beta, T* y) {
  if (rows == 0 || cols == 0) return;
  scale_kernel<T><<<grid_for(rows, cols), dim3(kWarp, kRowLanes), 0, stream_of(queue)>>>(
      x, rows, cols, mean, scale, beta, y);
  check_launch("scale_columns");
}

template <class T>
void gradient_columns(const Queue& queue, const T* x, const T* dy, int64_t rows, int64_t cols,
                      const T* mean, const T* scale, const T* dy_mean, const T* slope, T* dx,
                      const int64_t* counted) {
  if (rows == 0 || cols == 0) return;
  gradient_kernel<T><<<grid_for(rows, cols), dim3(kWarp, kRowLanes), 0, stream_of(queue)>>>(
      x, dy, {rows, counted}, cols, mean, scale, dy_mean, slope, dx);
  check_launch("gradient_columns");
}

// The factors of columns stand behind the partial sums.
template <class T>
Columns<T> columns_behind(double* part, int64_t rows, int64_t cols) {
  T* at = reinterpret_cast<T*>(part + chunks_of(rows) * 2 * cols);
  return {at, at + cols, at + 2 * cols, at + 3 * cols};
}

double* make_parts(const Queue& queue, int64_t rows, int64_t cols) {
  const int64_t numbers = (chunks_of(rows) * 2 + 4) * cols;
  return static_cast<double*>(queue.scratch(numbers * sizeof(double)));
}

}  // namespace

template <class T>
void batch_norm_forward(const Queue& queue, const T* x, int64_t rows, int64_t cols,
                        const BatchNormState<T>& state, const int64_t* counted, T* y) {
  if (rows == 0 || cols == 0) return;
  double* part = make_parts(queue, rows, cols);
  const Columns<T> columns = columns_behind<T>(part, rows, cols);
  sum_chunks<T, Sum::moments>(x, nullptr, {rows, counted}, cols, nullptr, part, queue);
  finish_moments<T><<<blocks_for(cols, kWarp), dim3(kWarp, kRowLanes), 0, stream_of(queue)>>>(
      part, {rows, counted}, cols, state, columns);
  check_launch("batch_norm_forward");
  scale_columns<T>(queue, x, rows, cols, columns.mean, columns.scale, state.beta, y);
}

template <class T>
void batch_norm_backward(const Queue& queue, const T* x, const T* dy, int64_t rows, int64_t cols,
                         const T* gamma, const double* mean, const double* inverse,
                         const int64_t* counted, T* dx, T* dgamma, T* dbeta) {
  if (rows == 0 || cols == 0) return;
  double* part = make_parts(queue, rows, cols);
  const Columns<T> columns = columns_behind<T>(part, rows, cols);
  sum_chunks<T, Sum::gradient>(x, dy, {rows, counted}, cols, mean, part, queue);
  finish_gradient<T><<<blocks_for(cols, kWarp), dim3(kWarp, kRowLanes), 0, stream_of(queue)>>>(
      part, {rows, counted}, cols, gamma, mean, inverse, dgamma, dbeta, columns);
  check_launch("batch_norm_backward");
  gradient_columns<T>(queue, x, dy, rows, cols, columns.mean, columns.scale, columns.third,
                      columns.slope, dx, counted);
}

}  // namespace grm::cuda

GRM_CUDA_KERNEL(batch_norm_forward)
GRM_CUDA_KERNEL(batch_norm_backward)
