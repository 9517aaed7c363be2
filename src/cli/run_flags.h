#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "grm/train/config.h"

namespace grm::cli {

/// What names a run on the command line: shared by the verbs that train.
struct RunFlags {
  std::string dataset, method, preset, config;
  std::vector<std::string> settings;
};

/// --dataset, --method, --preset, --config and --set.
void add_run_flags(CLI::App& verb, RunFlags& flags, bool several_methods = false);

/// `method_spec` is "grm" or "grm:centred"; settings and --device go over what the file says.
RunConfig make_config(const RunFlags& flags, const std::string& method_spec,
                      const std::string& device);

/// --memory-limit: the most that the process may use, in place of what is free.
void add_memory_limit(CLI::App& verb);

}  // namespace grm::cli
