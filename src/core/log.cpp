#include "grm/core/log.h"

#include <mutex>

#include "grm/core/context.h"

namespace grm {
namespace {
std::mutex g_mutex;  // threads of one context share its sink
}

void set_log_sink(LogSink sink) {
  std::lock_guard<std::mutex> lock(g_mutex);
  context().log = std::move(sink);
}

void log_message(LogLevel level, const std::string& text) {
  std::lock_guard<std::mutex> lock(g_mutex);
  if (const LogSink& sink = context().log) sink(level, text);
}

}  // namespace grm
