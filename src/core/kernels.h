#pragma once

#include <cstdint>

#include "core/kernel.h"

namespace grm::kernels {

/// The key of a stream, as grm::Stream::key() gives it. A launch that is captured in a CUDA graph
/// and replayed with other keys names the place in device memory where the key will stand instead.
struct StreamKey {
  uint64_t value = 0;
  const uint64_t* place = nullptr;  // wins over `value`; on a GPU only
};

/// Fill out[0 .. n) from the Philox sequence `key`, starting at counter `block`, which stands for
/// four floats, two uniform doubles or one normal double. Both devices give the same integers, and
/// normal numbers that agree to 1e-6 (float) and 1e-14 (double). The host has floats only: its
/// doubles come from Stream, one by one.
template <class T>
struct philox_uniform
    : Kernel<void(T* out, int64_t n, StreamKey key, uint64_t block, T low, T high)> {};
template <class T>
struct philox_normal : Kernel<void(T* out, int64_t n, StreamKey key, uint64_t block)> {};

}  // namespace grm::kernels
