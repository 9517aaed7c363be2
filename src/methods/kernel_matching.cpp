#include "methods/kernel_matching.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "grm/core/error.h"

namespace grm {

using torch::Tensor;

Tensor row_distances(const Adjacency& edges, const Tensor& a, const Tensor& b) {
  const int64_t n = a.numel(), m = b.numel();
  const Tensor distances = torch::empty({n, m}, torch::kFloat64);
  const int64_t *offset = edges.in.offset(), *left = a.data_ptr<int64_t>(),
                *right = b.data_ptr<int64_t>();
  const int32_t* source = edges.nnz() > 0 ? edges.in.index() : nullptr;
  double* out = distances.data_ptr<double>();
  std::vector<char> marked(static_cast<size_t>(edges.cols()), 0);
  const auto mark = [&](int64_t i, char value) {
    for (int64_t k = offset[i]; k < offset[i + 1]; ++k) marked[source[k]] = value;
  };
  for (int64_t i = 0; i < n; ++i) {
    mark(left[i], 1);
    const int64_t own = offset[left[i] + 1] - offset[left[i]];
    for (int64_t j = 0; j < m; ++j) {
      int64_t common = 0;
      const int64_t begin = offset[right[j]], end = offset[right[j] + 1];
      for (int64_t k = begin; k < end; ++k) common += marked[source[k]];
      out[i * m + j] = static_cast<double>(own + end - begin - 2 * common);
    }
    mark(left[i], 0);
  }
  return distances;
}

Tensor matching_kernel(const Tensor& distances) {
  Tensor sum = torch::zeros_like(distances);
  for (const double t : {1.0, 0.1, 0.001}) sum += torch::exp(distances * -t);
  return sum / 3.0;
}

// With v = w - least the set is a simplex for each group: v >= 0 with a given sum, onto which one
// projects by taking the same number off all entries that stay positive.
Tensor project_on_groups(const Tensor& w, const Tensor& group, double least) {
  const int64_t n = w.numel();
  const Tensor projected = w.contiguous().clone();
  double* value = projected.data_ptr<double>();
  const int64_t* of = group.data_ptr<int64_t>();
  std::vector<std::vector<double>> entries(
      n == 0 ? 0 : static_cast<size_t>(group.max().item<int64_t>()) + 1);
  for (int64_t i = 0; i < n; ++i) entries[of[i]].push_back(value[i] - least);
  std::vector<double> shift(entries.size(), 0.0);
  for (size_t g = 0; g < entries.size(); ++g) {
    std::vector<double>& v = entries[g];
    const double total = static_cast<double>(v.size()) * (1.0 - least);
    std::sort(v.begin(), v.end(), std::greater<>());
    double sum = 0.0;
    for (size_t k = 0; k < v.size(); ++k) {
      sum += v[k];
      const double off = (sum - total) / static_cast<double>(k + 1);
      if (k + 1 == v.size() || v[k + 1] <= off) {
        shift[g] = off;
        break;
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) value[i] = least + std::max(0.0, value[i] - least - shift[of[i]]);
  return projected;
}

Tensor matching_weights(const Tensor& h, const Tensor& f, const Tensor& group, double least) {
  constexpr int64_t kMostSteps = 3000;
  constexpr double kClose = 1e-6;
  const int64_t n = f.numel();
  ensure(h.dim() == 2 && h.size(0) == n && h.size(1) == n && group.numel() == n && least <= 1.0,
         "matching_weights: a square matrix, and a group for each row");
  Tensor w = torch::ones({n}, torch::kFloat64);
  if (n == 0) return w;
  // No eigenvalue exceeds the largest sum of a row's absolute values.
  const double step = 1.0 / std::max(1e-12, h.abs().sum(1).max().item<double>());
  const auto next_of = [&](const Tensor& at) {
    return project_on_groups(at - step * (h.mv(at) + f), group, least);
  };
  Tensor ahead = w;
  double t = 1.0;
  for (int64_t k = 0; k < kMostSteps; ++k) {
    const Tensor next = next_of(ahead);
    const Tensor moved = next - w;
    // Momentum that points uphill is given up.
    const bool restart = (ahead - next).dot(moved).item<double>() > 0.0;
    const double t_next = restart ? 1.0 : 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t));
    if ((next - ahead).abs().max().item<double>() < kClose * step) return next;
    ahead = restart ? next : next + ((t - 1.0) / t_next) * moved;
    w = next;
    t = t_next;
  }
  return w;
}

}  // namespace grm
