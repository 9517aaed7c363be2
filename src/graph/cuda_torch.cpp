#include "graph/cuda_torch.h"

#include "graph/place.h"
#include "grm/core/error.h"

#ifdef GRM_CUDA
#include <ATen/Context.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/types.h>
#include <torch/version.h>
#endif

namespace grm::cuda_torch {

#ifdef GRM_CUDA

namespace {

c10::DeviceIndex as_index(int device) {
  return static_cast<c10::DeviceIndex>(device);
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  fail(ErrorKind::device, "CUDA, {}: {}", what, cudaGetErrorString(status));
}

// The allocator and its statistics exist once libtorch has put a tensor on the device.
void start_allocator(int device) {
  torch::empty({1}, torch::Device(torch::kCUDA, as_index(device)));
}

// Lets the stream `after` wait for what is in the stream `before` by now.
void put_after(cudaStream_t before, cudaStream_t after) {
  cudaEvent_t event;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event");
  const cudaError_t recorded = cudaEventRecord(event, before);
  const cudaError_t waits = cudaStreamWaitEvent(after, event, 0);
  cudaEventDestroy(event);  // goes when the wait is over
  check(recorded, "recording an event");
  check(waits, "waiting for an event");
}

}  // namespace

bool built() {
  return true;
}

int device_count() {
  return c10::cuda::device_count();
}

std::string device_name(int device) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "properties of a device");
  return properties.name;
}

void set_device(int device) {
  c10::cuda::set_device(as_index(device));
  start_allocator(device);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
  // All memory that we read was written: filling it first would be one launch for each tensor.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
#endif
}

void* current_stream(int device) {
  return c10::cuda::getCurrentCUDAStream(as_index(device)).stream();
}

void synchronise(int device) {
  const c10::cuda::CUDAGuard guard(as_index(device));
  check(cudaDeviceSynchronize(), "waiting for a device");
}

Memory memory(int device) {
  start_allocator(device);
  const c10::cuda::CUDAGuard guard(as_index(device));
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "memory of a device");
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(as_index(device));
  const auto& bytes = stats.allocated_bytes[0];  // of all pools together
  return {static_cast<int64_t>(free), static_cast<int64_t>(total), bytes.current, bytes.peak};
}

void reset_peak(int device) {
  start_allocator(device);
  c10::cuda::CUDACachingAllocator::resetPeakStats(as_index(device));
}

void release_cached() {
  c10::cuda::CUDACachingAllocator::emptyCache();
}

void in_side_stream(const std::function<void()>& body) {
  const c10::cuda::CUDAStream before = c10::cuda::getCurrentCUDAStream();
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool(false, before.device_index());
  put_after(before.stream(), side.stream());
  {
    const c10::cuda::CUDAStreamGuard guard(side);
    body();
  }
  put_after(side.stream(), before.stream());
}

struct RecordedWork::State {
  at::cuda::CUDAGraph graph;
  bool recorded = false;
};

RecordedWork::RecordedWork() : state_(std::make_unique<State>()) {}
RecordedWork::~RecordedWork() = default;

void RecordedWork::record(const std::function<void()>& body, const RecordedWork* before_this) {
  ensure(!state_->recorded, "RecordedWork: recorded twice");
  const c10::cuda::CUDAStream before = c10::cuda::getCurrentCUDAStream();
  const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool(false, before.device_index());
  check(cudaDeviceSynchronize(), "waiting before a record");
  {
    const c10::cuda::CUDAStreamGuard guard(side);
    if (before_this) {
      state_->graph.capture_begin(before_this->state_->graph.pool());
    } else {
      state_->graph.capture_begin();
    }
    try {
      body();
    } catch (...) {
      // The capture must end before anything else can run; its own complaint is of no interest.
      try {
        state_->graph.capture_end();
      } catch (...) {
      }
      throw;
    }
    state_->graph.capture_end();
  }
  state_->recorded = true;
}

bool RecordedWork::recorded() const {
  return state_->recorded;
}

void RecordedWork::replay() {
  ensure(state_->recorded, "RecordedWork: nothing is recorded");
  state_->graph.replay();
}

#else

bool built() {
  return false;
}
int device_count() {
  return 0;
}
std::string device_name(int) {
  built_without_cuda();
}
void set_device(int) {
  built_without_cuda();
}
void* current_stream(int) {
  built_without_cuda();
}
void synchronise(int) {
  built_without_cuda();
}
Memory memory(int) {
  built_without_cuda();
}
void reset_peak(int) {
  built_without_cuda();
}
void release_cached() {
  built_without_cuda();
}
void in_side_stream(const std::function<void()>&) {
  built_without_cuda();
}

struct RecordedWork::State {};
RecordedWork::RecordedWork() {
  built_without_cuda();
}
RecordedWork::~RecordedWork() = default;
void RecordedWork::record(const std::function<void()>&, const RecordedWork*) {
  built_without_cuda();
}
bool RecordedWork::recorded() const {
  built_without_cuda();
}
void RecordedWork::replay() {
  built_without_cuda();
}

#endif

}  // namespace grm::cuda_torch
