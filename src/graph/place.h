#pragma once

#include <torch/types.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "core/kernel.h"

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

/// The queue of a GPU. Scratch memory goes into `held`, which may be let go right after the launch:
/// libtorch hands it on to later work of the same stream only.
Queue queue_of(const Place& place, std::vector<torch::Tensor>& held);

/// What stands in for kernels and calls of CUDA in a program that has none.
[[noreturn]] void built_without_cuda();

/// Calls a kernel on a GPU, with pointers of its memory.
template <class K, class... Arguments>
void on_gpu(const Place& place, Arguments&&... arguments) {
#ifdef GRM_CUDA
  std::vector<torch::Tensor> held;
  cuda_kernel<K>()(queue_of(place, held), std::forward<Arguments>(arguments)...);
#else
  (static_cast<void>(place), ..., static_cast<void>(arguments));
  built_without_cuda();
#endif
}

/// Calls a kernel where the numbers live.
template <class K, class... Arguments>
void launch(const Place& place, Arguments&&... arguments) {
  if (place.cuda) {
    on_gpu<K>(place, std::forward<Arguments>(arguments)...);
  } else {
    on_host<K>(std::forward<Arguments>(arguments)...);
  }
}

}  // namespace grm
