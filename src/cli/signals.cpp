// Ctrl-C, a polite kill and a terminal that goes away: work stops at the next good moment.
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <ctime>

#include "cli/cli.h"

namespace grm::cli {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;
const char* volatile g_answer = "";
timespec g_first = {};  // when the first signal came

// A terminal that goes away may say so twice, through the shell and through the system.
bool same_hang_up(int signal) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (signal != SIGHUP || g_interrupted != SIGHUP) return false;
  return static_cast<double>(now.tv_sec - g_first.tv_sec) +
             1e-9 * static_cast<double>(now.tv_nsec - g_first.tv_nsec) <
         1.0;
}

void on_signal(int signal) {
  if (g_interrupted != 0) {
    if (same_hang_up(signal)) return;
    std::signal(signal, SIG_DFL);  // a second one, whichever, ends the program at once
    std::raise(signal);
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &g_first);
  g_interrupted = signal;
  if (signal != SIGINT) return;
  const ssize_t ignored = write(STDERR_FILENO, g_answer, std::strlen(g_answer));
  static_cast<void>(ignored);
}

}  // namespace

void watch_interrupt(const char* answer) {
  g_answer = answer;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  // Under nohup it is ignored, and stays so.
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool interrupted() {
  return g_interrupted != 0;
}

}  // namespace grm::cli
