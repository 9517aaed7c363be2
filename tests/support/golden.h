#pragma once

#include <string>

#include "io/npz.h"

namespace grm::test {

/// Expected values made by other programs: an archive of tests/fixtures.
///
///     const Golden golden("layers.npz");
///     check(golden.at("gcn_kipf__out"));
class Golden {
 public:
  explicit Golden(const std::string& file, const std::string& source_folder = GRM_SOURCE_DIR)
      : npz_(io::read_npz(source_folder + "/tests/fixtures/" + file)) {}

  const torch::Tensor& at(const std::string& name) const { return npz_.at(name); }
  bool has(const std::string& name) const { return npz_.has(name); }
  const std::map<std::string, torch::Tensor>& arrays() const { return npz_.arrays; }

 private:
  io::Npz npz_;
};

}  // namespace grm::test
