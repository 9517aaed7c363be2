#include "grm/graph/graph.h"

#include <torch/types.h>

namespace grm {

int64_t Features::rows() const {
  return sparse ? sparse->rows() : dense.size(0);
}

int64_t Features::width() const {
  return sparse_width() + (dense.defined() ? dense.size(1) : 0);
}

int64_t Features::nonzeros() const {
  return (sparse ? sparse->nnz() : 0) + (dense.defined() ? dense.numel() : 0);
}

torch::Tensor Features::column_mean() const {
  torch::Tensor sum = torch::zeros({width()}, torch::kFloat64);
  double* column = sum.data_ptr<double>();
  if (sparse) {
    const torch::Tensor values =
        sparse_values.defined() ? sparse_values.to(torch::kFloat64).contiguous() : torch::Tensor();
    const double* value = values.defined() ? values.data_ptr<double>() : nullptr;
    const int32_t* index = sparse->in.index();
    for (int64_t e = 0; e < sparse->nnz(); ++e) column[index[e]] += value ? value[e] : 1.0;
  }
  if (dense.defined()) {
    sum.narrow(0, sparse_width(), dense.size(1)) += dense.to(torch::kFloat64).sum(0);
  }
  sum /= static_cast<double>(rows());
  if (shift.defined()) sum -= shift.to(torch::kFloat64);
  return sum.to(torch::kFloat32);
}

Features Features::centred() const {
  Features result = *this;
  const torch::Tensor mean = column_mean();
  result.shift = shift.defined() ? shift + mean : mean;
  return result;
}

torch::Tensor Features::to_dense() const {
  torch::Tensor x = torch::zeros({rows(), width()}, torch::kFloat32);
  if (sparse) {
    const auto [column, row] = edge_list(*sparse);
    const torch::Tensor values =
        sparse_values.defined() ? sparse_values : torch::ones({sparse->nnz()}, torch::kFloat32);
    x.index_put_({row, column}, values);
  }
  if (dense.defined()) x.narrow(1, sparse_width(), dense.size(1)).copy_(dense);
  if (shift.defined()) x -= shift;
  return x;
}

}  // namespace grm
