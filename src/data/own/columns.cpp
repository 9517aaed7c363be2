#include "data/own/columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "data/own/number_features.h"
#include "data/own/sparse_rows.h"
#include "grm/core/error.h"

namespace grm::own {
namespace {

const int64_t* begin_of(const torch::Tensor& rows) {
  return rows.data_ptr<int64_t>();
}
const int64_t* end_of(const torch::Tensor& rows) {
  return begin_of(rows) + rows.numel();
}

// Calls each(value) on the present numbers of column k in all training rows.
template <class Each>
void present(const std::vector<Part>& training, size_t k, Each&& each) {
  for (const Part& part : training) {
    Numbers::Reader number(part.columns->list[k].numbers);
    for (const int64_t* row = begin_of(part.rows); row != end_of(part.rows); ++row) {
      const double value = number(*row);
      if (!std::isnan(value)) each(value);
    }
  }
}

// Mean and population deviation in double; a constant column is only centred.
void fit_numeric(const std::vector<Part>& training, size_t k, const std::string& missing,
                 bool standard, ColumnRule& rule, std::vector<std::string>& empty) {
  int64_t count = 0, all = 0;
  double sum = 0.0, squares = 0.0, first = 0.0;
  for (const Part& part : training) all += part.rows.numel();
  present(training, k, [&](double value) {
    if (count++ == 0) first = value;
    sum += value;
  });
  if (count == 0) {
    empty.push_back(rule.name);
    return;
  }
  double mean = sum / static_cast<double>(count);
  present(training, k, [&](double value) { squares += (value - mean) * (value - mean); });
  const double deviation = std::sqrt(squares / static_cast<double>(count));
  // A constant that a double cannot hold exactly leaves a deviation of rounding errors.
  const bool constant = deviation <= 1e-12 * std::abs(mean);
  if (constant) mean = first;
  if (standard) {
    rule.mean = mean;
    if (!constant) rule.scale = deviation;
  }
  rule.missing = missing;
  if (missing == "mean" || missing == "flag") rule.fill = mean;
  rule.flag = missing == "flag" && count < all;
}

std::vector<std::string> fit_categories(const std::vector<Part>& training, size_t k) {
  std::set<std::string> seen;
  for (const Part& part : training) {
    const Column& column = part.columns->list[k];
    std::vector<bool> used(static_cast<size_t>(column.texts.size()), false);
    for (const int64_t* row = begin_of(part.rows); row != end_of(part.rows); ++row) {
      used[static_cast<size_t>(column.codes[*row])] = true;
    }
    for (int64_t code = 0; code < column.texts.size(); ++code) {
      if (used[static_cast<size_t>(code)]) seen.insert(column.texts[code]);
    }
  }
  return {seen.begin(), seen.end()};
}

struct OneHot {
  const Column* column;
  std::vector<int32_t> feature;  // by code; -1: not known
};

// Every row has at most one feature of each column, and the columns' features follow each other:
// the indices of a row ascend.
AdjacencyPtr one_hot(const std::vector<OneHot>& columns, int64_t width, const torch::Tensor& rows) {
  Csr in;
  in.rows = rows.numel();
  in.cols = width;
  in.offsets = torch::zeros({in.rows + 1}, torch::kInt64);
  int64_t* offset = in.offsets.data_ptr<int64_t>();
  std::vector<int32_t> indices;
  indices.reserve(static_cast<size_t>(in.rows) * columns.size());
  for (int64_t i = 0; i < in.rows; ++i) {
    for (const OneHot& each : columns) {
      const int32_t feature = each.feature[static_cast<size_t>(
          each.column->codes[static_cast<size_t>(begin_of(rows)[i])])];
      if (feature >= 0) indices.push_back(feature);
    }
    offset[i + 1] = static_cast<int64_t>(indices.size());
  }
  in.indices = torch::empty({static_cast<int64_t>(indices.size())}, torch::kInt32);
  std::copy(indices.begin(), indices.end(), in.indices.data_ptr<int32_t>());
  return with_transpose(std::move(in));
}

void count_unknown(const OneHot& each, const ColumnRule& rule, const torch::Tensor& rows,
                   std::vector<Unknown>& unknown) {
  Unknown found{rule.name, "", 0};
  for (const int64_t* row = begin_of(rows); row != end_of(rows); ++row) {
    const auto code = static_cast<size_t>(each.column->codes[static_cast<size_t>(*row)]);
    if (each.feature[code] >= 0) continue;
    if (found.count++ == 0) found.first = each.column->texts[static_cast<int64_t>(code)];
  }
  if (found.count > 0) unknown.push_back(std::move(found));
}

}  // namespace

std::vector<ColumnRule> fit_rules(const std::vector<Part>& training, const std::string& missing,
                                  const std::string& scale, std::vector<std::string>& empty) {
  ensure(!training.empty(), "fit_rules: no training part");
  std::vector<ColumnRule> rules;
  const std::vector<Column>& list = training.front().columns->list;
  for (size_t k = 0; k < list.size(); ++k) {
    ColumnRule rule;
    rule.name = list[k].name;
    rule.numeric = list[k].numeric;
    rule.sparse = list[k].sparse;
    if (rule.numeric) {
      fit_numeric(training, k, missing, scale == "standard", rule, empty);
    } else {
      rule.categories = fit_categories(training, k);
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

Features apply_rules(const std::vector<ColumnRule>& rules, const Part& part, bool may_be_sparse,
                     std::vector<Unknown>& unknown) {
  ensure(rules.size() == part.columns->list.size(), "apply_rules: another number of columns");
  std::vector<OneHot> hot;
  int64_t sparse = 0, dense = 0;
  for (size_t k = 0; k < rules.size(); ++k) {
    if (rules[k].numeric) {
      dense += rules[k].flag ? 2 : 1;
      continue;
    }
    const Column& column = part.columns->list[k];
    OneHot each{&column, std::vector<int32_t>(static_cast<size_t>(column.texts.size()), -1)};
    for (size_t c = 0; c < rules[k].categories.size(); ++c) {
      const int64_t code = column.texts.find(rules[k].categories[c]);
      if (code >= 0) each.feature[static_cast<size_t>(code)] = static_cast<int32_t>(sparse + c);
    }
    sparse += static_cast<int64_t>(rules[k].categories.size());
    count_unknown(each, rules[k], part.rows, unknown);
    hot.push_back(std::move(each));
  }
  Features categories;
  if (sparse > 0) categories.sparse = one_hot(hot, sparse, part.rows);
  if (dense == 0) return categories;
  return side_by_side(categories, number_features(rules, part, dense, may_be_sparse));
}

std::vector<std::string> names_of_features(const std::vector<ColumnRule>& rules) {
  std::vector<std::string> names;
  for (const ColumnRule& rule : rules) {
    for (const std::string& category : rule.categories) {
      names.push_back(rule.name + "=" + (category.empty() ? "(missing)" : category));
    }
  }
  for (const ColumnRule& rule : rules) {
    if (!rule.numeric) continue;
    names.push_back(rule.name);
    if (rule.flag) names.push_back(rule.name + " is missing");
  }
  return names;
}

}  // namespace grm::own
