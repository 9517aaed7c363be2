#include "train/divergence.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>

#include "core/system/mapped_file.h"

namespace grm {
namespace {

// Squares, and sums of squares over many rows, leave single precision beyond 1e19; products of a
// few layers do so earlier.
constexpr double kHuge = 1e6;

struct Largest {
  double value = kHuge;
  std::string where;
};

// Without a copy: data may fill the memory. Mapped numbers are not read for a warning.
double largest_size(const torch::Tensor& values) {
  if (in_mapped_file(values.data_ptr())) return 0.0;
  const auto [low, high] = at::aminmax(values);
  return std::max(-low.item<double>(), high.item<double>());
}

std::string column_name(const Task& task, int64_t column, bool edges) {
  const auto& names = task.feature_names;
  if (!edges && static_cast<size_t>(column) < names.size()) {
    return fmt::format("column '{}'", names[static_cast<size_t>(column)]);
  }
  return fmt::format("column {} of {}", column, edges ? "the edges' features" : "the features");
}

// Looks at one tensor; `column_of` tells the column of a flat index.
template <class ColumnOf>
void look(const Task& task, const Domain& domain, const torch::Tensor& values, bool edges,
          Largest& largest, const ColumnOf& column_of) {
  if (!values.defined() || values.numel() == 0) return;
  const double value = largest_size(values);
  if (!(value > largest.value)) return;
  const int64_t at = values.abs().flatten().argmax().item<int64_t>();
  largest = {value,
             fmt::format("domain '{}', {}", domain.name, column_name(task, column_of(at), edges))};
}

void look(const Task& task, const Domain& domain, const Features& x, bool edges, Largest& largest) {
  if (x.dense.defined() && x.dense.dim() == 2) {
    const int64_t width = x.dense.size(1), first = x.sparse_width();
    look(task, domain, x.dense, edges, largest, [&](int64_t k) { return first + k % width; });
  }
  if (x.sparse && x.sparse_values.defined()) {
    look(task, domain, x.sparse_values, edges, largest,
         [&](int64_t k) { return x.sparse->in.indices[k].item<int64_t>(); });
  }
}

}  // namespace

std::string huge_numbers(const Task& task) {
  Largest largest;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      look(task, domain, domain.graph.x, false, largest);
      look(task, domain, domain.graph.edge_x, true, largest);
      const torch::Tensor& weights = domain.graph.edge_weights;
      if (!weights.defined() || weights.numel() == 0) continue;
      const double most = largest_size(weights);
      if (most > largest.value) {
        largest = {most, fmt::format("domain '{}', weights of its edges", domain.name)};
      }
    }
  }
  if (largest.where.empty()) return "";
  return fmt::format(
      "the data holds numbers up to {:.3g} ({}), too large to compute with: check them, or bring "
      "them to a scale around 1 (scale = \"standard\" in dataset.toml does)",
      largest.value, largest.where);
}

std::string divergence_advice(const Task& task, const std::string& lr) {
  const std::string huge = huge_numbers(task);
  if (!huge.empty()) return huge;
  return lr.empty() ? "a smaller method.lr usually helps"
                    : fmt::format("a smaller method.lr (now {}) usually helps", lr);
}

}  // namespace grm
