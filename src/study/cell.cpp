// The cells of a study that one process runs, each from its row to its run folder and back.
#include <torch/types.h>

#include <algorithm>
#include <iostream>

#include "core/clock.h"
#include "core/files.h"
#include "core/system/lock.h"
#include "core/system/process.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"
#include "study/runner.h"
#include "train/memory_input.h"

namespace grm::study {
namespace {

constexpr int kDone = 0, kFailed = 1, kInterrupted = 130;

// The data of the last cell: most cells of a study are of the same.
class KeptData {
 public:
  const Task& get(const DatasetChoice& dataset, const DataContext& context) {
    std::string name = dataset.entry().name;
    for (const Option& option : dataset.options().options()) {
      name += fmt::format(" {}={}", option.key, option.get());
    }
    if (!task_ || name != name_) {
      task_.reset();
      task_ = load_within_memory(dataset, context);
      name_ = name;
    }
    return *task_;
  }

 private:
  std::string name_;
  std::optional<Task> task_;
};

class CellRun {
 public:
  CellRun(const CellJob& job, const CellHooks& hooks, const Store& store, KeptData& data)
      : job_(job), hooks_(hooks), data_(data), cell_(store.cell(job.id)) {}

  CellResult operator()() {
    const Stopwatch watch;
    if (hooks_.on_start) hooks_.on_start(cell_);
    config_ = config_from_toml(cell_.config, fmt::format("cell {}", cell_.id));
    config_->train.checkpoint_seconds = job_.checkpoint_seconds;
    ensure(config_->to_toml(cell_.seed) == cell_.config, "a configuration changed on its way");
    set_compute_device(parse_device(job_.device.empty() ? config_->train.device : job_.device));
    load();
    // A folder of the same configuration is gone on with, unless another process works in it or
    // its data or checkpoint is not what it was.
    RunFolder folder = find_run_folder(job_.runs, *config_, cell_.seed, &task_.hashes);
    if (!folder.path().empty()) {
      try {
        if (folder.finished()) return train_in(folder, watch);
        const FileLock lock(folder.file("lock"), true);
        if (lock.held()) return train_in(folder, watch);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::data) throw;
      }
    }
    for (;;) {
      folder = create_run_folder(job_.runs, *config_, cell_.seed);
      const FileLock lock(folder.file("lock"), true);
      if (lock.held()) return train_in(folder, watch);
    }
  }

  bool without_data() const { return loading_; }

 private:
  void load() {
    loading_ = true;
    task_ = data_.get(config_->dataset, job_.data);
    loading_ = false;
    if (cell_.phase == "trial") {
      // A search ends before anyone may look at test labels: they do not stay in memory.
      ensure(config_->train.test == TestScoring::never, "a trial asks for test scores");
      task_.test.clear();
    }
  }

  CellResult train_in(const RunFolder& folder, const Stopwatch& watch) {
    if (hooks_.on_folder) hooks_.on_folder(folder.path());
    RunHooks hooks;
    hooks.interrupted = hooks_.interrupted;
    const RunRecord record = train_run(*config_, task_, cell_.seed, folder, hooks);
    CellResult result;
    result.folder = folder.path();
    result.record = to_json_text(record);
    result.environment = read_file(folder.file("env.json"));
    result.metric = to_string(task_.metric);
    // A run that was resumed or read back took longer than this process.
    result.seconds =
        std::max(watch.seconds(), record.seconds_per_epoch * static_cast<double>(record.epochs));
    result.peak_mib = record.peak_memory_mib;
    return result;
  }

  const CellJob& job_;
  const CellHooks& hooks_;
  KeptData& data_;
  CellRow cell_;
  std::optional<RunConfig> config_;
  Task task_;
  bool loading_ = false;
};

}  // namespace

std::vector<std::string> CellJob::arguments() const {
  return with_settings({"study", "cell", "--db", database, "--owner", owner});
}

std::vector<std::string> CellJob::work_arguments(const std::string& study) const {
  return with_settings({"study", "work", study, "--db", database});
}

std::vector<std::string> CellJob::with_settings(std::vector<std::string> list) const {
  const std::vector<std::string> settings = {"--out",
                                             runs,
                                             "--threads",
                                             std::to_string(threads),
                                             "--checkpoint-seconds",
                                             fmt::format("{}", checkpoint_seconds),
                                             "--quiet"};
  list.insert(list.end(), settings.begin(), settings.end());
  if (!data.root.empty()) {
    list.push_back("--data-root");
    list.push_back(data.root);
  }
  if (data.allow_missing) list.push_back("--allow-missing");
  if (!device.empty()) {
    list.push_back("--device");
    list.push_back(device);
  }
  return list;
}

namespace {

int run_cell(const CellJob& job, const CellHooks& hooks, Store& store, KeptData& data) {
  const std::string me = store.child_name(job.owner, own_identity());
  if (!store.hand_over(job.id, job.owner, me)) {
    fail(ErrorKind::config, "cell {} is not this process's to run; 'grm study run' hands them out",
         job.id);
  }
  const auto failed = [&](const std::string& message) {
    store.give_up(job.id, me, "failed", message);
    return kFailed;
  };
  CellRun run(job, hooks, store, data);
  store.rest();  // a server has few connections, and a run takes long
  try {
    store.finish(job.id, me, run());
    return kDone;
  } catch (const Interrupted&) {
    store.give_up(job.id, me, "todo", "");
    return kInterrupted;
  } catch (const Error& error) {
    const bool files = error.kind() == ErrorKind::data || error.kind() == ErrorKind::io;
    if (!run.without_data() || !files) return failed(error.what());
    store.give_up(job.id, me, "no_data", error.what());
    return kDone;
  } catch (const c10::Error& error) {
    return failed(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return failed("out of memory");
  } catch (const std::exception& error) {
    return failed(fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace

int run_cells(const CellJob& given, const CellHooks& hooks) {
  CellJob job = given;
  Store store(job.database);
  KeptData data;
  std::string line;
  while (std::getline(std::cin, line)) {
    job.id = std::stoll(line);
    const int code = run_cell(job, hooks, store, data);
    std::cout << fmt::format("ended {} {}", job.id, code) << std::endl;
    if (code != kDone) return code;
    // The next one finds the memory as a new process would.
    release_device_memory(compute_device());
    reset_peak_memory_mib();
  }
  return kDone;
}

}  // namespace grm::study
