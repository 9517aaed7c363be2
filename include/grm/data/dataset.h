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
  /// The processes that hold a graph in parts together; null: whoever asks cannot have one.
  std::shared_ptr<dist::Group> processes = nullptr;
  int64_t row_cache_mib = 64;  // for rows of other processes, of each graph
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
  /// Writes what load() gives as mapped graphs (docs/large.md), piece by piece, where it can be made
  /// so that it need not fit into memory. False: it cannot, and nothing was written.
  virtual bool write_mapped(const std::string& /*folder*/, const std::string& /*origin*/,
                            bool /*force*/) const {
    return false;
  }

  /// What a graph that is no part of the dataset looks like when its publisher, or somebody who
  /// follows the same format, writes it: "a .mat file of a university". Empty: there are none.
  virtual std::string unseen_form() const { return ""; }
  /// Whether the file or folder has that form; looks at names alone.
  virtual bool is_unseen_form(const std::string& /*path*/) const { return false; }
  /// The graphs of such a file or folder, read as load() reads its own, before symmetrise and
  /// centre. `feature_names` are those that load() gave the model: what is not among them is zero,
  /// with a warning that counts it. Labels that are there are kept, others are -1.
  virtual std::vector<Domain> load_unseen(const std::string& path,
                                          const std::vector<std::string>& feature_names) const;
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
  const Dataset& dataset() const { return *dataset_; }

 private:
  explicit DatasetChoice(const DatasetEntry& entry);

  const DatasetEntry* entry_;
  std::unique_ptr<Dataset> dataset_;
  OptionList options_;  // of the dataset, which stays where it is when a choice is moved
};

}  // namespace grm
