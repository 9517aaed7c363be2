#include "core/start.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <tuple>

#include "core/cpu.h"

namespace grm {
namespace {

constexpr uint64_t kNone = UINT64_MAX;

uint64_t soft_limit(int what) {
  struct rlimit limit {};
  const bool known = getrlimit(static_cast<__rlimit_resource>(what), &limit) == 0;
  return !known || limit.rlim_cur == RLIM_INFINITY ? kNone : limit.rlim_cur;
}

}  // namespace

void open_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is taken, and those below are open by now.
    if (open("/dev/null", O_RDWR) < 0) return;
  }
}

bool set_load_environment() {
  bool changed = false;
  const auto set = [&changed](const char* name, const char* value) {
    if (std::getenv(name)) return;
    setenv(name, value, 1);
    changed = true;
  };
  if (!std::getenv("OMP_WAIT_POLICY") && !std::getenv("GOMP_SPINCOUNT")) {
    set("OPENBLAS_THREAD_TIMEOUT", "10");
    set("OMP_WAIT_POLICY", "passive");
  }
  const std::string core = better_blas_core(this_cpu());
  if (!core.empty()) set("OPENBLAS_CORETYPE", core.c_str());
  if (!room_left().limit.empty()) set("OPENBLAS_NUM_THREADS", "1");
  return changed;
}

Room room_left() {
  std::ifstream statm("/proc/self/statm");
  uint64_t pages[6] = {};  // of all, resident, shared, text, libraries, data
  for (uint64_t& count : pages) statm >> count;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  Room room;
  for (const auto& [limit, used, name] :
       {std::tuple(soft_limit(RLIMIT_AS), pages[0] * page, "ulimit -v "),
        std::tuple(soft_limit(RLIMIT_DATA), pages[5] * page, "ulimit -d ")}) {
    const uint64_t left = limit > used ? limit - used : 0;
    if (limit != kNone && left < room.bytes) room = {left, name + std::to_string(limit >> 10)};
  }
  return room;
}

std::string limits_too_small() {
  for (const auto& [limit, needed, name] :
       {std::tuple(soft_limit(RLIMIT_AS), kProgramSpace + kThreadSpace, "ulimit -v "),
        std::tuple(soft_limit(RLIMIT_DATA), kProgramData + kThreadSpace, "ulimit -d ")}) {
    if (limit >= needed) continue;
    return "the limit of memory (" + (name + std::to_string(limit >> 10)) +
           ") is too small: the program needs at least " + std::to_string(needed >> 10) +
           " to begin with; raise it, or lift it with '" + name + "unlimited'";
  }
  return "";
}

}  // namespace grm
