#include "report/run_names.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/text.h"
#include "grm/core/error.h"
#include "study/dataset_names.h"
#include "train/recorded_config.h"

namespace grm::report {
namespace {

using Values = std::map<std::string, std::string>;  // "section.key" -> value, as written

constexpr size_t kMostDifferences = 3;  // more of them are a number instead of a name

// Options that every dataset has: how its graphs are treated, not which they are.
const std::set<std::string> kTreatments = {"dataset.centre", "dataset.symmetrise"};
const std::set<std::string> kPlain = {"\"none\"", "none", "false"};  // as if nothing was done

struct Parts {
  Values data, treatment, rest;
};

Parts parts_of(const std::string& config) {
  Parts parts;
  for (const auto& [key, value] : config_values(config)) {
    if (key == "dataset.name" || key == ".seed") continue;
    Values& values = kTreatments.count(key)          ? parts.treatment
                     : key.rfind("dataset.", 0) == 0 ? parts.data
                                                     : parts.rest;
    values[key] = value;
  }
  return parts;
}

// Place of `value` among those of its kind, from 0, in the order of appearance.
size_t number_of(std::vector<Values>& known, const Values& values) {
  const auto at = std::find(known.begin(), known.end(), values);
  const size_t number = static_cast<size_t>(at - known.begin());
  if (at == known.end()) known.push_back(values);
  return number;
}

std::string setting_text(const std::string& key, const std::string& value) {
  const bool quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
  return key.substr(key.find('.') + 1) + "=" + (quoted ? value.substr(1, value.size() - 2) : value);
}

// "lr=0.1": what configuration `number` has that the first of its kind has not; its number if that
// is much.
std::string difference_text(const std::vector<Values>& known, size_t number) {
  if (number == 0) return "";
  std::vector<std::string> words;
  for (const auto& [key, value] : known[number]) {
    const auto first = known[0].find(key);
    if (first == known[0].end() || first->second != value)
      words.push_back(setting_text(key, value));
  }
  // Versions of the program with fewer options are told apart by number alone.
  const bool same_keys = known[number].size() == known[0].size();
  if (!same_keys || words.empty() || words.size() > kMostDifferences)
    return fmt::format("#{}", number + 1);
  return joined(words);
}

}  // namespace

std::vector<RunName> name_runs(const std::vector<std::string>& configs,
                               const std::vector<std::string>& origins) {
  std::vector<ConfigHead> heads;
  std::vector<std::string> datasets;
  for (size_t k = 0; k < configs.size(); ++k) {
    heads.push_back(config_head(configs[k], origins[k]));
    datasets.push_back(heads.back().dataset);
  }
  const std::vector<std::string> labels = study::dataset_labels(datasets);
  std::map<std::string, std::vector<Values>> data;                             // by label
  std::map<std::pair<std::string, std::string>, std::vector<Values>> methods;  // by dataset, method
  std::map<std::string, std::map<std::string, std::set<std::string>>> treatments;  // by dataset
  std::vector<RunName> names;
  std::vector<Parts> parts;
  for (size_t k = 0; k < configs.size(); ++k) {
    parts.push_back(parts_of(configs[k]));
    const size_t number = number_of(data[labels[k]], parts[k].data);
    RunName name;
    name.dataset = number == 0 ? labels[k] : fmt::format("{} #{}", labels[k], number + 1);
    name.method = heads[k].method_text();
    std::vector<Values>& known = methods[{name.dataset, name.method}];
    name.variant = difference_text(known, number_of(known, parts[k].rest));
    for (const auto& [key, value] : parts[k].treatment) {
      treatments[name.dataset][key].insert(value);
    }
    names.push_back(std::move(name));
  }
  // A treatment that all runs on a dataset share tells nothing apart.
  for (size_t k = 0; k < names.size(); ++k) {
    std::string text;
    for (const auto& [key, value] : parts[k].treatment) {
      if (treatments[names[k].dataset][key].size() < 2 || kPlain.count(value)) continue;
      text += (text.empty() ? "" : ", ") + setting_text(key, value);
    }
    const std::string& rest = names[k].variant;
    names[k].variant = text + (text.empty() || rest.empty() ? "" : ", ") + rest;
  }
  return names;
}

}  // namespace grm::report
