// Studies on Slurm: job arrays of workers, sized to what is left.
#include "study/slurm.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/files.h"
#include "core/system/lock.h"
#include "core/system/process.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "study/database.h"

namespace grm::study {
namespace {

constexpr double kLookSeconds = 3;       // between questions to the cluster
constexpr double kProgramSeconds = 60;   // for an answer
constexpr double kSilentSeconds = 1800;  // for a controller that is started anew
constexpr int64_t kUsualArray = 1001;    // Slurm's own MaxArraySize
constexpr int64_t kFruitless = 25;       // arrays in a row that end without a cell
constexpr int kSignalSeconds = 30;       // before a time limit, for checkpoints

struct Answer {
  std::vector<std::string> lines;
  std::string error;  // "" for none
};

Answer ask(const std::vector<std::string>& argv) {
  ChildProcess child(argv, ".", Talk::yes);
  child.hang_up();
  const Stopwatch watch;
  Answer answer;
  for (;;) {
    pollfd waits{child.channel(), POLLIN, 0};
    poll(&waits, 1, 20);
    child.read_output();
    const std::optional<std::string> end = child.ended();
    for (std::string& line : child.heard()) answer.lines.push_back(std::move(line));
    if (end) {
      answer.error = *end;
      return answer;
    }
    if (watch.seconds() > kProgramSeconds) {
      answer.error = fmt::format("{} has not answered for {:g} s", argv.front(), kProgramSeconds);
      return answer;
    }
    if ((waits.revents & POLLHUP) != 0) poll(nullptr, 0, 20);
  }
}

// Slurm takes a comma in a name for the end of it.
std::string plain_name(std::string text) {
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  }
  return text;
}

}  // namespace

SlurmJobs::SlurmJobs(std::string study, std::string phase, const RunnerOptions& options,
                     const RunnerHooks& hooks)
    : study_(std::move(study)), phase_(std::move(phase)), options_(options), hooks_(hooks) {
  for (const char* program : {"sbatch", "squeue"}) {
    if (!find_program(program).empty()) continue;
    fail(ErrorKind::config,
         "--on slurm needs {}, which is not in $PATH; start it where jobs are submitted, such as a "
         "login node, or take --on workers and start 'grm study work' by other means",
         program);
  }
  if (shown_database(options.database) != options.database) {
    fail(ErrorKind::config,
         "a password in --db would stand in the jobs' scripts; put it into ~/.pgpass, which libpq "
         "reads, and leave it out");
  }
  const std::string mark = sha256(fmt::format("{}\n{}\n{}", options.database, phase_, getuid()));
  name_ = plain_name(fmt::format("grm-{}-{}", study_, mark.substr(0, 8)));
  folder_ = std::filesystem::absolute(options.runs) / "slurm" / plain_name(study_);
  std::error_code code;
  program_ = std::filesystem::read_symlink(options.program, code);
  if (code) program_ = options.program;
}

void SlurmJobs::say(const std::string& text) const {
  if (hooks_.on_message) hooks_.on_message(text);
}

SlurmJobs::Queue SlurmJobs::look() {
  const Answer answer =
      ask({find_program("squeue"), "--noheader", "--array", "--name=" + name_,
           "--states=PENDING,RUNNING,SUSPENDED,CONFIGURING,REQUEUED", "--format=%T|%r"});
  Queue queue;
  if (!answer.error.empty()) {
    if (silent_since_ < 0) {
      say("squeue: " + answer.error + "; asking again");
      silent_since_ = watch_.seconds();
    }
    if (watch_.seconds() - silent_since_ > kSilentSeconds) {
      fail(ErrorKind::io, "squeue has not answered for {:g} min: {}", kSilentSeconds / 60,
           answer.error);
    }
    return queue;
  }
  silent_since_ = -1;
  queue.known = true;
  for (const std::string& line : answer.lines) {
    ++queue.tasks;
    if (line.find("held") != std::string::npos || line.find("Held") != std::string::npos) {
      ++queue.held;
    }
  }
  return queue;
}

int64_t SlurmJobs::largest_array() const {
  const std::string scontrol = find_program("scontrol");
  if (scontrol.empty()) return kUsualArray;
  for (const std::string& line : ask({scontrol, "show", "config"}).lines) {
    if (line.rfind("MaxArraySize", 0) != 0) continue;
    const int64_t size = std::strtoll(line.c_str() + line.find('=') + 1, nullptr, 10);
    return size > 0 ? size : kUsualArray;
  }
  return kUsualArray;
}

void SlurmJobs::tend(const std::map<std::string, int64_t>& states, bool table) {
  if (watch_.seconds() - last_look_ < kLookSeconds) return;
  last_look_ = watch_.seconds();
  const auto count = [&](const char* state) {
    const auto found = states.find(state);
    return found == states.end() ? int64_t{0} : found->second;
  };
  const int64_t todo = count("todo"), ended = count("done") + count("failed");
  if (todo == 0) return;
  // Of several that follow one study, one submits.
  std::filesystem::create_directories(folder_);
  const FileLock lock(folder_ + "/lock", true);
  if (lock.busy()) return;
  const Queue queue = look();
  if (!queue.known) return;
  if (queue.held > 0 && !told_held_) {
    say(
        fmt::format("{} of its tasks are held by the cluster; 'squeue --name={}' says why, "
                    "'scontrol release' lets them go",
                    queue.held, name_));
    told_held_ = true;
  }
  const int64_t per_task = std::max<int64_t>(1, options_.slurm.cells_per_task);
  const int64_t missing = todo - queue.tasks * per_task;
  if (missing <= 0) return;
  if (queue.tasks == 0) {
    fruitless_ = ended == ended_before_ ? fruitless_ + 1 : 0;
    ended_before_ = ended;
    if (fruitless_ == kFruitless) {
      fail(
          ErrorKind::data,
          "{} job arrays in a row ended without a finished cell; {}/*.txt say why. Cells that take "
          "longer than --time allows go on from their checkpoints only where --out can be reached",
          kFruitless, folder_);
    }
  }
  submit(missing, table);
}

std::vector<std::string> SlurmJobs::words(const std::string& name) const {
  std::vector<std::string> list = {find_program("sbatch"), "--parsable", "--job-name=" + name,
                                   "--open-mode=append"};
  if (!options_.slurm.partition.empty()) list.push_back("--partition=" + options_.slurm.partition);
  if (!options_.slurm.time.empty()) list.push_back("--time=" + options_.slurm.time);
  return list;
}

std::string SlurmJobs::script(int64_t cells_per_task) const {
  CellJob job{options_.database,
              0,
              "",
              options_.runs,
              options_.data,
              options_.threads,
              options_.checkpoint_seconds,
              options_.device};
  std::string line = "exec " + shell_word(program_);
  for (const std::string& word : job.work_arguments(study_)) line += " " + shell_word(word);
  return fmt::format(
      "#!/bin/sh\n"
      "# One task of a study: takes up to {0} cells, whichever are free.\n"
      "{1} --jobs {2} --cells {0} --patience {3:g} --job \"slurm-$SLURM_JOB_ID\"\n",
      cells_per_task, line, options_.jobs, options_.patience);
}

void SlurmJobs::submit(int64_t cells, bool table) {
  const int64_t largest = largest_array();
  int64_t per_task = options_.slurm.cells_per_task;
  if (per_task == 0) per_task = (cells + largest - 1) / largest;
  const std::string file = folder_ + "/job.sh";
  write_file_atomic(file, script(per_task));
  std::string numbers;
  const auto send = [&](std::vector<std::string> argv) {
    const Answer answer = ask(argv);
    if (!answer.error.empty() || answer.lines.empty()) {
      fail(ErrorKind::config, "sbatch refused a job: {}; --cells-per-task makes fewer of them",
           answer.error.empty() ? "it named no number" : answer.error);
    }
    return answer.lines.front().substr(0, answer.lines.front().find(';'));
  };
  const int64_t tasks = (cells + per_task - 1) / per_task;
  for (int64_t left = tasks; left > 0; left -= largest) {
    std::vector<std::string> argv = words(name_);
    argv.push_back(fmt::format(
        "--array=0-{}{}", std::min(left, largest) - 1,
        options_.slurm.tasks_at_once > 0 ? fmt::format("%{}", options_.slurm.tasks_at_once) : ""));
    argv.push_back("--requeue");
    argv.push_back(fmt::format("--signal=B:TERM@{}", kSignalSeconds));
    argv.push_back(fmt::format("--cpus-per-task={}", options_.jobs * options_.threads));
    argv.push_back("--output=" + folder_ + "/%A_%a.txt");
    argv.insert(argv.end(), options_.slurm.extra.begin(), options_.slurm.extra.end());
    argv.push_back(file);
    numbers += (numbers.empty() ? "" : ":") + send(argv);
  }
  say(fmt::format("{} cells in {} tasks of Slurm: job {}, '{}'; what they say is in {}", cells,
                  tasks, replaced(numbers, {{":", ", "}}), name_, folder_));
  if (!table) return;
  std::vector<std::string> argv = words(name_ + "-table");
  argv.push_back("--dependency=afterany:" + numbers);
  argv.push_back("--output=" + folder_ + "/table-job.txt");
  argv.push_back(fmt::format("--wrap=exec {} study table {} --db {} --out {}", shell_word(program_),
                             shell_word(study_), shell_word(options_.database),
                             shell_word(folder_ + "/table.txt")));
  send(argv);
}

}  // namespace grm::study
