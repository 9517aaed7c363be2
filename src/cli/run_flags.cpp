#include "cli/run_flags.h"

#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "cli/settings.h"
#include "core/files.h"
#include "grm/core/context.h"
#include "grm/core/error.h"
#include "train/memory.h"

namespace grm::cli {
namespace {

// An empty variable of a script is no choice of the default.
CLI::Validator filled() {
  return CLI::Validator(
      [](std::string& text) { return text.empty() ? std::string("the value is empty") : ""; }, "");
}

[[noreturn]] void refuse_bare_key(const std::string& setting, const std::string& key) {
  for (const SettingKey& known : setting_keys()) {
    if (known.name.substr(known.name.find('.') + 1) == key) {
      fail(ErrorKind::config, "--set {}: the section is missing, did you mean '{}'?", setting,
           known.name + setting.substr(key.size()));
    }
  }
  fail(ErrorKind::config, "--set {}: write section.key=value, as in method.lr=0.01", setting);
}

}  // namespace

void add_run_flags(CLI::App& verb, RunFlags& flags, bool several_methods) {
  verb.add_option("--dataset", flags.dataset,
                  "name, see 'grm data list', or a folder of own data (default: sbm)")
      ->check(filled());
  verb.add_option("--method", flags.method,
                  several_methods ? "name or name:preset, several with commas (default: grm)"
                                  : "name or name:preset (default: grm)")
      ->check(filled());
  verb.add_option("--preset", flags.preset, "named set of option values, see 'grm methods'")
      ->check(filled());
  verb.add_option("--config", flags.config, "TOML file with [dataset], [method] and [train]")
      ->check(filled());
  verb.add_option("--set", flags.settings, "section.key=value, as in method.lr=0.01; repeatable")
      ->allow_extra_args(false);
}

RunConfig make_config(const RunFlags& flags, const std::string& method_spec,
                      const std::string& device) {
  const size_t colon = method_spec.find(':');
  const std::string method = method_spec.substr(0, colon);
  const std::string preset =
      colon == std::string::npos ? flags.preset : method_spec.substr(colon + 1);
  RunConfig config = flags.config.empty() ? RunConfig(flags.dataset.empty() ? "sbm" : flags.dataset,
                                                      method.empty() ? "grm" : method, preset)
                                          : config_from_toml(read_file(flags.config), flags.config,
                                                             flags.dataset, method, preset);
  for (const std::string& setting : flags.settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      fail(ErrorKind::config, "--set {}: write section.key=value, as in method.lr=0.01", setting);
    }
    if (const std::string key = setting.substr(0, equals); key.find('.') == std::string::npos) {
      refuse_bare_key(setting, key);
    }
    config.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  if (!device.empty()) config.set("train.device", device);
  return config;
}

void add_memory_limit(CLI::App& verb) {
  verb.add_option_function<double>(
          "--memory-limit", [](const double& mib) { context().memory_limit = mib * 1024 * 1024; },
          "MiB that the run may use, on the GPU if it computes there (default: what is free)")
      ->check(number_above(0, 1e12));
}

}  // namespace grm::cli
