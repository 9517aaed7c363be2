#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "grm/core/log.h"
#include "grm/data/dataset.h"
#include "support/expect_error.h"
#include "support/real_data.h"
#include "support/temp_folder.h"

/// Ends the test when the published files are not there.
#define REAL_DATA_OR_SKIP(root)                                       \
  const auto root##_found = grm::test::real_data_root();              \
  if (!root##_found) GTEST_SKIP() << "needs real data: set GRM_DATA"; \
  const std::string root = *root##_found

namespace grm::test {

using Settings = std::vector<std::pair<std::string, std::string>>;

inline Task load_dataset(const std::string& name, const DataContext& context,
                         const Settings& settings = {}) {
  DatasetChoice choice(name);
  for (const auto& [key, value] : settings) choice.options().set("dataset", key, value);
  return choice.load(context);
}

inline Task load_dataset(const std::string& name, const std::string& root,
                         const Settings& settings = {}) {
  DataContext context;
  context.root = root;
  return load_dataset(name, context, settings);
}

/// The message of the Error(data) that `call` throws; "" with a failure when there is none.
template <class Call>
std::string data_error(Call call) {
  return error_of(ErrorKind::data, call);
}

/// Collects the warnings of its lifetime.
class WarningTrap {
 public:
  WarningTrap() {
    set_log_sink([this](LogLevel level, const std::string& text) {
      if (level == LogLevel::warning) warnings.push_back(text);
    });
  }
  ~WarningTrap() { set_log_sink({}); }
  std::vector<std::string> warnings;
};

/// The domain of that name, in any role.
inline const Domain& domain_named(const Task& task, const std::string& name) {
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      if (domain.name == name) return domain;
    }
  }
  throw std::runtime_error("no domain " + name);
}

inline std::vector<int64_t> to_vector(const torch::Tensor& values) {
  const torch::Tensor plain = values.to(torch::kInt64).contiguous();
  return {plain.data_ptr<int64_t>(), plain.data_ptr<int64_t>() + plain.numel()};
}

/// Pairs source -> target in ascending order of target, then source.
inline std::vector<std::pair<int64_t, int64_t>> pairs_of(const Adjacency& edges) {
  const auto [source, target] = edge_list(edges);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t e = 0; e < edges.nnz(); ++e) {
    pairs.emplace_back(source[e].item<int64_t>(), target[e].item<int64_t>());
  }
  return pairs;
}

/// The same pattern in both directions?
inline bool is_symmetric(const Adjacency& edges) {
  return torch::equal(edges.in.offsets, edges.out.offsets) &&
         torch::equal(edges.in.indices, edges.out.indices);
}

}  // namespace grm::test
