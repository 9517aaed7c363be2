#include "cli/settings.h"

#include <algorithm>

#include "core/lists.h"
#include "grm/data/dataset.h"
#include "grm/methods/method.h"
#include "grm/train/config.h"

namespace grm::cli {
namespace {

// "sum | kipf" is a choice of these; other texts, as "0 .. 1", are none.
std::vector<std::string> values_of(const Option& option) {
  if (option.type == "bool") return {"true", "false"};
  std::vector<std::string> words;
  if (option.type != "choice") return words;
  for (size_t at = 0; at < option.allowed.size();) {
    const size_t end = std::min(option.allowed.find(" | ", at), option.allowed.size());
    words.push_back(option.allowed.substr(at, end - at));
    at = end + 3;
  }
  return words;
}

// The same key of another dataset or method adds its values.
void add(std::vector<SettingKey>& keys, const std::string& section, const OptionList& list) {
  for (const Option& option : list.options()) {
    const std::string name = section + "." + option.key;
    auto found = std::find_if(keys.begin(), keys.end(),
                              [&](const SettingKey& key) { return key.name == name; });
    if (found == keys.end()) found = keys.insert(keys.end(), {name, {}});
    for (const std::string& word : values_of(option)) add_once(found->values, word);
  }
}

}  // namespace

std::vector<SettingKey> setting_keys() {
  std::vector<SettingKey> keys;
  TrainOptions train;
  OptionList train_list;
  train.declare(train_list);
  add(keys, "train", train_list);
  for (const DatasetEntry& entry : datasets()) {
    add(keys, "dataset", DatasetChoice(entry.name).options());
  }
  for (const MethodEntry& entry : methods()) {
    const std::unique_ptr<MethodRecipe> recipe = entry.make();
    OptionList list;
    recipe->declare(list);
    add(keys, "method", list);
  }
  std::sort(keys.begin(), keys.end(),
            [](const SettingKey& a, const SettingKey& b) { return a.name < b.name; });
  return keys;
}

}  // namespace grm::cli
