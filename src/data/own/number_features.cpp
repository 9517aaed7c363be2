#include "data/own/number_features.h"

#include <torch/types.h>

#include <cmath>

#include "data/own/sparse_rows.h"

namespace grm::own {
namespace {

// One numeric column on its way to be features.
struct Source {
  const ColumnRule* rule;
  int64_t at;  // its feature; that of its flag follows
  // Sparse: whether every row keeps its number as it will be, because few are zero. Of the others
  // the non-zeros are kept, and the shift takes the mean off all rows.
  bool whole;
  Numbers::Reader number;
};

std::vector<Source> sources_of(const std::vector<ColumnRule>& rules, const Columns& columns) {
  std::vector<Source> sources;
  int64_t at = 0;
  for (size_t k = 0; k < rules.size(); ++k) {
    if (!rules[k].numeric) continue;
    const Numbers& numbers = columns.list[k].numbers;
    sources.push_back(
        {&rules[k], at, 4 * numbers.nonzeros() > numbers.size(), Numbers::Reader(numbers)});
    at += rules[k].flag ? 2 : 1;
  }
  return sources;
}

// What the sparse form would hold, as far as the tables tell without looking at rows.
bool better_sparse(const std::vector<ColumnRule>& rules, const Columns& columns, int64_t width) {
  int64_t kept = 0;
  for (size_t k = 0; k < rules.size(); ++k) {
    if (!rules[k].numeric) continue;
    const Numbers& numbers = columns.list[k].numbers;
    kept += 4 * numbers.nonzeros() > numbers.size() ? numbers.size() : numbers.nonzeros();
  }
  return kept <= most_kept_sparse(columns.rows, width);
}

Features sparse_numbers(std::vector<Source>& sources, const torch::Tensor& rows, int64_t width) {
  Features x;
  torch::Tensor shift = torch::zeros({width}, torch::kFloat32);
  for (const Source& source : sources) {
    if (source.whole) continue;
    shift.data_ptr<float>()[source.at] = static_cast<float>(source.rule->mean / source.rule->scale);
  }
  SparseRows kept(width);
  const int64_t* row = rows.data_ptr<int64_t>();
  for (int64_t i = 0; i < rows.numel(); ++i) {
    for (Source& source : sources) {
      const ColumnRule& rule = *source.rule;
      const double value = source.number(row[i]);
      const bool absent = std::isnan(value);
      const double present = absent ? rule.fill : value;
      const double stored = (source.whole ? present - rule.mean : present) / rule.scale;
      if (stored != 0.0) kept.add(source.at, static_cast<float>(stored));
      if (rule.flag && absent) kept.add(source.at + 1, 1.0F);
    }
    kept.end_row();
  }
  x = kept.finish();
  if (shift.ne(0).any().item<bool>()) x.shift = shift;
  return x;
}

Features dense_numbers(std::vector<Source>& sources, const torch::Tensor& rows, int64_t width) {
  Features x;
  x.dense = torch::zeros({rows.numel(), width}, torch::kFloat32);
  float* out = x.dense.data_ptr<float>();
  const int64_t* row = rows.data_ptr<int64_t>();
  for (Source& source : sources) {
    const ColumnRule& rule = *source.rule;
    for (int64_t i = 0; i < rows.numel(); ++i) {
      const double value = source.number(row[i]);
      const bool absent = std::isnan(value);
      out[i * width + source.at] =
          static_cast<float>(((absent ? rule.fill : value) - rule.mean) / rule.scale);
      if (rule.flag) out[i * width + source.at + 1] = absent ? 1.0F : 0.0F;
    }
  }
  return x;
}

}  // namespace

Features number_features(const std::vector<ColumnRule>& rules, const Part& part, int64_t width,
                         bool may_be_sparse) {
  std::vector<Source> sources = sources_of(rules, *part.columns);
  return may_be_sparse && better_sparse(rules, *part.columns, width)
             ? sparse_numbers(sources, part.rows, width)
             : dense_numbers(sources, part.rows, width);
}

}  // namespace grm::own
