#include "npz_arrays.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grm/core/options.h"

namespace grm::own {
namespace {

io::Npz open(const std::string& path, Problems& problems) {
  try {
    return io::read_npz(path);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::config) throw;  // built without libzip: no fault of the file
    problems.stop(path, error, "write it anew with numpy.savez");
  }
}

std::string shape_text(const torch::Tensor& array) {
  return fmt::format("[{}]", fmt::join(array.sizes(), ", "));
}

// "17" or "17, 3": where the first true entry of `wrong` is.
std::string first_index(const torch::Tensor& wrong) {
  const torch::Tensor at = torch::nonzero(wrong)[0];
  std::string index;
  for (int64_t k = 0; k < at.numel(); ++k) {
    index += fmt::format("{}{}", k > 0 ? ", " : "", at[k].item<int64_t>());
  }
  return index;
}

}  // namespace

NpzArrays::NpzArrays(const std::string& path, Problems& problems)
    : npz_(open(path, problems)), problems_(problems) {}

void NpzArrays::problem(const std::string& what, const std::string& fix) {
  problems_.add({npz_.path, 0, 0, what, fix});
}

torch::Tensor NpzArrays::find(const std::string& name, int64_t dimensions) {
  if (const auto unread = npz_.unread.find(name); unread != npz_.unread.end()) {
    problem(fmt::format("array '{}' has dtype {}, numbers are needed", name, unread->second),
            name == "y" ? "write class numbers 0, 1, ...; their names go to 'labels' in "
                          "dataset.toml"
                        : "save it with a numeric dtype");
    return {};
  }
  const auto found = npz_.arrays.find(name);
  if (found == npz_.arrays.end()) return {};
  if (found->second.dim() == dimensions) return found->second;
  std::string fix = fmt::format("save it with {} axes", dimensions);
  if (dimensions == 2 && found->second.dim() == 1) fix = "save array.reshape(-1, 1)";
  if (dimensions == 1 && found->second.dim() == 2) fix = "save array.reshape(-1)";
  problem(fmt::format("array '{}' has the shape {}, {} is needed", name, shape_text(found->second),
                      dimensions == 1 ? "one axis" : "a table with two axes"),
          fix);
  return {};
}

torch::Tensor NpzArrays::need(const std::string& name, int64_t dimensions, const std::string& fix) {
  if (has(name) || npz_.unread.count(name) > 0) return find(name, dimensions);
  std::vector<std::string> names;
  for (const auto& entry : npz_.arrays) names.push_back(entry.first);
  problem(fmt::format("there is no array '{}'{}; there are: {}", name, did_you_mean(name, names),
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
          fix);
  return {};
}

bool NpzArrays::has_size(const std::string& name, const torch::Tensor& array, int64_t size) {
  if (size < 0 || array.numel() == size) return true;
  problem(fmt::format("array '{}' has {} entries, {} are needed", name, array.numel(), size),
          "every node, graph or edge needs exactly one entry");
  return false;
}

torch::Tensor NpzArrays::whole_numbers(const std::string& name, int64_t size) {
  const torch::Tensor array = find(name, 1);
  if (!array.defined() || !has_size(name, array, size)) return {};
  if (array.is_floating_point()) {
    problem(fmt::format("array '{}' holds floating-point numbers, whole ones are needed", name),
            "save array.astype(\"int64\")");
    return {};
  }
  return array.to(torch::kInt64).contiguous();
}

torch::Tensor NpzArrays::numbers(const std::string& name, int64_t size) {
  const torch::Tensor array = find(name, 1);
  if (!array.defined() || !has_size(name, array, size)) return {};
  const torch::Tensor values = array.to(torch::kFloat32).contiguous();
  return check_values(name, values, false) ? values : torch::Tensor();
}

torch::Tensor NpzArrays::mask(const std::string& name, int64_t size) {
  const torch::Tensor array = find(name, 1);
  if (!array.defined() || !has_size(name, array, size)) return {};
  if (array.scalar_type() == torch::kBool) return array;
  const torch::Tensor wrong = array.ne(0).logical_and(array.ne(1));
  if (wrong.any().item<bool>()) {
    const int64_t at = torch::nonzero(wrong)[0].item<int64_t>();
    problem(fmt::format("{}[{}] is {}, a mask holds 0 and 1", name, at, array[at].item<double>()),
            "save a boolean array with one entry for each item, not a list of indices");
    return {};
  }
  return array.ne(0);
}

torch::Tensor NpzArrays::labels(const std::string& name, int64_t size) {
  torch::Tensor array = find(name, 1);
  if (!array.defined() || !has_size(name, array, size)) return {};
  if (array.is_floating_point()) {
    const torch::Tensor known = array.to(torch::kFloat64);
    const torch::Tensor wrong =
        known.ne(known.floor()).logical_or(known.abs().gt(1e9)).logical_and(~known.isnan());
    if (wrong.any().item<bool>()) {
      const int64_t at = torch::nonzero(wrong)[0].item<int64_t>();
      problem(
          fmt::format("{}[{}] is {}, which is no class number", name, at, known[at].item<double>()),
          "classes are counted 0, 1, 2, ...; cut a number to be predicted into classes");
      return {};
    }
    array = torch::nan_to_num(known, -1.0);
  }
  return array.to(torch::kInt64).clamp_min(-1).contiguous();
}

bool NpzArrays::check_values(const std::string& name, const torch::Tensor& values,
                             bool nan_is_fine) {
  torch::Tensor wrong = ~torch::isfinite(values);
  if (nan_is_fine) wrong = wrong.logical_and(~values.isnan());
  const int64_t count = wrong.sum().item<int64_t>();
  if (count == 0) return true;
  const std::string at = first_index(wrong);
  const bool nan = values.masked_select(wrong)[0].isnan().item<bool>();
  problem(fmt::format("{}[{}] is {}; {} such numbers in all", name, at,
                      nan ? "NaN" : "infinite or beyond single precision", count),
          nan ? "fill it in, or write missing = \"mean\", \"zero\" or \"flag\" in dataset.toml"
              : "scale the column, or remove what cannot be measured");
  return false;
}

// Rows of P_indptr and P_indices; `values` are sorted with them where a row is not in order.
AdjacencyPtr NpzArrays::pattern(const std::string& name, torch::Tensor& values) {
  const torch::Tensor offsets = whole_numbers(name + "_indptr", -1);
  const torch::Tensor indices = whole_numbers(name + "_indices", -1);
  const torch::Tensor widths = whole_numbers(name + "_width", 1);
  for (const auto& [array, part] :
       {std::pair<const torch::Tensor*, const char*>{&offsets, "_indptr"},
        {&indices, "_indices"},
        {&widths, "_width"}}) {
    if (array->defined()) continue;
    if (!has(name + part)) {
      problem(fmt::format("array '{}{}' is missing", name, part),
              fmt::format("sparse features are {0}_indptr, {0}_indices and {0}_width", name));
    }
    return nullptr;
  }
  const int64_t rows = offsets.numel() - 1, nnz = indices.numel(),
                width = widths[0].item<int64_t>();
  const int64_t* offset = offsets.data_ptr<int64_t>();
  bool fits = rows >= 0 && offset[0] == 0 && offset[rows] == nnz && width > 0 && width <= INT32_MAX;
  for (int64_t i = 0; fits && i < rows; ++i) fits = offset[i] <= offset[i + 1];
  if (fits && nnz > 0) {
    fits = indices.min().item<int64_t>() >= 0 && indices.max().item<int64_t>() < width;
  }
  if (!fits) {
    problem(fmt::format("{0}_indptr, {0}_indices and {0}_width = {1} are not a sparse matrix", name,
                        width),
            "indptr counts from 0 up to the number of indices, which lie below the width");
    return nullptr;
  }
  std::vector<int64_t> order(nnz);
  std::iota(order.begin(), order.end(), int64_t{0});
  const int64_t* index = indices.data_ptr<int64_t>();
  for (int64_t i = 0; i < rows; ++i) {
    const auto begin = order.begin() + offset[i], end = order.begin() + offset[i + 1];
    const auto less = [&](int64_t a, int64_t b) { return index[a] < index[b]; };
    if (!std::is_sorted(begin, end, less)) std::sort(begin, end, less);
    if (std::adjacent_find(begin, end,
                           [&](int64_t a, int64_t b) { return index[a] == index[b]; }) != end) {
      problem(fmt::format("row {} of {}_indices holds a column twice", i, name),
              "add such entries up first: matrix.sum_duplicates()");
      return nullptr;
    }
  }
  const torch::Tensor sorted = torch::tensor(order, torch::kInt64);
  if (values.defined()) values = values.index_select(0, sorted);
  Csr in;
  in.rows = rows;
  in.cols = width;
  in.offsets = offsets;
  in.indices = indices.index_select(0, sorted).to(torch::kInt32);
  return with_transpose(std::move(in));
}

Features NpzArrays::features(const std::string& name, const std::string& missing) {
  Features x;
  if (const torch::Tensor dense = find(name, 2); dense.defined()) {
    const torch::Tensor values = dense.to(torch::kFloat32).contiguous();
    if (!check_values(name, values, missing != "error")) return {};
    if (values.size(1) > 0) x.dense = values;
  }
  if (has(name + "_indptr") || has(name + "_indices")) {
    torch::Tensor values = find(name + "_data", 1);
    if (values.defined()) {
      values =
          numbers(name + "_data", has(name + "_indices") ? npz_.at(name + "_indices").numel() : -1);
      if (!values.defined()) return {};
    }
    x.sparse = pattern(name, values);
    if (!x.sparse) return {};
    x.sparse_values = values;
  }
  if (x.sparse && x.dense.defined() && x.sparse->rows() != x.dense.size(0)) {
    problem(fmt::format("'{}' has {} rows, '{}_indptr' has {}", name, x.dense.size(0), name,
                        x.sparse->rows()),
            "dense and sparse columns belong to the same rows");
    return {};
  }
  if (has(name + "_shift") && (x.sparse || x.dense.defined())) {
    x.shift = numbers(name + "_shift", x.width());
    if (!x.shift.defined()) return {};
  }
  return x;
}

}  // namespace grm::own
