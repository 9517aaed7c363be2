// Batch normalisation of training. Each chunk of rows gives its own mean and the squares around it,
// so that one pass over memory is enough and nothing cancels; a small kernel joins the chunks and
// prepares what the elementwise pass needs.
#include "columns.cuh"

namespace grm::cuda {
namespace {

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

// The factors of columns stand behind the partial sums.
template <class T>
Columns<T> columns_in(void* work, int64_t rows, int64_t cols) {
  T* at = reinterpret_cast<T*>(static_cast<double*>(work) + chunks_of(rows) * 2 * cols);
  return {at, at + cols, at + 2 * cols, at + 3 * cols};
}

}  // namespace

template <class T>
void batch_norm_forward(const T* x, int64_t rows, int64_t cols, const BatchNormState<T>& state,
                        T* y, const int64_t* counted, void* work, void* stream) {
  if (rows == 0 || cols == 0) return;
  auto* part = static_cast<double*>(work);
  const Columns<T> columns = columns_in<T>(work, rows, cols);
  sum_chunks<T, Sum::moments>(x, nullptr, {rows, counted}, cols, nullptr, part, stream);
  finish_moments<T><<<blocks_for(cols, kWarp), dim3(kWarp, kRowLanes), 0, as_stream(stream)>>>(
      part, {rows, counted}, cols, state, columns);
  check_launch("batch_norm_forward");
  scale_columns<T>(x, rows, cols, columns.mean, columns.scale, state.beta, y, stream);
}

template <class T>
void batch_norm_backward(const T* x, const T* dy, int64_t rows, int64_t cols, const T* gamma,
                         const double* mean, const double* inverse, T* dx, T* dgamma, T* dbeta,
                         const int64_t* counted, void* work, void* stream) {
  if (rows == 0 || cols == 0) return;
  auto* part = static_cast<double*>(work);
  const Columns<T> columns = columns_in<T>(work, rows, cols);
  sum_chunks<T, Sum::gradient>(x, dy, {rows, counted}, cols, mean, part, stream);
  finish_gradient<T><<<blocks_for(cols, kWarp), dim3(kWarp, kRowLanes), 0, as_stream(stream)>>>(
      part, {rows, counted}, cols, gamma, mean, inverse, dgamma, dbeta, columns);
  check_launch("batch_norm_backward");
  gradient_columns<T>(x, dy, rows, cols, columns.mean, columns.scale, columns.third, columns.slope,
                      dx, counted, stream);
}

#define INSTANTIATE(T)                                                                             \
  template void batch_norm_forward(const T*, int64_t, int64_t, const BatchNormState<T>&, T*,       \
                                   const int64_t*, void*, void*);                                  \
  template void batch_norm_backward(const T*, const T*, int64_t, int64_t, const T*, const double*, \
                                    const double*, T*, T*, T*, const int64_t*, void*, void*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace grm::cuda
