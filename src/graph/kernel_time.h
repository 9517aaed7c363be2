#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace grm {

/// What a GPU and its host did during some work, from libtorch's profiler.
struct DeviceWork {
  double busy = 0;  // seconds during which kernels and copies ran: the union of their intervals
  int64_t launches = 0;  // calls of the host that start something: kernels, recorded steps, copies
  int64_t waits = 0;     // calls of the host that wait for the device
  struct Kernel {
    std::string name;
    int64_t runs = 0;
    double seconds = 0;
  };
  std::vector<Kernel> kernels;  // those that take longest come first
};

/// Nothing in a program that was built without CUDA.
std::optional<DeviceWork> device_work(const std::function<void()>& work);

}  // namespace grm
