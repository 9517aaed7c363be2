#include "grm/graph/graph.h"

#include <torch/types.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "grm/graph/device.h"

namespace grm {

/// Device copies of single tensors, by the host tensor that they were made of.
struct Features::DeviceCopies {
  std::mutex mutex;
  std::vector<std::pair<torch::Tensor, torch::Tensor>> made;

  torch::Tensor get(const torch::Tensor& t, const torch::Device& device) {
    if (!t.defined() || t.device() == device) return t;
    if (t.requires_grad()) return t.to(device);  // a copy that gradients pass
    for (const auto& [host, copy] : made) {
      if (host.is_same(t) && copy.device() == device) return copy;
    }
    // Features that share their copies differ in a shift or two; more are the work of a loop.
    if (made.size() >= 12) made.clear();
    made.emplace_back(t, on_device(t, device));
    return made.back().second;
  }
};

std::shared_ptr<Features::DeviceCopies> Features::no_copies() {
  return std::make_shared<DeviceCopies>();
}

Features Features::on(const torch::Device& device) const {
  const auto there = [&](const torch::Tensor& t) { return !t.defined() || t.device() == device; };
  if (there(sparse_values) && there(dense) && there(shift)) return *this;
  const std::lock_guard<std::mutex> lock(copies->mutex);
  Features result = *this;
  result.sparse_values = copies->get(sparse_values, device);
  result.dense = copies->get(dense, device);
  result.shift = copies->get(shift, device);
  return result;
}

void Features::has_copy(const torch::Tensor& of, const torch::Tensor& copy) const {
  const std::lock_guard<std::mutex> lock(copies->mutex);
  copies->made.emplace_back(of, copy);
}

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
    // A copy in double of some rows at a time.
    constexpr int64_t kRowsAtOnce = 1 << 20;
    for (int64_t begin = 0; begin < dense.size(0); begin += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, dense.size(0) - begin);
      sum.narrow(0, sparse_width(), dense.size(1)) +=
          dense.narrow(0, begin, count).to(torch::kFloat64).sum(0);
    }
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
