#include "core/clock.h"

#include <sys/resource.h>

#include <ctime>
#include <fstream>

namespace grm {

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%S", &parts);
  return text;
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

void reset_peak_memory_mib() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace grm
