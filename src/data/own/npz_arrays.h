#pragma once

#include <string>
#include <vector>

#include "grm/io/npz.h"
#include "raw_domain.h"

namespace grm::own {

/// Arrays of one .npz file by name, with the checks that all of them need. Faults go to the sink;
/// what cannot be used comes back undefined.
class NpzArrays {
 public:
  NpzArrays(const std::string& path, Problems& problems);

  const std::string& path() const { return npz_.path; }
  bool has(const std::string& name) const { return npz_.has(name); }

  /// The array, undefined where there is none. A problem for one that is not of numbers, or that
  /// has not `dimensions` axes.
  torch::Tensor find(const std::string& name, int64_t dimensions);
  /// The same; a problem if there is none.
  torch::Tensor need(const std::string& name, int64_t dimensions, const std::string& fix);
  /// Whole numbers as int64, [size] (any size: -1).
  torch::Tensor whole_numbers(const std::string& name, int64_t size);
  /// Numbers as float, [size].
  torch::Tensor numbers(const std::string& name, int64_t size);
  /// 0/1 or booleans as bool, [size].
  torch::Tensor mask(const std::string& name, int64_t size);
  /// Labels: whole numbers, -1 for negative ones and NaN. [size]
  torch::Tensor labels(const std::string& name, int64_t size);
  /// <name>, <name>_indptr, _indices, _data, _width and _shift; `missing` as in dataset.toml: under
  /// "error" a NaN is a problem. Empty features where there are none, or on a problem.
  Features features(const std::string& name, const std::string& missing);

  void problem(const std::string& what, const std::string& fix);

 private:
  bool has_size(const std::string& name, const torch::Tensor& array, int64_t size);
  bool check_values(const std::string& name, const torch::Tensor& values, bool nan_is_fine);
  AdjacencyPtr pattern(const std::string& name, torch::Tensor& values);

  io::Npz npz_;
  Problems& problems_;
};

}  // namespace grm::own
