#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace grm {

/// What the configuration of a run says of itself; nothing of it need be at hand any more.
struct ConfigHead {
  std::string dataset;  // a name, or the path of own data
  std::string method, preset;
  int64_t seed = 0;

  std::string method_text() const;  // "grm:paper"
};
/// Error(data) names `origin`.
ConfigHead config_head(const std::string& config, const std::string& origin);

/// "section.key" -> value, as written, of a configuration's lines; the seed is ".seed".
std::map<std::string, std::string> config_values(const std::string& config);

/// The configuration without the line of its seed, which is the first one.
std::string without_seed_line(const std::string& config);

/// The text of a configuration's [dataset]: equal for runs on equal data.
std::string dataset_part(const std::string& config);

/// How the [dataset] of one configuration differs from that of another: "nodes = 120 instead of
/// 1500", one for each option.
std::vector<std::string> dataset_differences(const std::string& config, const std::string& from);

}  // namespace grm
