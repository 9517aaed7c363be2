#include <malloc.h>
#include <torch/types.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/core/threads.h"
#include "grm/graph/device.h"

namespace grm::cli {
namespace {
std::ofstream g_log_file;  // log.txt of the run in progress
int g_rank = 0;

void write_log_line(LogLevel level, const std::string& text) {
  if (!g_log_file.is_open()) return;
  g_log_file << timestamp() << (level == LogLevel::warning ? " warning: " : " ") << text
             << std::endl;
}

}  // namespace

void talk_as(int rank) {
  g_rank = rank;
}

std::string speaker() {
  return g_rank == 0 ? "" : fmt::format("rank {}: ", g_rank);
}

void print_error_json(const char* kind, const std::string& message) {
  if (g_rank == 0) print_json({{"error", {{"kind", kind}, {"message", message}}}});
}

void end_process(const std::string& why, const char* kind, bool json, int code) {
  const std::string text = terminal_text(why);
  say(fmt::format("{} {}{}\n", ink(STDERR_FILENO, Ink::red, "grm:"), speaker(), text));
  write_log_line(LogLevel::warning, text);
  if (json) print_error_json(kind, why);
  std::fflush(stdout);
  _exit(code);
}

void log_to(const std::string& path) {
  g_log_file.close();
  if (!path.empty()) g_log_file.open(path, std::ios::app);
}

DataContext Common::data_context() const {
  DataContext context;
  context.root = data_root;
  if (context.root.empty()) {
    if (const char* root = std::getenv("GRM_DATA")) context.root = root;
  }
  context.allow_missing = allow_missing;
  const std::string cache = cache_folder();
  context.cache = cache.empty() ? "" : cache + "/data";
  return context;
}

void Common::apply() const {
  if (!device.empty()) parse_device(device);  // a wrong one is told before any work
  // Steps allocate and free the same large tensors again and again. Kept in the heap they are
  // reused; given back to the system, as is the default, every page is faulted in anew.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  check_room_for_threads(threads > 0 ? threads : grm::threads());
  set_threads(threads > 0 ? threads : grm::threads());
  take_room_for_threads();
  const bool silent = quiet;
  set_log_sink([silent](LogLevel level, const std::string& message) {
    const std::string text = terminal_text(message);
    write_log_line(level, text);
    if (g_rank > 0 || (level == LogLevel::info && silent)) return;
    const char* clear = isatty(STDERR_FILENO) ? "\r\033[K" : "";
    const std::string mark = level == LogLevel::warning ? "warning:" : "";
    say(fmt::format("{}{}{}{}\n", clear, ink(STDERR_FILENO, Ink::yellow, mark),
                    mark.empty() ? "" : " ", text));
  });
}

void Common::use_device(const std::string& configured) const {
  set_compute_device(parse_device(device.empty() ? configured : device));
}

void set_call(CLI::App& verb, Action& action, Action call) {
  verb.callback([&action, call = std::move(call)] { action = call; });
}

void add_common(CLI::App& verb, Common& common, bool needs_data) {
  verb.add_flag("--json", common.json, "print one JSON object on stdout");
  verb.add_flag("-q,--quiet", common.quiet, "no progress and no remarks");
  verb.add_option("--threads", common.threads, "threads (default: all cores)")
      ->check(whole_number(1, 4096));
  verb.add_option_function<std::string>(
          "--color,--colour", [](const std::string&) {},
          "auto, always or never (default: auto, colour on a terminal)")
      ->check(one_of({"auto", "always", "never"}));
  if (!needs_data) return;
  verb.add_option("--data-root", common.data_root, "folder of the datasets (default: $GRM_DATA)");
  verb.add_flag("--allow-missing", common.allow_missing,
                "skip test domains whose files are missing, and say so in the record");
  verb.add_option("--device", common.device, "cpu, cuda, cuda:1 (a number) or auto (default: cpu)");
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

void print_json(const ordered_json& value) {
  // Paths and names of a user need not be UTF-8.
  const std::string text = json_text(value, 2);
  std::fputs(text.c_str(), stdout);
  std::fputc('\n', stdout);
}

void print_table(const Table& table) {
  const std::string text = text_table(table, line_width(STDOUT_FILENO), colour_on(STDOUT_FILENO));
  std::fputs(text.c_str(), stdout);
}

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace grm::cli
