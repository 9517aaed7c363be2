#include "cli/doctor.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <torch/version.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/terminal.h"
#include "core/files.h"
#include "core/json.h"
#include "core/system/memory.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/version.h"
#include "io/npz.h"

namespace grm::cli {
namespace {

using Mark = Finding::Mark;
constexpr int kToMend = 3;
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

// Processors that a container is allowed, or 0 if there is no limit.
double cpu_quota() {
  std::ifstream in("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  return in >> quota >> period && period > 0 ? quota / period : 0.0;
}

Finding examine_threads() {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int used = grm::threads();
  Finding threads{"threads", fmt::format("{} of {} cores", used, cores), Mark::ok, "", {}};
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    if (const char* value = std::getenv(name)) {
      threads.value += fmt::format(", {}={} (--threads decides)", name, value);
    }
  }
  double load[1] = {};
  if (getloadavg(load, 1) == 1) threads.value += fmt::format(", load {:.1f}", load[0]);
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  const double quota = cpu_quota();
  if ((policy && std::string(policy) != "passive" && std::string(policy) != "PASSIVE") ||
      std::getenv("GOMP_SPINCOUNT")) {
    threads.level = Mark::fix;
    threads.advice =
        "waiting threads spin, which makes training up to ten times slower beside other work: "
        "unset OMP_WAIT_POLICY GOMP_SPINCOUNT";
  } else if (quota > 0 && used > std::ceil(quota)) {
    threads.level = Mark::fix;
    threads.advice = fmt::format("this container may use {:g} processors: --threads {:.0f}", quota,
                                 std::max(1.0, std::ceil(quota)));
  } else if (used > cores) {
    threads.level = Mark::fix;
    threads.advice = fmt::format("more threads than cores: --threads {}", cores);
  } else if (load[0] > cores) {
    threads.level = Mark::note;
    threads.advice = "other programs keep the cores busy: training takes longer until they end";
  }
  return threads;
}

Finding examine_memory() {
  const SystemMemory here = system_memory();
  Finding memory{"memory",
                 here.total > 0
                     ? fmt::format("{} free of {}", bytes_text(here.free), bytes_text(here.total))
                     : "unknown",
                 Mark::ok,
                 "",
                 {}};
  if (here.free < kGiB) {
    memory.level = Mark::fix;
    memory.advice = "less than 1 GiB is free: end other programs, or train on smaller data";
  }
  return memory;
}

Finding examine_disk(const std::string& what, std::string path) {
  std::error_code code;
  while (!path.empty() && !std::filesystem::exists(path, code)) {
    path = std::filesystem::path(path).parent_path().string();
  }
  struct statvfs disk {};
  if (statvfs(path.empty() ? "." : path.c_str(), &disk) != 0) {
    return {what, "unknown", Mark::note, "the free space cannot be told", {}};
  }
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  Finding finding{what, bytes_text(free) + " free", Mark::ok, "", {}};
  if ((disk.f_flag & ST_RDONLY) != 0) {
    finding.level = Mark::fix;
    finding.advice = "read-only: run grm elsewhere, or give --out and GRM_CACHE";
  } else if (free < kGiB) {
    finding.level = Mark::fix;
    finding.advice = "less than 1 GiB is free: checkpoints and caches may not fit";
  }
  return finding;
}

Finding examine_tool(const std::string& what, const std::vector<std::string>& names,
                     const std::string& advice) {
  for (const std::string& name : names) {
    const std::string path = find_program(name);
    if (!path.empty()) return {what, path, Mark::ok, "", {}};
  }
  return {what, "not found", Mark::note, advice, {}};
}

// Readers that were left out of the build say so before they look for the file.
Finding examine_reader(const std::string& what, const std::string& advice,
                       const std::function<void(const std::string&)>& read) {
  try {
    read("/nonexistent");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::config) return {what, "left out", Mark::note, advice, {}};
  }
  return {what, "built in", Mark::ok, "", {}};
}

std::vector<Finding> examine(const Common& common, bool hashes) {
  std::vector<Finding> found;
  const auto add = [&](std::vector<Finding> more) {
    for (Finding& finding : more) found.push_back(std::move(finding));
  };
  std::error_code ignored;
  const bool gpu = std::filesystem::exists("/dev/nvidia0", ignored);
  add({{"grm", GRM_VERSION " (" GRM_GIT_ID "), " GRM_COMPILER, Mark::ok, "", {}},
       {"torch", TORCH_VERSION, Mark::ok, "", {}},
       examine_threads()});
  add(examine_blas());
  add({{"cuda",
        fmt::format("this build runs on the CPU only{}",
                    gpu ? "; the GPU of this machine stays idle" : "; no GPU is seen here"),
        Mark::ok,
        "",
        {}},
       examine_memory(),
       examine_disk("disk, here", std::filesystem::current_path(ignored).string()),
       examine_disk("disk, cache", cache_folder()),
       examine_cache(),
       examine_reader("npz files",
                      "apt-get install libzip-dev and build again with "
                      "-DGRM_WITH_LIBZIP=ON",
                      [](const std::string& path) { io::read_npz(path); }),
       examine_tool("gnuplot", {"gnuplot"},
                    "figures stay data and script: apt-get install gnuplot-nox"),
       examine_tool("graphviz", {"dot"},
                    "explanations stay without pictures: apt-get install graphviz"),
       examine_tool("chromium", {"chromium", "chromium-browser", "google-chrome"},
                    "reports open in any browser, only their test needs it: apt-get install "
                    "chromium"),
       examine_tool("clang", {"clang++", "clang++-14", "clang++-15", "clang++-16", "clang++-19"},
                    "only fuzzing needs it: apt-get install clang libclang-rt-dev"),
       examine_tool("nvcc", {"nvcc"}, "nothing to do: this version has no code for GPUs")});
  add(examine_data(common, hashes));
  return found;
}

const char* level_text(Mark level) {
  return level == Mark::ok ? "ok" : level == Mark::note ? "note" : "fix";
}

void print_finding(const Finding& f) {
  std::string level = fmt::format("{:<4}", level_text(f.level));
  if (f.level == Mark::fix) level = ink(STDOUT_FILENO, Ink::red, level);
  if (f.level == Mark::note) level = ink(STDOUT_FILENO, Ink::yellow, level);
  print_wrapped(fmt::format("{} {:<15} ", level, f.what), f.value);
  if (!f.advice.empty()) print_wrapped(std::string(21, ' '), f.advice);
}

int doctor(const Common& common, bool strict, bool hashes) {
  const std::vector<Finding> found = examine(common, hashes);
  int64_t to_fix = 0;
  ordered_json checks = ordered_json::array();
  for (const Finding& f : found) {
    to_fix += f.level == Mark::fix ? 1 : 0;
    ordered_json check = {{"check", f.what},
                          {"value", f.value},
                          {"ok", f.level == Mark::ok},
                          {"level", level_text(f.level)},
                          {"advice", f.advice}};
    if (!f.files.is_null()) check["files"] = f.files;
    checks.push_back(std::move(check));
    if (common.json) continue;
    print_finding(f);
    for (const auto& file : f.files) {
      fmt::print("     {} {} ({})\n", file["sha256"].get<std::string>(),
                 file["file"].get<std::string>(), file["state"].get<std::string>());
    }
  }
  if (common.json) {
    print_json({{"checks", checks}, {"to_fix", to_fix}});
  } else {
    fmt::print("{}\n", to_fix == 0   ? "nothing to fix"
                       : to_fix == 1 ? "one thing to fix"
                                     : fmt::format("{} things to fix", to_fix));
  }
  return strict && to_fix > 0 ? kToMend : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("doctor", "what this installation has, and what to fix");
  auto strict = std::make_shared<bool>(false), hashes = std::make_shared<bool>(false);
  add_common(*verb, common, true);
  verb->add_flag("--strict", *strict, "exit code 3 if something needs fixing");
  verb->add_flag("--hashes", *hashes,
                 "SHA-256 of every data file, beside what the cache remembers; reads them all");
  verb->footer(
      "Examples:\n"
      "  grm doctor                                 look, and print the fix for what is wrong\n"
      "  grm doctor --strict -q > /dev/null || ...  in a script\n"
      "  grm doctor --hashes --data-root DIR        are the data files those of the last run?");
  set_call(*verb, action, [=, &common] { return doctor(common, *strict, *hashes); });
}

}  // namespace grm::cli
