#include <algorithm>

#include "grm/study/table.h"

namespace grm::study {
namespace {

bool named(const std::vector<std::string>& filter, const std::string& full,
           const std::string& base) {
  return filter.empty() || std::find(filter.begin(), filter.end(), full) != filter.end() ||
         std::find(filter.begin(), filter.end(), base) != filter.end();
}

}  // namespace

std::string without_seed(const std::string& dataset) {
  return dataset.substr(0, dataset.find('/'));
}

std::string without_preset(const std::string& method) {
  return method.substr(0, method.find_first_of(": "));
}

bool selected(const TableOptions& options, const std::string& dataset, const std::string& method,
              const std::string& variant) {
  return named(options.datasets, dataset, without_seed(dataset)) &&
         named(options.methods, method, without_preset(method)) &&
         named(options.blocks, variant, variant);
}

}  // namespace grm::study
