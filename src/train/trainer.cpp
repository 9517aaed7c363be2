#include "train/trainer.h"

#include <torch/types.h>

#include <cmath>

#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "dist/group.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/graph/device.h"
#include "grm/train/model_file.h"
#include "train/average.h"
#include "train/checkpoint.h"
#include "train/class_weights.h"
#include "train/constant.h"
#include "train/divergence.h"
#include "train/memory.h"
#include "train/run_files.h"
#include "train/run_logs.h"
#include "train/same_run.h"
#include "train/sampling.h"
#include "train/validation_set.h"

namespace grm {
namespace {

using nlohmann::ordered_json;

class Run {
 public:
  Run(const RunConfig& config, const Task& task, int64_t seed, const RunFolder& folder,
      const RunHooks& hooks)
      : config_(config),
        task_(task),
        seed_(seed),
        folder_(folder),
        hooks_(hooks),
        group_(dist::group_or_alone(hooks.group)),
        method_(config.method.build(view(), Rng(static_cast<uint64_t>(seed)))) {
    if (config.train.selection == Selection::oracle && config.train.test != TestScoring::every) {
      fail(ErrorKind::config, "train.selection = oracle needs train.test = every");
    }
  }

  RunRecord operator()() {
    const bool resumes = folder_.has("state.safetensors");
    if (resumes) {
      state_ = read_checkpoint(folder_.file("state.safetensors"), *method_);
      log_info("resuming after epoch {}", state_.epoch);
    }
    check_same_setting(group_, task_, resumes);
    if (resumes) {
      begin_leg();
    } else if (group_.first()) {
      write_file_atomic(folder_.file("env.json"), environment_json(task_));
    }
    if (group_.first()) {
      metrics_.emplace(folder_.file("metrics.jsonl"), state_.metrics_bytes);
      logs_.emplace(config_.train.log, task_, folder_.path(),
                    read_file(folder_.file("metrics.jsonl")));
    }
    Stopwatch since_checkpoint;
    double last_checkpoint = 0.0;
    while (state_.epoch < config_.train.epochs && !state_.stopped_early) {
      one_epoch();
      const Agreed agreed =
          agree_after_epoch(group_, method_->parameters(), state_.epoch,
                            {hooks_.interrupted && hooks_.interrupted(),
                             hooks_.enough && hooks_.enough() && !state_.history.empty()});
      if (agreed.enough) state_.stopped_early = true;
      const double now = since_checkpoint.seconds();
      if (agreed.stop || now - last_checkpoint >= config_.train.checkpoint_seconds) {
        write_state();
        last_checkpoint = now;
      }
      if (agreed.stop) throw Interrupted(folder_.path());
    }
    return finish();
  }

 private:
  TrainView view() const {
    TrainView view = task_.train_view();
    view.loss = train_loss(config_.train, task_);
    view.sampling = sampling_of(config_);
    view.validate = [this](const Predictor& predict) {
      const double mean = mean_score(evaluate(predict, task_, Role::validation, hooks_.group));
      return smaller_is_better(task_.metric) ? -mean : mean;
    };
    view.sharding = {config_.train.shards, hooks_.group};
    return view;
  }

  // The same bits are promised for the same arithmetic: a run that resumes with another says so.
  void begin_leg() const {
    const std::string path = folder_.file("env.json");
    const std::string environment = read_file(path);
    std::string list;
    for (const std::string& each : other_arithmetic(environment, state_.epoch + 1, path)) {
      list += (list.empty() ? "" : "; ") + each;
    }
    if (!list.empty() && hooks_.strict) {
      fail(
          ErrorKind::config,
          "{}: the run began with another arithmetic ({}), so it would not end with the bits of an "
          "undisturbed run; resume it as it began, or without --strict",
          folder_.path(), list);
    }
    if (!list.empty()) {
      log_warning(
          "{}: the run resumes with another arithmetic ({}); it will not end with the bits of an "
          "undisturbed run. env.json names each leg, --strict refuses",
          folder_.path(), list);
    }
    // All have read it before rank 0 writes.
    group_.gather(torch::zeros({1}));
    if (group_.first()) write_file_atomic(path, with_leg(environment, state_.epoch + 1, path));
  }

  void write_state() {
    if (!group_.first()) return;
    if (metrics_) metrics_->flush();
    write_checkpoint(folder_.file("state.safetensors"), *method_, state_);
  }

  void one_epoch() {
    const int64_t epoch = state_.epoch + 1;
    const int64_t milestone = config_.train.milestone;
    for (nn::Adam* optimiser : method_->optimisers()) {
      optimiser->scale_lr(milestone > 0 && epoch > milestone ? 0.1 : 1.0);
    }
    Stopwatch training;
    const std::vector<LossTerm> terms = method_->train_epoch(epoch);
    synchronise(compute_device());
    const double seconds = training.seconds();
    state_.train_seconds += seconds;
    for (const LossTerm& term : terms) {
      if (!std::isfinite(term.value)) {
        fail(ErrorKind::config, "epoch {}: the loss term '{}' is {}; {}", epoch, term.name,
             term.value, divergence_advice(task_, option_text("lr")));
      }
    }
    average_weights(config_.train, epoch, method_->parameters(), state_);
    ordered_json line = {{"epoch", epoch}, {"seconds", seconds}};
    for (const LossTerm& term : terms) line["loss"][term.name] = term.value;
    const bool evaluated = epoch % config_.train.eval_every == 0 || epoch == config_.train.epochs;
    if (evaluated) evaluate_now(epoch, line);
    state_.epoch = epoch;
    if (group_.first()) {
      metrics_->add(json_text(line));
      logs_->add(json_text(line));
      state_.metrics_bytes = metrics_->bytes();
    }
    if (hooks_.on_epoch) report(epoch, terms, evaluated);
  }

  void evaluate_now(int64_t epoch, ordered_json& line) {
    Stopwatch evaluating;
    const AveragedWeights averaged(*method_, state_);
    method_->prepare_evaluation(epoch);
    Evaluation e;
    e.epoch = epoch;
    const std::vector<GroupLogits> validation =
        group_logits(*method_, task_, Role::validation, hooks_.group);
    e.validation = mean_score(scores_of(task_.metric, validation));
    e.validation_loss = mean_loss(task_.loss, validation);
    line["validation"] = e.validation;
    line["validation_loss"] = e.validation_loss;
    if (config_.train.test == TestScoring::every) {
      for (const DomainScore& s : evaluate(*method_, task_, Role::test, hooks_.group)) {
        e.test.push_back(s.value);
        line["test_for_analysis"][s.domain] = s.value;
      }
    }
    state_.evaluate_seconds += evaluating.seconds();
    state_.history.push_back(std::move(e));
    // Keep the parameters of the epoch that the rule would choose if training ended here.
    if (choose(config_.train.selection, state_.history, errors()) + 1 == state_.history.size()) {
      state_.best = method_->parameters().snapshot();
      state_.best_epoch = epoch;
    }
    state_.stopped_early = stops_early(config_.train.stop, config_.train.patience,
                                       config_.train.warm_up, state_.history, errors());
  }

  void report(int64_t epoch, const std::vector<LossTerm>& terms, bool evaluated) {
    EpochReport r{epoch, config_.train.epochs, terms, evaluated, 0.0, 0.0};
    if (!state_.history.empty()) {
      r.validation = state_.history.back().validation;
      r.best_validation =
          state_.history[choose(Selection::val, state_.history, errors())].validation;
    }
    hooks_.on_epoch(r);
  }

  RunRecord finish() {
    write_state();
    RunRecord record;
    record_choices(record);
    const double temperature = record.calibration ? record.calibration->temperature : 1.0;
    if (group_.first()) {
      write_model(folder_.file("model.safetensors"), *method_, config_, task_, seed_,
                  state_.best_epoch, temperature);
    }
    record.folder = folder_.path();
    record.seed = seed_;
    record.epochs = state_.epoch;
    record.seconds_per_epoch = state_.train_seconds / static_cast<double>(state_.epoch);
    record.evaluate_seconds = state_.evaluate_seconds / static_cast<double>(state_.history.size());
    record.parameters = method_->parameters().count();
    record.peak_memory_mib = compute_device().is_cuda() ? device_peak_mib() : peak_memory_mib();
    record.stopped_early = state_.stopped_early;
    if (group_.first()) write_file_atomic(folder_.file("summary.json"), to_json_text(record));
    return record;
  }

  // Restores the chosen model and records what the rules chose. Test domains are scored here, after
  // the choice and for the chosen model alone, unless every evaluation did it for analysis.
  void record_choices(RunRecord& record) {
    method_->parameters().restore(state_.best);
    std::vector<GroupLogits> logits;
    std::vector<DomainScore> test;
    if (config_.train.test != TestScoring::never) {
      logits = group_logits(*method_, task_, Role::test, hooks_.group);
      test = scores_of(task_.metric, logits);
      record.constant = constant_scores(task_, Role::test);
      record.constant_own = own_constant_scores(task_, Role::test);
    }
    if (config_.train.calibrate && target_of(task_.loss) == Target::classes)
      record.calibration = calibrate(logits);
    for (const Selection rule : all_values<Selection>()) {
      const Evaluation& e = state_.history[choose(rule, state_.history, errors())];
      std::vector<DomainScore> scores = test;
      if (rule != config_.train.selection) {
        if (config_.train.test != TestScoring::every) continue;
        if (e.test.size() != scores.size()) {
          fail(ErrorKind::data, "{}: epoch {} has {} test scores, expected {}",
               folder_.file("state.safetensors"), e.epoch, e.test.size(), scores.size());
        }
        for (size_t k = 0; k < scores.size(); ++k) scores[k].value = e.test[k];
      }
      record.chosen[to_string(rule)] = {e.epoch, e.validation, scores, e.validation_loss, errors()};
    }
  }

  // The fit sees validation alone, in one more pass over it; test only shows what came of it.
  Calibration calibrate(const std::vector<GroupLogits>& test) {
    const std::vector<GroupLogits> validation =
        group_logits(*method_, task_, Role::validation, hooks_.group);
    return calibration_of(fit_temperature(validation), validation, test);
  }

  bool errors() const { return smaller_is_better(task_.metric); }

  static double device_peak_mib() {
    return static_cast<double>(device_memory(compute_device()).peak) / (1024.0 * 1024.0);
  }

  std::string option_text(const std::string& key) const {
    for (const Option& o : config_.method.options().options()) {
      if (o.key == key) return o.get();
    }
    return "?";
  }

  const RunConfig& config_;
  const Task& task_;
  int64_t seed_;
  const RunFolder& folder_;
  const RunHooks& hooks_;
  dist::Group& group_;
  std::unique_ptr<Method> method_;
  TrainingState state_;
  std::optional<MetricsLog> metrics_;  // of rank 0
  std::optional<RunLogs> logs_;
};

// A run that resumes with other data than it began with would be two runs; a finished one has the
// scores of the data that was there then.
void check_same_data(const RunFolder& folder, const Task& task) {
  const std::vector<DataChange> changes = folder.changes(task.hashes);
  if (changes.empty()) return;
  fail(ErrorKind::data,
       "{}: this run was made with other data than is there now: {}; put the old files back, or "
       "start a new run (without --resume)",
       folder.path(), changes_text(changes));
}

}  // namespace

RunRecord train_run(const RunConfig& config, const Task& task, int64_t seed,
                    const RunFolder& folder, const RunHooks& hooks) {
  check_parts(config, task, hooks.group);
  check_sharding(config, hooks.group, &task);
  dist::Group& group = dist::group_or_alone(hooks.group);
  if (folder.finished() || folder.has("state.safetensors")) check_same_data(folder, task);
  if (group.text_of_first(folder.finished() ? "finished" : "").size() > 0) {
    return record_from_json(read_file(folder.file("summary.json")), folder.file("summary.json"));
  }
  check_memory(config, task, compute_device());
  std::optional<FolderGuard> guard;
  if (group.first()) guard.emplace(folder.path());
  try {
    return Run(config, with_validation(task, config.train.validate_on), seed, folder, hooks)();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io || !folder.has("state.safetensors")) throw;
    fail(ErrorKind::io, "{}; once that is fixed, --resume continues from the last checkpoint",
         error.what());
  }
}

}  // namespace grm
