// grm: train and compare classifiers that hold up on graphs from domains never seen in training.
#include <c10/util/Exception.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "cli.h"
#include "grm/core/error.h"
#include "grm/train/trainer.h"
#include "grm/version.h"
#include "suggest.h"
#include "terminal.h"

namespace {

using grm::ErrorKind;
using grm::cli::Common;

constexpr int kInternal = 1, kUsage = 2, kData = 3, kDevice = 4, kInterrupted = 130;
// What a shell takes as it stands.
constexpr const char* kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

int report(const Common& common, const char* kind, const std::string& message, int code) {
  const std::string name = grm::cli::ink(STDERR_FILENO, grm::cli::Ink::red, "grm:");
  grm::cli::say(fmt::format("{} {}\n", name, message));
  if (common.json) grm::cli::print_json({{"error", {{"kind", kind}, {"message", message}}}});
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
                  fmt::format("stopped; a checkpoint is in {}. To go on from it:\n  {}",
                              stop.what(), resume_command(argc, argv)),
                  kInterrupted);
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
  } catch (const std::exception& error) {
    return report(common, "internal", fmt::format("internal error: {}", error.what()), kInternal);
  }
}

// OpenMP and BLAS threads that wait by spinning take the cores from whatever else runs; with two
// jobs on a machine that costs a factor of ten. The runtime reads its policy once, when it is
// loaded, so the program starts itself anew with the policy set. OpenBLAS threads poll for
// 2^OPENBLAS_THREAD_TIMEOUT cycles before they sleep.
void wait_without_spinning(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return;
  self[length] = '\0';
  setenv("OMP_WAIT_POLICY", "passive", 1);
  setenv("OPENBLAS_THREAD_TIMEOUT", "10", 0);
  execv(self, argv);  // returns only if it fails, and then nothing is lost
}

}  // namespace

int main(int argc, char** argv) {
  wait_without_spinning(argv);
  // A file beyond a size limit is an error of its write, with a message, not the end of the
  // process.
  std::signal(SIGXFSZ, SIG_IGN);
  grm::cli::read_colour(argc, argv);
  CLI::App app{"Classifiers that hold up on graphs from domains never seen in training"};
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
      "  grm report runs --out report.html              one file to show\n"
      "  grm train --help\n\n"
      "Exit codes: 0 ok, 1 internal error, 2 usage or configuration, 3 data or files,\n"
      "4 device or memory, 130 interrupted.");
  Common common;
  grm::cli::Action action;
  grm::cli::add_train(app, common, action);
  grm::cli::add_study(app, common, action);
  grm::cli::add_reproduce(app, common, action);
  grm::cli::add_plot(app, common, action);
  grm::cli::add_report(app, common, action);
  grm::cli::add_eval(app, common, action);
  grm::cli::add_explain(app, common, action);
  grm::cli::add_predict(app, common, action);
  grm::cli::add_data(app, common, action);
  grm::cli::add_methods(app, common, action);
  grm::cli::add_options(app, common, action);
  grm::cli::add_bench(app, common, action);
  grm::cli::add_doctor(app, common, action);
  grm::cli::add_completion(app, common, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    // The parser may have stopped before it came to the flag.
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    common.json = std::find(words.begin(), words.end(), "--json") != words.end();
    return report(common, "usage", grm::cli::usage_message(app, error, words), kUsage);
  }
  return run_action(common, action, argc, argv);
}
