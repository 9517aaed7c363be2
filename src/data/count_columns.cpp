#include "data/count_columns.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/stored_numbers.h"

namespace grm {
namespace {

constexpr double kLongTail = 2.0;   // skewness; that of an exponential law
constexpr double kRounding = 1e-4;  // of a count that was standardised in single precision
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Columns {
  std::vector<const Features*> parts;
  std::vector<double> low, gap;  // the smallest number, and the smallest distance above it
  std::vector<bool> fits;        // has not been ruled out
  int64_t width = 0;
};

// Calls use(column, number, times) for all numbers; those that a sparse column does not store come
// at once.
template <class Use>
void visit_all(const Features& x, Use&& use) {
  const std::vector<double> shift = constant_row(x);
  std::vector<int64_t> absent(static_cast<size_t>(x.sparse_width()), x.rows());
  visit_stored(x, shift, [&](int64_t j, double number) {
    use(j, number, int64_t{1});
    if (j < x.sparse_width()) --absent[j];
  });
  for (int64_t j = 0; j < x.sparse_width(); ++j) {
    if (absent[j] > 0) use(j, -shift[j], absent[j]);
  }
}

void find_units(Columns& columns) {
  for (const Features* x : columns.parts) {
    visit_all(*x, [&](int64_t j, double number, int64_t) {
      columns.low[j] = std::min(columns.low[j], number);
    });
  }
  for (const Features* x : columns.parts) {
    visit_all(*x, [&](int64_t j, double number, int64_t) {
      const double above = number - columns.low[j];
      if (above > kRounding * std::abs(columns.low[j]) + 1e-12) {
        columns.gap[j] = std::min(columns.gap[j], above);
      }
    });
  }
}

// Rules out columns with numbers off the grid, of two values, or without a tail.
void judge(Columns& columns) {
  struct Sums {
    double n = 0, first = 0, second = 0, third = 0, most = 0;
  };
  std::vector<Sums> sums(static_cast<size_t>(columns.width));
  for (const Features* x : columns.parts) {
    visit_all(*x, [&](int64_t j, double number, int64_t times) {
      const double count = (number - columns.low[j]) / columns.gap[j];
      const double whole = std::round(count);
      if (!(std::abs(count - whole) <= kRounding * (1 + whole))) columns.fits[j] = false;
      Sums& s = sums[j];
      const auto weight = static_cast<double>(times);
      s.n += weight;
      s.first += weight * whole;
      s.second += weight * whole * whole;
      s.third += weight * whole * whole * whole;
      s.most = std::max(s.most, whole);
    });
    // Logarithms must leave the numbers that are not stored at zero.
    const std::vector<double> shift = constant_row(*x);
    for (int64_t j = 0; j < x->sparse_width(); ++j) {
      if (std::abs(-shift[j] - columns.low[j]) > kRounding * columns.gap[j]) {
        columns.fits[j] = false;
      }
    }
  }
  for (int64_t j = 0; j < columns.width; ++j) {
    const Sums& s = sums[j];
    const double mean = s.first / s.n, variance = s.second / s.n - mean * mean;
    const double third = s.third / s.n - 3 * mean * s.second / s.n + 2 * mean * mean * mean;
    const bool tail = variance > 0 && third / std::pow(variance, 1.5) >= kLongTail;
    if (s.most < 2 || !tail) columns.fits[j] = false;
  }
}

}  // namespace

CountColumns find_count_columns(const Task& task) {
  Columns columns;
  columns.width = task.features();
  const auto width = static_cast<size_t>(columns.width);
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) columns.parts.push_back(&domain.graph.x);
  }
  columns.low.assign(width, kInfinity);
  columns.gap.assign(width, kInfinity);
  columns.fits.assign(width, true);
  find_units(columns);
  judge(columns);
  CountColumns found;
  found.count = std::count(columns.fits.begin(), columns.fits.end(), true);
  found.is_count = std::move(columns.fits);
  found.low = std::move(columns.low);
  found.unit = std::move(columns.gap);
  return found;
}

Features CountColumns::logged(const Features& x) const {
  if (count == 0) return x;
  const std::vector<double> shift = constant_row(x);
  const auto log_of = [&](int64_t j, double stored) {
    if (!is_count[j]) return static_cast<float>(stored);
    return static_cast<float>(std::log1p((stored - shift[j] - low[j]) / unit[j]));
  };
  Features result;
  result.sparse = x.sparse;
  if (x.sparse) {
    result.sparse_values = torch::empty({x.sparse->nnz()}, torch::kFloat32);
    const float* from = x.sparse_values.defined() ? x.sparse_values.data_ptr<float>() : nullptr;
    float* to = result.sparse_values.data_ptr<float>();
    const int32_t* index = x.sparse->in.index();
    for (int64_t e = 0; e < x.sparse->nnz(); ++e) to[e] = log_of(index[e], from ? from[e] : 1.0);
  }
  if (x.dense.defined()) {
    result.dense = x.dense.clone(torch::MemoryFormat::Contiguous);
    float* number = result.dense.data_ptr<float>();
    for (int64_t i = 0; i < result.dense.size(0); ++i) {
      for (int64_t j = 0; j < result.dense.size(1); ++j, ++number) {
        *number = log_of(x.sparse_width() + j, *number);
      }
    }
  }
  if (x.shift.defined()) {
    result.shift = x.shift.clone();
    for (int64_t j = 0; j < x.width(); ++j) {
      if (is_count[j]) result.shift.data_ptr<float>()[j] = 0.0F;
    }
  }
  return result;
}

}  // namespace grm
