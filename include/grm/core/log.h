#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>

namespace grm {

enum class LogLevel { info, warning };

/// Where messages go. The library itself never prints: without a sink they are dropped.
using LogSink = std::function<void(LogLevel, const std::string&)>;
/// For the context of this thread (core/context.h). One message at a time is handed to a sink.
void set_log_sink(LogSink sink);
void log_message(LogLevel level, const std::string& text);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace grm
