#pragma once

#include <chrono>
#include <string>

namespace grm {

/// Seconds on a clock that never jumps.
class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_;
};

/// UTC time as 20260131T235959, for names of run folders.
std::string timestamp();

/// Largest resident size of this process so far, in MiB.
double peak_memory_mib();
/// Lets it begin again from what the process holds now, as far as the system allows.
void reset_peak_memory_mib();

}  // namespace grm
