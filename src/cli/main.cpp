// grm: train and compare classifiers that hold up on graphs from domains never seen in training.
#include <c10/util/Exception.h>
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "cli/cli.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "core/json.h"
#include "core/start.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/version.h"
#include "train/trainer.h"

namespace {

using grm::ErrorKind;
using grm::cli::Common;

constexpr int kInternal = 1, kUsage = 2, kData = 3, kDevice = 4;
// What a shell takes as it stands.
constexpr const char* kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

int report(const Common& common, const char* kind, const std::string& message, int code) {
  const std::string name = grm::cli::ink(STDERR_FILENO, grm::cli::Ink::red, "grm:");
  grm::cli::say(fmt::format("{} {}{}\n", name, grm::cli::speaker(), grm::terminal_text(message)));
  if (common.json) grm::cli::print_error_json(kind, message);
  return code;
}

int report(const Common& common, const grm::Error& error) {
  switch (error.kind()) {
    case ErrorKind::config:
      return report(common, "config", error.what(), kUsage);
    case ErrorKind::shape:
      return report(common, "shape", error.what(), kData);
    case ErrorKind::data:
      return report(common, "data", error.what(), kData);
    case ErrorKind::io:
      return report(common, "io", error.what(), kData);
    case ErrorKind::device:
      return report(common, "device", error.what(), kDevice);
    case ErrorKind::memory:
      return report(common, "memory", error.what(), kDevice);
  }
  return kInternal;
}

// The command as it was typed, ready to be pasted into a shell, with --resume.
std::string resume_command(int argc, char** argv) {
  std::string line;
  bool resumes = false;
  for (int k = 0; k < argc; ++k) {
    const std::string word = argv[k];
    resumes = resumes || word == "--resume";
    line += k == 0 ? "" : " ";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return resumes ? line : line + " --resume";
}

// Output that a full disk swallowed is no success.
int flushed(const Common& common, int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return report(common, "io",
                fmt::format("standard output: writing failed: {}", std::strerror(errno)), kData);
}

int run_action(const Common& common, const grm::cli::Action& action, int argc, char** argv) {
  try {
    common.apply();
    return flushed(common, action());
  } catch (const grm::Error& error) {
    return report(common, error);
  } catch (const grm::Interrupted& stop) {
    return report(common, "interrupted",
                  fmt::format("stopped; a checkpoint is in {}. To resume it:\n  {}", stop.what(),
                              resume_command(argc, argv)),
                  grm::cli::kInterrupted);
  } catch (const std::bad_alloc&) {
    return report(common, "memory", "out of memory", kDevice);
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (text.find("CUDA out of memory") != std::string::npos) {
      return report(
          common, "memory",
          "the GPU is out of memory: " + text.substr(0, text.find('.')) +
              "; a smaller method.batch, method.influence = sampled (grm) or --device cpu "
              "need less",
          kDevice);
    }
    const bool memory = text.find("allocate memory") != std::string::npos;
    return report(common, memory ? "memory" : "internal", text, memory ? kDevice : kInternal);
  } catch (const std::filesystem::filesystem_error& error) {  // a path that cannot be followed
    return report(
        common, "io",
        fmt::format("{}: cannot be opened: {}", error.path1().string(), error.code().message()),
        kData);
  } catch (const std::exception& error) {
    return report(common, "internal", fmt::format("internal error: {}", error.what()), kInternal);
  }
}

// Whether the first word, if it is no flag, is a verb.
bool begins_with_a_verb(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.front()[0] == '-') return true;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == words.front()) return true;
  }
  return false;
}

// The launcher has done this already, unless the engine was started by itself.
void start_as_the_launcher_would(char** argv) {
  grm::open_standard_descriptors();
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0 || !grm::set_load_environment()) return;
  self[length] = '\0';
  execv(self, argv);  // returns only if it fails, and then nothing is lost
}

// "grm help train" is "grm train --help", and "grm" alone asks for help, too.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool help = !words.empty() && words.front() == "help";
  if (help) words.erase(words.begin());
  if (help || words.empty()) words.emplace_back("--help");
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  start_as_the_launcher_would(argv);
  // A file beyond a size limit is an error of its write, with a message, not the end of the
  // process.
  std::signal(SIGXFSZ, SIG_IGN);
  grm::cli::read_colour(argc, argv);
  CLI::App app{"Classifiers that hold up on graphs from domains never seen in training", "grm"};
  app.set_version_flag("--version", "grm " GRM_VERSION " (" GRM_GIT_ID ")");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  grm train --dataset sbm --method erm,grm       no files needed\n"
      "  grm data init my-data                          own data: a template, then\n"
      "  grm data check ./my-data                       every problem and its fix,\n"
      "  grm train --dataset ./my-data --method erm,grm --seeds 3\n"
      "  grm predict RUN --data new-month --out predictions.csv\n"
      "  grm explain RUN --data new-month --item 17     why this node or graph\n"
      "  grm attribute RUN                              which features matter\n"
      "  grm report runs --out report.html              one file to show\n"
      "  grm help train                                 all flags of a verb\n\n"
      "Exit codes: 0 ok, 1 internal error, 2 usage or configuration, 3 data or files,\n"
      "4 device or memory, 5 drift alarm (watch), 130 interrupted.");
  Common common;
  grm::cli::Action action;
  grm::cli::add_train(app, common, action);
  grm::cli::add_fit(app, common, action);
  grm::cli::add_study(app, common, action);
  grm::cli::add_reproduce(app, common, action);
  grm::cli::add_plot(app, common, action);
  grm::cli::add_report(app, common, action);
  grm::cli::add_eval(app, common, action);
  grm::cli::add_watch(app, common, action);
  grm::cli::add_explain(app, common, action);
  grm::cli::add_attribute(app, common, action);
  grm::cli::add_export(app, common, action);
  grm::cli::add_predict(app, common, action);
  grm::cli::add_serve(app, common, action);
  grm::cli::add_ui(app, common, action);
  grm::cli::add_data(app, common, action);
  grm::cli::add_methods(app, common, action);
  grm::cli::add_options(app, common, action);
  grm::cli::add_bench(app, common, action);
  grm::cli::add_doctor(app, common, action);
  grm::cli::add_completion(app, common, action);
  if (argc == 3 && argv[1] == std::string("--write-help")) {  // after linking, for the launcher
    return run_action(
        common, [&] { return grm::cli::write_help_file(app, argv[2]), 0; }, argc, argv);
  }
  const std::vector<std::string> words = words_of(argc, argv);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0 && begins_with_a_verb(app, words)) return app.exit(error);
    // The parser may have stopped before it came to the flag.
    common.json = std::find(words.begin(), words.end(), "--json") != words.end();
    return report(common, "usage", grm::cli::usage_message(app, error, words), kUsage);
  }
  return run_action(common, action, argc, argv);
}
