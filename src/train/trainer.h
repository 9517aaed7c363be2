#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grm/train/config.h"
#include "grm/train/selection.h"
#include "train/calibration.h"
#include "train/evaluate.h"
#include "train/run_folder.h"

namespace grm {

/// What one selection rule chose in a run.
struct Chosen {
  int64_t epoch = 0;
  double validation = 0.0;
  std::vector<DomainScore> test;
  double validation_loss = kNoLoss;  // older records lack it
  bool smaller_is_better = false;    // the scores are errors
};

/// The result of one run, as kept in summary.json.
struct RunRecord {
  std::string folder;
  int64_t seed = 0;
  std::map<std::string, Chosen> chosen;   // by rule; all three under test = every
  std::vector<DomainScore> constant;      // see constant_scores; on the test domains
  std::vector<DomainScore> constant_own;  // see own_constant_scores; older records lack it
  int64_t epochs = 0;
  double seconds_per_epoch = 0.0;  // training only
  double evaluate_seconds = 0.0;   // one evaluation of all validation and test domains
  int64_t parameters = 0;
  double peak_memory_mib = 0.0;
  bool stopped_early = false;
  std::optional<Calibration> calibration;  // of the model that was kept; none if not asked for
};

/// What a watcher of a run is told after every epoch.
struct EpochReport {
  int64_t epoch = 0, epochs = 0;
  std::vector<LossTerm> terms;
  bool evaluated = false;
  double validation = 0.0;  // the latest
  double best_validation = 0.0;
};

struct RunHooks {
  std::function<void(const EpochReport&)> on_epoch;
  std::function<bool()> interrupted;  // true: write a checkpoint and stop
  std::function<bool()> enough;       // true: end here, or at the next evaluation if none was yet
  bool strict = false;  // refuse to resume with other threads, BLAS, CPU, device or program
  /// The processes that train the run together; null: this one alone. All call train_run with the
  /// same arguments, rank 0 writes the folder.
  std::shared_ptr<dist::Group> group;
};

/// Thrown when hooks.interrupted answered true; the checkpoint is written.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Trains one seed in `folder`, from its checkpoint if there is one, and writes all of the
/// folder's files. A finished folder is read back, not trained again. Error(data) if it was made
/// with other data; Error(config) under hooks.strict if with another arithmetic.
RunRecord train_run(const RunConfig& config, const Task& task, int64_t seed,
                    const RunFolder& folder, const RunHooks& hooks = {});

/// summary.json as text, and back. Error(data) names `origin`.
std::string to_json_text(const RunRecord& record);
RunRecord record_from_json(const std::string& text, const std::string& origin);

/// A trained model read back from a run folder or model file.
struct LoadedModel {
  std::optional<RunConfig> config;
  Task task;
  std::unique_ptr<Method> method;
  int64_t epoch = 0;
  int64_t seed = 0;
  double temperature = 1.0;
  std::vector<DataChange> changes;  // of the data since the model was trained
};
LoadedModel load_model(const std::string& path, const DataContext& context);

}  // namespace grm
