#pragma once

#include <torch/types.h>

#include <cstddef>

namespace grm {

/// Where a kernel runs: on the host, or on a GPU in a stream.
struct Place {
  bool cuda = false;
  int device = 0;
  void* stream = nullptr;

  torch::Device torch_device() const {
    return cuda ? torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(device))
                : torch::Device(torch::kCPU);
  }
};

/// Where `t` lives, with the current stream there.
Place place_of(const torch::Tensor& t);

/// Scratch memory of a kernel; undefined for 0 bytes. It may be let go right after the launch:
/// libtorch hands it on to later work of the same stream only.
torch::Tensor workspace(const Place& place, size_t bytes);
inline void* workspace_data(const torch::Tensor& t) {
  return t.defined() ? t.data_ptr() : nullptr;
}

/// What stands in for kernels and calls of CUDA in a program that has none.
[[noreturn]] void built_without_cuda();

}  // namespace grm
