#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "data/own/raw_domain.h"
#include "grm/core/error.h"
#include "io/npz_archive.h"

namespace grm::own {

/// Arrays of one .npz file by name, with the checks that all of them need. Faults go to the sink;
/// what cannot be used comes back undefined.
class NpzArrays {
 public:
  NpzArrays(const std::string& path, Problems& problems);

  const std::string& path() const { return archive_.path(); }
  /// Whether there is an array of numbers.
  bool has(const std::string& name);

  /// The array, undefined where there is none. A problem for one that is not of numbers, or that
  /// has not `dimensions` axes.
  torch::Tensor find(const std::string& name, int64_t dimensions);
  /// Whether find would give it; a problem if not.
  bool need(const std::string& name, int64_t dimensions, const std::string& fix);
  /// Whole numbers as int64, [size] (any size: -1).
  torch::Tensor whole_numbers(const std::string& name, int64_t size);
  /// Numbers as float, [size].
  torch::Tensor numbers(const std::string& name, int64_t size);
  /// 0/1 or booleans as bool, [size].
  torch::Tensor mask(const std::string& name, int64_t size);
  /// Labels: whole numbers, -1 for negative ones and NaN. [size]
  torch::Tensor labels(const std::string& name, int64_t size);
  /// Targets [size, tasks] float, NaN: unknown; a single axis is one task. `most` 1: 0, 1 and NaN
  /// are allowed, 0: any number.
  torch::Tensor targets(const std::string& name, int64_t size, double most);
  /// <name>, <name>_indptr, _indices, _data, _width and _shift; `missing` as in dataset.toml: under
  /// "error" a NaN is a problem. Empty features where there are none, or on a problem. Dense
  /// columns that are zeros for the most part come as sparse ones behind those that the file holds
  /// sparse, if they may; `sparse` receives the number of the latter.
  Features features(const std::string& name, const std::string& missing, bool may_pack = false,
                    int64_t* sparse = nullptr);
  /// Names of arrays that nobody asked for.
  std::vector<std::string> unused() const;

  void problem(const std::string& what, const std::string& fix);

 private:
  // What the archive throws becomes a problem.
  template <class Read>
  auto checked(Read&& read) {
    try {
      return read();
    } catch (const Error& error) {
      problems_.stop(path(), error, "save it again with numpy.savez");
    }
  }
  const io::NpzAbout& about(const std::string& name);
  bool fits(const std::string& name, int64_t dimensions);  // a problem if it is there and does not
  bool has_size(const std::string& name, const torch::Tensor& array, int64_t size);
  bool check_values(const std::string& name, const torch::Tensor& values, bool nan_is_fine);
  AdjacencyPtr pattern(const std::string& name, torch::Tensor& values);
  bool pack(const std::string& name, bool nan_is_fine, Features& x);
  Features dense(const std::string& name, bool nan_is_fine, bool may_pack);

  io::NpzArchive archive_;
  Problems& problems_;
  std::map<std::string, io::NpzAbout> about_;
  std::set<std::string> used_;
};

}  // namespace grm::own
