#include "core/lists.h"
#include "study/table.h"

namespace grm::study {
namespace {

bool named(const std::vector<std::string>& filter, const std::string& full,
           const std::string& base) {
  return filter.empty() || contains(filter, full) || contains(filter, base);
}

}  // namespace

std::string without_seed(const std::string& dataset) {
  const size_t slash = dataset.find('/');
  if (slash == std::string::npos || slash + 1 == dataset.size()) return dataset;
  const std::string name = dataset.substr(0, slash);
  const bool path = name.empty() || name == "." || name == "..";
  const bool number = dataset.find_first_not_of("0123456789", slash + 1) == std::string::npos;
  return number && !path ? name : dataset;
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
