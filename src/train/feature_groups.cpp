#include "train/feature_groups.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <map>

namespace grm {
namespace {

// Entries of the group's columns come from row from[i], all others from row i.
void permute_sparse(const Features& x, const std::vector<bool>& chosen, const int64_t* from,
                    Features& into) {
  const Csr& old = x.sparse->in;
  const float* value = x.sparse_values.defined() ? x.sparse_values.data_ptr<float>() : nullptr;
  std::vector<int64_t> offsets = {0};
  std::vector<std::pair<int32_t, float>> row;
  std::vector<int32_t> indices;
  std::vector<float> values;
  const auto take = [&](int64_t i, bool of_group) {
    for (int64_t e = old.offset()[i]; e < old.offset()[i + 1]; ++e) {
      if (chosen[static_cast<size_t>(old.index()[e])] == of_group) {
        row.emplace_back(old.index()[e], value ? value[e] : 1.0F);
      }
    }
  };
  for (int64_t i = 0; i < old.rows; ++i) {
    row.clear();
    take(i, false);
    take(from[i], true);
    std::sort(row.begin(), row.end());
    for (const auto& [column, stored] : row) {
      indices.push_back(column);
      values.push_back(stored);
    }
    offsets.push_back(static_cast<int64_t>(indices.size()));
  }
  Csr in;
  in.rows = old.rows;
  in.cols = old.cols;
  in.offsets = torch::tensor(offsets, torch::kInt64);
  in.indices = torch::tensor(indices, torch::kInt32);
  into.sparse = with_transpose(std::move(in));
  if (value) into.sparse_values = torch::tensor(values, torch::kFloat32);
}

}  // namespace

std::vector<FeatureGroup> feature_groups(const std::vector<std::string>& names, int64_t width,
                                         bool single) {
  std::vector<FeatureGroup> groups;
  std::map<std::string, size_t> place;  // of categorical columns
  for (int64_t j = 0; j < width; ++j) {
    const bool named = j < static_cast<int64_t>(names.size());
    const std::string name = named ? names[static_cast<size_t>(j)] : fmt::format("x{}", j);
    const size_t equals = named && !single ? name.find('=') : std::string::npos;
    if (equals == std::string::npos) {
      groups.push_back({name, {j}});
      continue;
    }
    const auto [found, fresh] = place.emplace(name.substr(0, equals), groups.size());
    if (fresh) groups.push_back({found->first, {}});
    groups[found->second].columns.push_back(j);
  }
  return groups;
}

Features permuted(const Features& x, const FeatureGroup& group, const torch::Tensor& from) {
  Features result = x;
  result.copies = Features::no_copies();
  const int64_t split = x.sparse_width();
  std::vector<bool> chosen(static_cast<size_t>(split), false);
  std::vector<int64_t> dense;
  for (const int64_t j : group.columns) {
    if (j < split) {
      chosen[static_cast<size_t>(j)] = true;
    } else {
      dense.push_back(j - split);
    }
  }
  if (dense.size() < group.columns.size()) {
    permute_sparse(x, chosen, from.data_ptr<int64_t>(), result);
  }
  if (!dense.empty()) {
    result.dense = x.dense.clone();
    for (const int64_t j : dense) {
      result.dense.select(1, j).copy_(x.dense.select(1, j).index_select(0, from));
    }
  }
  return result;
}

}  // namespace grm
