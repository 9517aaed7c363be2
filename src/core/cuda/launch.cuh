#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/kernel.h"

// What every CUDA file needs: launching, vectors of 16 bytes, sums over the lanes of a warp. Sums
// go along fixed trees, so that a kernel gives the same bits in every run.
namespace grm::cuda {

constexpr int kWarp = 32;
constexpr int kBlock = 256;  // threads of a block unless said otherwise
constexpr unsigned kAllLanes = 0xFFFFFFFFu;

inline cudaStream_t stream_of(const Queue& queue) {
  return static_cast<cudaStream_t>(queue.stream);
}

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("CUDA, ") + what + ": " + cudaGetErrorString(status));
}

inline void check_launch(const char* what) {
  check(cudaGetLastError(), what);
}

inline unsigned blocks_for(int64_t items, int64_t per_block) {
  const int64_t blocks = (items + per_block - 1) / per_block;
  if (blocks > INT32_MAX) throw std::runtime_error("CUDA: more blocks than one launch can have");
  return static_cast<unsigned>(blocks);
}

inline bool aligned16(const void* p) {
  return reinterpret_cast<uintptr_t>(p) % 16 == 0;
}

/// What the current device allows; asked once for each.
inline int64_t device_limit(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "the current device");
  static std::mutex mutex;
  static std::map<std::pair<int, int>, int> known;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [found, added] = known.emplace(std::pair(device, static_cast<int>(attribute)), 0);
  if (added) {
    check(cudaDeviceGetAttribute(&value, attribute, device), "a limit of the device");
    found->second = value;
  }
  return found->second;
}

/// Raises the limit of dynamic shared memory of a kernel where it is above the default.
template <class Kernel>
inline void allow_shared(Kernel kernel, size_t bytes, const char* what) {
  if (static_cast<int64_t>(bytes) <= device_limit(cudaDevAttrMaxSharedMemoryPerBlock)) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        what);
}

/// kCount numbers that are read and written in one access.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Vec {
  T at[kCount];
};

template <class T>
constexpr int kVector = 16 / static_cast<int>(sizeof(T));  // numbers of a 16-byte access

template <class T, int V>
__device__ inline Vec<T, V> load(const T* p) {
  return *reinterpret_cast<const Vec<T, V>*>(p);
}

template <class T, int V>
__device__ inline void store(T* p, const Vec<T, V>& value) {
  *reinterpret_cast<Vec<T, V>*>(p) = value;
}

template <class T>
__device__ inline T warp_sum(T value) {
#pragma unroll
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, offset);
  }
  return value;
}

template <class T>
__device__ inline T warp_max(T value) {
#pragma unroll
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const T other = __shfl_xor_sync(kAllLanes, value, offset);
    value = other > value ? other : value;
  }
  return value;
}

/// Sums kCount numbers over groups of 2 kOffset lanes. While there is more than one number, each
/// half of the lanes gives away half of them: kCount numbers cost little more than one. Returns the
/// position of the first number that the lane is left with.
template <int kCount, int kOffset, class T>
__device__ inline int scatter_sum(T* value, int lane) {
  if constexpr (kOffset == 0) {
    return 0;
  } else if constexpr (kCount == 1) {
    value[0] += __shfl_xor_sync(kAllLanes, value[0], kOffset);
    return scatter_sum<1, kOffset / 2>(value, lane);
  } else {
    constexpr int kHalf = kCount / 2;
    const bool upper = (lane & kOffset) != 0;
#pragma unroll
    for (int k = 0; k < kHalf; ++k) {
      const T give = upper ? value[k] : value[k + kHalf];
      const T keep = upper ? value[k + kHalf] : value[k];
      value[k] = keep + __shfl_xor_sync(kAllLanes, give, kOffset);
    }
    return (upper ? kHalf : 0) + scatter_sum<kHalf, kOffset / 2>(value, lane);
  }
}

__device__ inline int64_t global_warp() {
  return (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
}

__device__ inline int64_t global_thread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// The row r with offset[r] <= at < offset[r + 1], found by a whole warp with 32 probes a step.
/// offset[0] <= at < offset[rows].
__device__ inline int64_t find_row(const int64_t* offset, int64_t rows, int64_t at, int lane) {
  int64_t low = 0, high = rows;
  while (high - low > 1) {
    const int64_t step = (high - low + kWarp - 1) / kWarp;
    const int64_t probe = low + (lane + 1) * step;
    const unsigned hits = __ballot_sync(kAllLanes, probe < high && offset[probe] <= at);
    low += __popc(hits) * step;
    high = low + step < high ? low + step : high;
  }
  return low;
}

}  // namespace grm::cuda
