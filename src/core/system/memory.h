#pragma once

#include <string>

namespace grm {

/// Memory of the machine, or of the container that this process is in where that has less.
struct SystemMemory {
  double free = 0.0;       // bytes; infinity where the system does not tell
  double total = 0.0;      // bytes; 0 where the system does not tell
  bool container = false;  // `free` is what its limits leave
};
/// Free is what the system counts as available: pages of files are given up on demand. In a
/// container it is the least of what the control group of this process, and all groups around it,
/// still may take.
SystemMemory system_memory();

/// What this process holds in memory, in bytes.
double own_memory();

}  // namespace grm
