#include "serve/signals.h"

#include <poll.h>

#include <csignal>

namespace grm::serve {
namespace {

volatile std::sig_atomic_t g_end = 0, g_reload = 0;

void on_signal(int signal) {
  if (signal == SIGHUP) {
    g_reload = 1;
  } else if (g_end == 0) {
    g_end = 1;
  } else {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

void watch_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, on_signal);
  std::signal(SIGPIPE, SIG_IGN);  // a client that goes away
}

void wait_for_end(const std::function<void()>& reload, const std::function<void()>& tick) {
  for (int slices = 0; g_end == 0; ++slices) {
    poll(nullptr, 0, 50);
    if (g_reload != 0) {
      g_reload = 0;
      reload();
    }
    if (slices % 10 == 9) tick();
  }
}

}  // namespace grm::serve
