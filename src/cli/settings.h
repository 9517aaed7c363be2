#pragma once

#include <string>
#include <vector>

namespace grm::cli {

/// A key of --set and of TOML files, with the values that are known for it.
struct SettingKey {
  std::string name;                 // "method.lr"
  std::vector<std::string> values;  // empty: numbers or free text
};

/// Those of training, of all datasets and of all methods, each once, in order.
std::vector<SettingKey> setting_keys();

}  // namespace grm::cli
