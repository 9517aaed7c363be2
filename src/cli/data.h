#pragma once

#include <string>
#include <vector>

#include "cli.h"

namespace grm::cli {

/// What names a dataset on the command line.
struct DataFlags {
  std::string name;
  std::vector<std::string> settings;
};

/// The name and --set.
void add_data_flags(CLI::App& verb, DataFlags& flags);
/// "dataset.key=value" or "key=value"; Error(config) for anything else.
void apply_settings(DatasetChoice& choice, const std::vector<std::string>& settings);
Task load_task(const DataFlags& flags, const Common& common);

/// Prints every problem of own data; 0 if there is none, else the exit code.
int report_problems(const DataFlags& flags, const Common& common);

/// Verbs below `grm data`.
void add_data_init(CLI::App& data, Common& common, Action& action);
void add_data_shift(CLI::App& data, Common& common, Action& action);
void add_data_convert(CLI::App& data, Common& common, Action& action);

}  // namespace grm::cli
