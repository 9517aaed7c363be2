#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grm/train/config.h"

namespace grm::study {

/// One option value ("method.lr", "0.1") and where it is written ("quick.toml:12:1").
struct Setting {
  std::string key, value, place;
};

struct DatasetSpec {
  std::string name;   // "cora", or the path of own data
  std::string label;  // what results are filed under: "cora/1"; own data's name, made unique
  std::vector<Setting> set;
  std::string place;
  int64_t seeds = 0;  // fewer than the study's; 0: as many
};

struct MethodSpec {
  std::string text;  // "grm:centred"
  std::string name, preset;
  std::string place;
};

struct VariantSpec {
  std::string name;  // "" in a study without variants
  std::vector<Setting> set;
  std::vector<std::string> methods;  // those that run it, by name or name:preset; empty: all

  bool takes(const MethodSpec& method) const;
};

/// Values for the cells that match; an empty list matches all.
struct WhenSpec {
  std::vector<std::string> datasets, methods, variants;
  std::vector<Setting> set;
};

/// One dimension of a search: a list of values, or an interval.
struct SpaceSpec {
  std::string key, place;
  std::vector<std::string> choices;  // empty: an interval
  double low = 0.0, high = 0.0;
  bool log = false;
  bool whole = false;  // draws whole numbers
};

struct TuneSpec {
  std::string search = "random";  // or "grid"
  int64_t trials = 0;             // for every method alike; trial 0 is the method as it stands
  int64_t seeds = 1;
  int64_t halving = 0;          // one part in this many goes on to the next seed; 0: all trials
  bool draws_together = false;  // draws of a dataset ("cora/0", "cora/1") get the same winner
  int64_t first_seed = 5000;
  double expected_minutes = 0.0;
  std::vector<SpaceSpec> space;                                           // for all methods
  std::vector<std::pair<std::string, std::vector<SpaceSpec>>> by_method;  // name or name:preset
  std::string place;
};

/// A study: datasets x methods x variants x seeds, with option values.
struct StudySpec {
  std::string name, about;
  std::string origin;  // file, or the name of a ready study
  std::string text;    // as written
  int64_t seeds = 1;
  int64_t first_seed = 1000;
  double expected_minutes = 0.0;  // measured; 0: unknown
  std::vector<DatasetSpec> datasets;
  std::vector<MethodSpec> methods;
  std::vector<Setting> set;
  std::vector<VariantSpec> variants;  // at least one
  std::vector<WhenSpec> when;
  std::optional<TuneSpec> tune;
  std::vector<StudySpec> included;
};

/// Reads a specification. Error(config) names file, line and column, and the nearest known word.
StudySpec parse_spec(const std::string& text, const std::string& origin);

/// A file, or a ready study by its name ("quick").
StudySpec load_spec(const std::string& file_or_name);

/// Names of the ready studies that the program carries.
std::vector<std::string> ready_studies();

/// One run that a study asks for.
struct PlannedCell {
  std::string dataset, method, variant;
  int64_t trial = 0;  // of a search; 0 elsewhere
  int64_t seed = 0;
  std::string config;  // RunConfig::to_toml(seed)
};

/// All runs, by dataset, method, variant and seed; those of included studies follow, each once.
std::vector<PlannedCell> expand(const StudySpec& spec);

/// The configuration of one combination, before its seed.
RunConfig configure(const StudySpec& spec, const DatasetSpec& dataset, const MethodSpec& method,
                    const VariantSpec& variant);

/// config.set with the place of the value, the dataset and the method in the message.
void apply_setting(RunConfig& config, const Setting& setting, const MethodSpec& method);

}  // namespace grm::study
