#include "train/recorded_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/toml_library.h"

namespace grm {

std::string ConfigHead::method_text() const {
  return preset.empty() ? method : method + ":" + preset;
}

std::map<std::string, std::string> config_values(const std::string& config) {
  std::map<std::string, std::string> lines;
  std::istringstream in(config);
  std::string line, section;
  while (std::getline(in, line)) {
    const size_t equals = line.find(" = ");
    if (!line.empty() && line[0] == '[') {
      section = line.substr(1, line.find(']') - 1);
    } else if (equals != std::string::npos) {
      lines[section + "." + line.substr(0, equals)] = line.substr(equals + 3);
    }
  }
  return lines;
}

ConfigHead config_head(const std::string& config, const std::string& origin) {
  const toml::table file = read_toml(config, origin, ErrorKind::data);
  ConfigHead head;
  head.dataset = file["dataset"]["name"].value_or(std::string("unknown"));
  head.method = file["method"]["name"].value_or(std::string("unknown"));
  head.preset = file["method"]["preset"].value_or(std::string());
  head.seed = file["seed"].value_or(int64_t{0});
  return head;
}

std::string without_seed_line(const std::string& config) {
  if (config.rfind("seed", 0) != 0) return config;
  const size_t end = config.find_first_not_of('\n', std::min(config.find('\n'), config.size()));
  return end == std::string::npos ? "" : config.substr(end);
}

std::string dataset_part(const std::string& config) {
  const size_t begin = config.find("[dataset]");
  if (begin == std::string::npos) return "";
  return config.substr(begin, config.find("\n[", begin) - begin);
}

std::vector<std::string> dataset_differences(const std::string& config, const std::string& from) {
  const auto here = config_values(dataset_part(config)), there = config_values(dataset_part(from));
  std::vector<std::string> list;
  for (const auto& [key, value] : here) {
    const auto other = there.find(key);
    if (other != there.end() && other->second == value) continue;
    list.push_back(fmt::format("{} = {} instead of {}", key.substr(key.find('.') + 1), value,
                               other == there.end() ? "nothing" : other->second));
  }
  for (const auto& [key, value] : there) {
    if (here.count(key)) continue;
    list.push_back(fmt::format("no {}, which is {}", key.substr(key.find('.') + 1), value));
  }
  return list;
}

}  // namespace grm
