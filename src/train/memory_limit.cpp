#include <torch/types.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include "grm/core/context.h"
#include "grm/core/start.h"
#include "grm/graph/device.h"
#include "grm/train/memory.h"

namespace grm {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

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

double own_bytes() {
  std::ifstream in("/proc/self/statm");
  double size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// What is left in one control group: its limit less what it holds, pages of files not counted,
// since they are given up on demand.
double left_in(const std::string& folder, const char* limit, const char* used,
               const char* file_pages) {
  const double most = number_in(folder + limit, kNone);
  if (most >= 1e18) return kNone;  // how version 1 writes "no limit"
  const double held =
      number_in(folder + used, 0) - value_of(folder + "/memory.stat", file_pages, 0);
  return most - std::max(held, 0.0);
}

// The least over the group of this process and all groups around it.
double left_in_groups() {
  double least = kNone;
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
      least =
          std::min(least, old ? left_in(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                        "total_inactive_file")
                              : left_in(folder, "/memory.max", "/memory.current", "inactive_file"));
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

}  // namespace

MemoryLimit memory_limit(const torch::Device& device) {
  if (context().memory_limit > 0) return {context().memory_limit, "--memory-limit"};
  if (device.is_cuda()) {
    const DeviceMemory memory = device_memory(device);
    return {static_cast<double>(memory.free + memory.used), "free on " + device.str()};
  }
  const double machine = value_of("/proc/meminfo", "MemAvailable:", kNone / 1024) * 1024;
  const double groups = left_in_groups();
  const Room room = room_left();
  MemoryLimit limit = {machine, "free on this machine"};
  if (groups < limit.bytes) limit = {groups, "left to this container"};
  if (static_cast<double>(room.bytes) < limit.bytes) {
    limit = {static_cast<double>(room.bytes), "left under " + room.limit};
  }
  limit.bytes += own_bytes();
  return limit;
}

}  // namespace grm
