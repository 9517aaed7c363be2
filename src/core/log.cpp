#include "grm/core/log.h"

#include <mutex>

namespace grm {
namespace {
std::mutex g_mutex;
LogSink g_sink;
}  // namespace

void set_log_sink(LogSink sink) {
  std::lock_guard<std::mutex> lock(g_mutex);
  g_sink = std::move(sink);
}

void log_message(LogLevel level, const std::string& text) {
  std::lock_guard<std::mutex> lock(g_mutex);
  if (g_sink) g_sink(level, text);
}

}  // namespace grm
