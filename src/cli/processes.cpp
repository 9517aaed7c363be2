#include "cli/processes.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "cli/checks.h"
#include "core/clock.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/core/threads.h"
#include "train/same_run.h"
#include "train/sampling.h"
#include "train/trainer.h"

namespace grm::cli {
namespace {

constexpr int kLost = 4;           // the exit code of ErrorKind::device
constexpr double kPatience = 5.0;  // seconds for the others to end

// The words of this process as the system has them.
std::vector<std::string> own_words() {
  std::vector<std::string> words;
  std::ifstream file("/proc/self/cmdline");
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string own_program() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0)
    fail(ErrorKind::io, "/proc/self/exe cannot be read, so no process can be started");
  return {path, static_cast<size_t>(length)};
}

dist::Launch launch_for(int64_t processes) {
  dist::Launch launch = dist::launch_of_this_process();
  if (launch.world > 1 && processes > 1 && processes != launch.world) {
    fail(ErrorKind::config,
         "--processes {}: a launcher started {} processes already; leave the flag out", processes,
         launch.world);
  }
  if (launch.world == 1 && processes > 1) {
    launch.world = static_cast<int>(processes);
    launch.on_this_machine = launch.world;
    launch.address = "127.0.0.1";  // and any free port
  }
  return launch;
}

}  // namespace

// While the members of a group meet, nobody but their parent sees one of them die.
class Processes::EarlyEnds {
 public:
  EarlyEnds(const std::vector<std::unique_ptr<ChildProcess>>& children,
            const std::function<void(const std::string& why)>& on_lost)
      : look_([&children, on_lost, this] {
          while (!met_) {
            for (size_t k = 0; k < children.size(); ++k) {
              children[k]->read_output();
              const std::optional<std::string> end = children[k]->ended();
              if (!end || met_) continue;
              on_lost(fmt::format("rank {} has ended before all processes had come{}{}", k + 1,
                                  end->empty() ? "" : ": ", *end));
              return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
          }
        }) {}
  ~EarlyEnds() {
    met_ = true;
    look_.join();
  }

 private:
  std::atomic<bool> met_{false};
  std::thread look_;
};

void add_process_flags(CLI::App& verb, ProcessFlags& flags) {
  verb.add_option("--processes", flags.processes,
                  "processes of this machine that work together (default: those that torchrun, "
                  "mpirun or srun started)")
      ->check(whole_number(1, 4096));
  verb.add_option("--process-timeout", flags.timeout,
                  "seconds without a sign of life after which a process counts as hung")
      ->capture_default_str()
      ->check(number_above(0, 1e6));
  verb.add_option("--row-cache", flags.row_cache,
                  "MiB for rows of other processes, of each graph in parts; 0: none are kept")
      ->capture_default_str()
      ->check(whole_number(0, 1 << 24));
}

DataContext Processes::data_context(const Common& common, const ProcessFlags& flags) const {
  DataContext context = common.data_context();
  context.processes = group_;
  context.row_cache_mib = flags.row_cache;
  return context;
}

Processes::Processes(const ProcessFlags& flags, const Common& common, const std::string& advice)
    : processes_(flags.processes) {
  const dist::Launch launch = launch_for(flags.processes);
  if (launch.world == 1) {
    group_ = dist::alone();
    return;
  }
  if (launch.rank > 0) talk_as(launch.rank);
  if (common.threads == 0) set_threads(std::max(1, grm::threads() / launch.on_this_machine));
  dist::JoinOptions options;
  options.timeout = flags.timeout;
  options.advice = advice;
  options.on_lost = [json = common.json, advice](const std::string& why) {
    end_process(why + advice, "device", json, kLost);
  };
  std::unique_ptr<EarlyEnds> early;
  if (launch.port == 0) {
    options.on_listen = [&](int port) {
      start_others(port);
      early = std::make_unique<EarlyEnds>(children_, options.on_lost);
    };
  }
  group_ = dist::join(launch, options);
  early.reset();
  log_info("{} processes, {} thread{} each", launch.world, grm::threads(),
           grm::threads() == 1 ? "" : "s");
}

void Processes::start_others(int port) {
  const std::vector<std::string> own = own_words();
  const std::string program = own_program(), world = std::to_string(processes_);
  for (int64_t rank = 1; rank < processes_; ++rank) {
    std::vector<std::string> words = {"/usr/bin/env",
                                      "RANK=" + std::to_string(rank),
                                      "WORLD_SIZE=" + world,
                                      "LOCAL_WORLD_SIZE=" + world,
                                      "MASTER_ADDR=127.0.0.1",
                                      "MASTER_PORT=" + std::to_string(port),
                                      program};
    words.insert(words.end(), own.begin() + 1, own.end());
    children_.push_back(std::make_unique<ChildProcess>(words));
  }
}

int Processes::run(const std::function<int()>& command) {
  try {
    const int code = command();
    leave();
    return code;
  } catch (const Interrupted&) {  // all of them
    leave();
    throw;
  } catch (const std::exception& error) {
    if (group_) group_->ends(error.what());
    throw;
  }
}

void Processes::leave() {
  group_.reset();
  const Stopwatch watch;
  for (const std::unique_ptr<ChildProcess>& child : children_) {
    std::optional<std::string> end;
    while (!(end = child->ended()) && watch.seconds() < kPatience) {
      child->read_output();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  children_.clear();
}

void choose_shards(RunConfig& config, const Task& task, const Processes& processes) {
  check_parts(config, task, processes.group());
  if (processes.world() == 1) return;
  if (config.train.shards == 1 && undivided(config).empty()) {
    config.set("train.shards", std::to_string(processes.world()));
    log_info(
        "train.shards = {}, one for each process; to go on with another number of processes, "
        "name it: --set train.shards={}",
        processes.world(), processes.world());
  }
  check_sharding(config, processes.group(), &task);
}

Processes::~Processes() {
  if (group_) leave();
}

}  // namespace grm::cli
