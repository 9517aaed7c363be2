#pragma once

#include <cstdint>
#include <string>

// What has to be done before libraries with threads of their own are loaded. Shared by the
// launcher, which loads none, and by the program behind it, which may also be started by itself.
namespace grm {

/// Opens /dev/null on those of the standard descriptors 0, 1 and 2 that are closed. Otherwise the
/// next file that is opened gets that number, and what is meant for a terminal goes into it.
void open_standard_descriptors();

/// Sets what OpenMP and OpenBLAS read from the environment when they are loaded, unless the user
/// did. True if something was set: a program that has loaded them already must start anew.
///
/// Threads that wait by spinning take the cores from whatever else runs; with two jobs on a machine
/// that costs a factor of ten. OpenBLAS threads poll for 2^OPENBLAS_THREAD_TIMEOUT cycles before
/// they sleep. OPENBLAS_CORETYPE: see better_blas_core. Under a limit of memory OpenBLAS is loaded
/// with one thread; others are added when it is known that there is room.
bool set_load_environment();

/// Room that the limits of this process (ulimit -v and ulimit -d) leave beside what is mapped by
/// now.
struct Room {
  uint64_t bytes = UINT64_MAX;
  std::string limit;  // the narrower one, as it is typed: "ulimit -v 2000000"; empty: there is none
};
Room room_left();

/// Address space, and data in it, that the program takes before it does anything, with one thread.
constexpr uint64_t kProgramSpace = 700ull << 20, kProgramData = 160ull << 20;
/// What each thread takes besides: a buffer of OpenBLAS (128 MiB), two stacks and a heap.
constexpr uint64_t kThreadSpace = 224ull << 20;

/// Why the program cannot be loaded under the limits of this process; empty if it can.
std::string limits_too_small();

}  // namespace grm
