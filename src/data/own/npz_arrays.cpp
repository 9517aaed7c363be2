#include "data/own/npz_arrays.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "grm/core/options.h"

namespace grm::own {
namespace {

io::NpzArchive open(const std::string& path, Problems& problems) {
  try {
    return io::NpzArchive(path);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::config) throw;  // built without libzip: no fault of the file
    problems.stop(path, error, "save it again with numpy.savez");
  }
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
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
    : archive_(open(path, problems)), problems_(problems) {}

void NpzArrays::problem(const std::string& what, const std::string& fix) {
  problems_.add({path(), 0, 0, what, fix});
}

const io::NpzAbout& NpzArrays::about(const std::string& name) {
  const auto known = about_.find(name);
  if (known != about_.end()) return known->second;
  return about_[name] = checked([&] { return archive_.about(name); });
}

bool NpzArrays::has(const std::string& name) {
  return archive_.has(name) && about(name).numeric;
}

bool NpzArrays::fits(const std::string& name, int64_t dimensions) {
  used_.insert(name);
  if (!archive_.has(name)) return false;
  const io::NpzAbout& array = about(name);
  if (!array.numeric) {
    problem(fmt::format("array '{}' has dtype {}, numbers are needed", name, array.dtype),
            name == "y" ? "write class numbers 0, 1, ...; their names go to 'labels' in "
                          "dataset.toml"
                        : "save it with a numeric dtype");
    return false;
  }
  const auto axes = static_cast<int64_t>(array.shape.size());
  if (axes == dimensions) return true;
  std::string fix = fmt::format("save it with {} axes", dimensions);
  if (dimensions == 2 && axes == 1) fix = "save array.reshape(-1, 1)";
  if (dimensions == 1 && axes == 2) fix = "save array.reshape(-1)";
  if (name == "y" && axes == 2 && array.shape[1] != 1) {
    problem(
        fmt::format("array 'y' has the shape {}: several labels for one item",
                    shape_text(array.shape)),
        "write target = \"multi-label\" or \"regression\" in dataset.toml; where each row holds "
        "a single 1, save y.argmax(axis=1)");
    return false;
  }
  problem(fmt::format("array '{}' has the shape {}, {} is needed", name, shape_text(array.shape),
                      dimensions == 1 ? "one axis" : "a table with two axes"),
          fix);
  return false;
}

torch::Tensor NpzArrays::find(const std::string& name, int64_t dimensions) {
  if (!fits(name, dimensions)) return {};
  return checked([&] { return archive_.read(name); });
}

bool NpzArrays::need(const std::string& name, int64_t dimensions, const std::string& fix) {
  if (archive_.has(name)) return fits(name, dimensions);
  problem(
      fmt::format(
          "there is no array '{}'{}; there are: {}", name, did_you_mean(name, archive_.names()),
          archive_.names().empty() ? "none" : fmt::format("{}", fmt::join(archive_.names(), ", "))),
      fix);
  return false;
}

std::vector<std::string> NpzArrays::unused() const {
  std::vector<std::string> names;
  for (const std::string& name : archive_.names()) {
    if (used_.count(name) == 0) names.push_back(name);
  }
  return names;
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
      problem(fmt::format("{}[{}] is {}, which is not a class number", name, at,
                          known[at].item<double>()),
              "classes are counted 0, 1, 2, ...; cut a number to be predicted into classes");
      return {};
    }
    array = torch::nan_to_num(known, -1.0);
  }
  return array.to(torch::kInt64).clamp_min(-1).contiguous();
}

torch::Tensor NpzArrays::targets(const std::string& name, int64_t size, double most) {
  const bool flat = archive_.has(name) && about(name).shape.size() == 1;
  if (!need(name, flat ? 1 : 2, "save the targets as y [items] or [items, tasks]")) return {};
  torch::Tensor y = find(name, flat ? 1 : 2).to(torch::kFloat32);
  if (flat) y = y.unsqueeze(1);
  if (y.size(0) != size || y.size(1) == 0) {
    problem(fmt::format("array '{}' has {} rows and {} columns, {} rows are needed", name,
                        y.size(0), y.size(1), size),
            "every node or graph needs one row");
    return {};
  }
  if (!check_values(name, y, true)) return {};
  const torch::Tensor wrong = y.ne(0).logical_and(y.ne(1)).logical_and(~y.isnan());
  if (most > 0.0 && wrong.any().item<bool>()) {
    problem(fmt::format("{}[{}] is neither 0 nor 1", name, first_index(wrong)),
            "a multi-label target is 0, 1 or NaN (not known)");
    return {};
  }
  return y.contiguous();
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

}  // namespace grm::own
