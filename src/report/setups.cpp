// Configurations of runs: what they are called and the commands that repeat them.

#include <algorithm>
#include <map>

#include "core/json.h"
#include "core/text.h"
#include "core/toml_library.h"
#include "grm/core/error.h"
#include "grm/train/config.h"
#include "report/report_parts.h"
#include "train/recorded_config.h"

namespace grm::report {
namespace {

// What stands between the quotes of a TOML string; other values as they are.
std::string bare(const std::string& value) {
  if (value.empty() || value.front() != '"') return value;
  const toml::table table = parse_toml("v = " + value, "a value");
  return table["v"].value_or(std::string());
}

// The settings that lead from the defaults to this configuration; nothing if they do not.
bool settings_for(const std::string& config, const ConfigHead& head, std::string& out) {
  RunConfig plain(head.dataset, head.method, head.preset);
  const std::string wanted = without_seed_line(config);
  const auto defaults = config_values(plain.to_toml(0));
  for (const auto& [key, value] : config_values(wanted)) {
    const auto known = defaults.find(key);
    if (known != defaults.end() && known->second == value) continue;
    plain.set(key, bare(value));
    out += " --set " + shell_word(key + "=" + bare(value));
  }
  return without_seed_line(plain.to_toml(0)) == wanted;
}

std::string command_head(const Setup& setup, const ConfigHead& head) {
  const std::string with_file = "grm train --config config.toml";
  try {
    std::string settings;
    if (!settings_for(setup.rows.front()->config, head, settings)) return with_file;
    return fmt::format("grm train --dataset {} --method {}{}", shell_word(head.dataset),
                       shell_word(head.method_text()), settings);
  } catch (const Error&) {  // an option or a folder that is not there any more
    return with_file;
  }
}

// Results repeat for one number of threads; a run without some files needs leave to do without.
std::string command_tail(const std::string& environment) {
  const auto env = try_json<nlohmann::json>(environment);
  if (!env.is_object()) return "";
  std::string tail;
  if (env.contains("threads") && env["threads"].is_number_integer()) {
    tail += " --threads " + json_text(env["threads"]);
  }
  if (env.contains("missing") && env["missing"].is_array() && !env["missing"].empty()) {
    tail += " --allow-missing";
  }
  if (env.contains("device") && env["device"].is_string()) {
    const std::string device = env["device"];  // "cuda:0, NVIDIA H200"
    if (device.rfind("cuda", 0) == 0) tail += " --device " + device.substr(0, device.find(','));
  }
  return tail;
}

}  // namespace

std::vector<Setup> setups_of(const std::vector<study::ResultRow>& rows) {
  std::vector<Setup> setups;
  for (const study::ResultRow& row : rows) {
    const std::string config = without_seed_line(row.config);
    auto known = std::find_if(setups.begin(), setups.end(), [&](const Setup& s) {
      return s.config == config && s.dataset == row.dataset && s.method == row.method &&
             s.variant == row.variant;
    });
    if (known == setups.end()) {
      known = setups.insert(setups.end(), {row.dataset, row.method, row.variant, config, {}});
    }
    known->rows.push_back(&row);
  }
  return setups;
}

std::vector<std::string> train_commands(const Setup& setup) {
  ensure(!setup.rows.empty(), "train_commands: a setup without runs");
  const ConfigHead head = config_head(setup.rows.front()->config, "configuration");
  const std::string first = command_head(setup, head);
  std::map<std::string, std::vector<int64_t>> seeds;  // by the end of the command
  for (const study::ResultRow* row : setup.rows) {
    seeds[command_tail(row->environment)].push_back(row->seed);
  }
  std::vector<std::string> commands;
  for (auto& [tail, some] : seeds) {
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
    for (size_t begin = 0, end; begin < some.size(); begin = end) {
      for (end = begin + 1; end < some.size() && some[end] == some[end - 1] + 1; ++end) {
      }
      commands.push_back(fmt::format("{} --set train.first_seed={} --seeds {}{}", first,
                                     some[begin], end - begin, tail));
    }
  }
  return commands;
}

}  // namespace grm::report
