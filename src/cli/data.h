#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "grm/data/own_data.h"

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

/// Prints every problem of own data; 0 if there is none, else the exit code. `warnings` receives
/// what is no problem and may still be wrong.
int report_problems(const DataFlags& flags, const Common& common, std::vector<Problem>& warnings);
ordered_json problems_json(const std::vector<Problem>& problems);
/// One line for each, with `before` in front, and one for its fix.
void print_problems(const std::vector<Problem>& problems, const std::string& before);

/// Verbs below `grm data`.
void add_data_init(CLI::App& data, Common& common, Action& action);
void add_data_shift(CLI::App& data, Common& common, Action& action);
void add_data_convert(CLI::App& data, Common& common, Action& action);
void add_data_parts(CLI::App& data, Common& common, Action& action);

}  // namespace grm::cli
