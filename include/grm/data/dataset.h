#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grm/core/options.h"
#include "grm/data/task.h"

namespace grm {

/// What is subtracted from the features: nothing, or each domain's own mean.
enum class Centring { none, domain };
GRM_WORDS(Centring, "none", "domain")

/// Where files are looked for, and what to do about missing ones.
struct DataContext {
  std::string root;            // --data-root or $GRM_DATA; may be empty
  bool allow_missing = false;  // run the test domains whose files exist, name the others
  std::string cache;           // folder for parsed data; empty: no cache
};

/// One dataset: its options, the files it reads and how they become a Task.
class Dataset {
 public:
  virtual ~Dataset() = default;
  // Options of all datasets.
  bool symmetrise = false;
  Centring centre = Centring::none;
  /// Declares the dataset's own options; `symmetrise` and `centre` are declared for all.
  virtual void declare(OptionList& /*list*/) {}
  /// Files needed, relative to the data root; they may depend on the options. Empty for generated
  /// data.
  virtual std::vector<std::string> files() const { return {}; }
  virtual Task load(const DataContext& context) const = 0;
};

struct DatasetEntry {
  std::string name;
  std::string summary;
  std::string published_at;  // where the files come from; empty for generated data
  std::function<std::unique_ptr<Dataset>()> make;
  Level level = Level::node;
  std::string label = {};  // own data: the short name, where `name` is a path

  const std::string& short_name() const { return label.empty() ? name : label; }
};

/// The one table of datasets.
const std::vector<DatasetEntry>& datasets();
const DatasetEntry& find_dataset(const std::string& name);  // Error(config) with a suggestion

/// A dataset chosen by name with its options, ready to be set and loaded. A value: a copy has
/// options of its own.
class DatasetChoice {
 public:
  explicit DatasetChoice(const std::string& name) : DatasetChoice(find_dataset(name)) {}
  DatasetChoice(const DatasetChoice& other);
  DatasetChoice(DatasetChoice&&) = default;
  DatasetChoice& operator=(const DatasetChoice& other) { return *this = DatasetChoice(other); }
  DatasetChoice& operator=(DatasetChoice&&) = default;
  const DatasetEntry& entry() const { return *entry_; }
  OptionList& options() { return options_; }
  const OptionList& options() const { return options_; }
  std::vector<std::string> files() const { return dataset_->files(); }
  /// Loads, symmetrises, centres and checks.
  Task load(const DataContext& context) const;

 private:
  explicit DatasetChoice(const DatasetEntry& entry);

  const DatasetEntry* entry_;
  std::unique_ptr<Dataset> dataset_;
  OptionList options_;  // of the dataset, which stays where it is when a choice is moved
};

}  // namespace grm
