#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "grm/data/dataset.h"
#include "grm/methods/method.h"
#include "grm/train/selection.h"

namespace grm {

/// When test domains are scored.
enum class TestScoring { selected, every, never };
GRM_WORDS(TestScoring, "selected", "every", "never")

/// Whether the weights that count are those of an epoch, or an average over epochs: exponential, or
/// equal.
enum class Average { none, ema, swa };
GRM_WORDS(Average, "none", "ema", "swa")

/// What validation looks at: what the dataset gives, or, where tests are on larger graphs, the
/// largest tenth of the training graphs (of all, or of each class), which then leave training.
enum class ValidateOn { given, largest, largest_of_class };
GRM_WORDS(ValidateOn, "given", "largest-tenth", "largest-tenth-of-class")

/// What a run writes beside metrics.jsonl: the same numbers for spreadsheets, or for TensorBoard.
enum class RunLog { none, csv, tensorboard, both };
GRM_WORDS(RunLog, "none", "csv", "tensorboard", "both")

/// Options of the training loop.
struct TrainOptions {
  int64_t epochs = 200;
  int64_t eval_every = 1;
  int64_t patience = 0;
  StopRule stop = StopRule::no_gain;
  int64_t warm_up = 0;
  int64_t milestone = 0;
  TestScoring test = TestScoring::every;
  Selection selection = Selection::val;
  ValidateOn validate_on = ValidateOn::given;
  Average average = Average::none;
  double average_decay = 0.9;
  int64_t average_start = 0;
  bool calibrate = true;
  std::string class_weights = "none";
  double focal = 0.0;
  int64_t shards = 1;
  int64_t batch = 0;
  std::vector<int64_t> fanout;
  int64_t seeds = 1;
  int64_t first_seed = 1000;
  double checkpoint_seconds = 10.0;
  RunLog log = RunLog::none;
  std::string device = "cpu";
  void declare(OptionList& list);
};

/// Everything that defines a run but its seed: dataset, method and training options. Built from
/// names first, then changed key by key ("method.lr", "0.1"). A value: a copy is its own.
class RunConfig {
 public:
  RunConfig(const std::string& dataset, const std::string& method, const std::string& preset = "");
  RunConfig(const RunConfig& other);
  RunConfig& operator=(const RunConfig& other);

  /// "section.key" with section dataset, method or train. Error(config) with a suggestion.
  void set(const std::string& path, const std::string& value);

  const std::string& dataset_name() const { return dataset.entry().name; }
  const std::string& method_name() const { return method.entry().name; }

  /// The configuration as TOML, without what does not change a run's result (number of seeds,
  /// checkpoint interval). Equal text means equal runs. The device is named where it is not the
  /// CPU, calibration where it is off, options that came later where they are used: runs of
  /// versions that did not know them keep their text.
  std::string to_toml(int64_t seed) const;

  DatasetChoice dataset;
  MethodChoice method;
  TrainOptions train;

 private:
  // Sets what the preset `good` says for the dataset as it is set now, but for what the caller set.
  void follow_dataset();

  OptionList train_options_;      // of `train`
  std::set<std::string> preset_;  // "section.key" of what the preset moves from its default
  std::set<std::string> told_;    // "section.key" of all that set() was given
};

/// Reads a configuration file: [dataset] name, [method] name and preset, and option values.
/// `dataset`, `method`, `preset`, where not empty, replace the file's. Errors name line and column.
RunConfig config_from_toml(const std::string& text, const std::string& origin,
                           const std::string& dataset = "", const std::string& method = "",
                           const std::string& preset = "");

/// The sections of a configuration file as they stand there: section -> key -> value, in the form
/// that OptionList::set takes. For files whose dataset need not be at hand.
using ConfigSections = std::map<std::string, std::map<std::string, std::string>>;
ConfigSections config_sections(const std::string& text, const std::string& origin);

/// The reference page of all options, in Markdown, from the declarations.
std::string options_reference();

}  // namespace grm
