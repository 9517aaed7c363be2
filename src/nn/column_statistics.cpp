#include "nn/column_statistics.h"

#include <torch/types.h>

#include "grm/core/threads.h"
#include "nn/kernels.h"

namespace grm::nn {

torch::Tensor column_totals(int64_t rows, int64_t sums,
                            const std::function<void(int64_t, int64_t, double*)>& body) {
  const int64_t chunks = (rows + kColumnRows - 1) / kColumnRows;
  const torch::Tensor partial = torch::empty({chunks, sums}, torch::kFloat64);
  double* part = partial.data_ptr<double>();
  parallel_chunks(rows, kColumnRows, [&](int64_t begin, int64_t end) {
    body(begin, end, part + begin / kColumnRows * sums);
  });
  torch::Tensor total = torch::zeros({sums}, torch::kFloat64);
  double* t = total.data_ptr<double>();
  for (int64_t k = 0; k < chunks; ++k) {
    for (int64_t c = 0; c < sums; ++c) t[c] += part[k * sums + c];
  }
  return total;
}

std::pair<torch::Tensor, torch::Tensor> column_statistics(const torch::Tensor& x) {
  const int64_t rows = x.size(0), cols = x.size(1);
  const double n = static_cast<double>(rows);
  torch::Tensor mean, variance;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "batch_norm statistics", [&] {
    const scalar_t* p = x.data_ptr<scalar_t>();
    mean = column_totals(rows, cols, [&](int64_t begin, int64_t end, double* out) {
      on_host<kernels::column_sums<scalar_t>>(p + begin * cols, end - begin, cols, out);
    });
    mean /= n;
    const double* m = mean.data_ptr<double>();
    variance = column_totals(rows, cols, [&](int64_t begin, int64_t end, double* out) {
      on_host<kernels::column_squares<scalar_t>>(p + begin * cols, end - begin, cols, m, out);
    });
    variance /= n;
  });
  return {mean, variance};
}

}  // namespace grm::nn
