#include "methods/good_settings.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "core/toml_leaves.h"
#include "grm/core/error.h"
#include "methods/presets.h"

namespace grm {

const char* const kGoodPreset = "good";

namespace {

const std::string kNetworks = "networks", kTrainSection = "train.";
constexpr std::array<const char*, 3> kShifts = {"covariate", "concept", "none"};

// The value for a shift: a list has one for each of them.
std::string value_for(const std::string& text, const std::string& shift) {
  if (text.empty() || text.front() != '[') return text;
  const auto at = std::find(kShifts.begin(), kShifts.end(), shift);
  ensure(at != kShifts.end(), "good.toml: there are three shifts");
  std::istringstream parts(text.substr(1, text.size() - 2));
  std::string part;
  for (auto k = kShifts.begin(); k <= at; ++k) std::getline(parts >> std::ws, part, ',');
  return part;
}

// The key of a leaf where it is about the dataset and the domain; else nothing.
std::string key_for(const std::vector<std::string>& path, const std::string& dataset,
                    const std::string& domain) {
  size_t first = 1;
  if (path.size() > 2) {
    if (path[1] != dataset) return "";
    first = 2;
    if (path[0] != kNetworks && path.size() > 3) {
      if (!domain.empty() && path[2] != domain) return "";
      first = 3;
    }
  }
  std::string key = path[first];
  for (size_t k = first + 1; k < path.size(); ++k) key += "." + path[k];
  return key;
}

}  // namespace

PresetValues good_values(const std::string& method, const std::string& dataset,
                         const std::string& domain, const std::string& shift,
                         const OptionList& options) {
  static const std::vector<TomlLeaf> leaves = method_file_leaves("good.toml");
  const bool known = std::any_of(leaves.begin(), leaves.end(), [&](const TomlLeaf& leaf) {
    return leaf.path[0] == kNetworks && leaf.path[1] == dataset;
  });
  PresetValues values;
  if (!known) return values;
  for (const TomlLeaf& leaf : leaves) {
    if (leaf.path[0] != kNetworks && leaf.path[0] != method) continue;
    const std::string key = key_for(leaf.path, dataset, domain);
    const bool of_train = key.compare(0, kTrainSection.size(), kTrainSection) == 0;
    if (!key.empty() && (of_train || options.has(key))) {
      values.emplace_back(key, value_for(leaf.text, shift));
    }
  }
  return values;
}

}  // namespace grm
