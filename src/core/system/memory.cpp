#include "core/system/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace grm {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// The first number of a file, or `otherwise` ("max" is no number).
double number_in(const std::string& path, double otherwise) {
  std::ifstream in(path);
  double value = 0;
  return in >> value ? value : otherwise;
}

// The number behind `key` in a file of "key value" or "key: value unit" lines.
double value_of(const std::string& path, const std::string& key, double otherwise) {
  std::ifstream in(path);
  std::string word, rest;
  double value = 0;
  while (in >> word >> value && std::getline(in, rest)) {
    if (word == key) return value;
  }
  return otherwise;
}

struct GroupMemory {
  double left = kUnknown, most = kUnknown;

  // One control group: its limit, and that less what it holds, pages of files not counted.
  void narrow(const std::string& folder, const char* limit, const char* used,
              const char* file_pages) {
    const double here = number_in(folder + limit, kUnknown);
    if (here >= 1e18) return;  // how version 1 writes "no limit"
    const double held =
        number_in(folder + used, 0) - value_of(folder + "/memory.stat", file_pages, 0);
    left = std::min(left, here - std::max(held, 0.0));
    most = std::min(most, here);
  }
};

// The least over the group of this process and all groups around it.
GroupMemory group_memory() {
  GroupMemory memory;
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "0::/a/b" or "4:memory:/a/b"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    const bool old = kind.find("memory") != std::string::npos;
    if (!old && !kind.empty()) continue;
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      if (path == "/") path.clear();
      const std::string folder = (old ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") + path;
      if (old) {
        memory.narrow(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                      "total_inactive_file");
      } else {
        memory.narrow(folder, "/memory.max", "/memory.current", "inactive_file");
      }
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  return memory;
}

}  // namespace

SystemMemory system_memory() {
  const char* machine = "/proc/meminfo";
  SystemMemory memory;
  memory.free = value_of(machine, "MemAvailable:", kUnknown) * 1024;
  memory.total = value_of(machine, "MemTotal:", 0) * 1024;
  const GroupMemory groups = group_memory();
  memory.container = groups.left < memory.free;
  memory.free = std::min(memory.free, groups.left);
  memory.total = std::min(memory.total, groups.most);
  return memory;
}

double own_memory() {
  std::ifstream in("/proc/self/statm");
  double size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace grm
