#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

// What we need of libtorch's CUDA side, behind functions: cuda_torch.cpp is the only file that
// includes its headers. In a program built without CUDA there are no devices, and the other
// functions must not be called.
namespace grm::cuda_torch {

/// Whether this program was built with CUDA.
bool built();
int device_count();
std::string device_name(int device);
/// Makes the device the current one, and asks libtorch for repeatable results there.
void set_device(int device);
void* current_stream(int device);
void synchronise(int device);

/// Free and total bytes of the device, and bytes of tensors now and at most.
struct Memory {
  int64_t free, total, used, peak;
};
Memory memory(int device);
void reset_peak(int device);
/// Gives cached memory that no tensor uses back to the device.
void release_cached();

/// Work that is recorded once and then repeated with one call. All tensors that it reads and writes
/// must stay where they are; nothing in it may wait for the device or allocate pinned memory.
class RecordedWork {
 public:
  RecordedWork();
  ~RecordedWork();
  RecordedWork(const RecordedWork&) = delete;
  RecordedWork& operator=(const RecordedWork&) = delete;
  /// Runs `body` in a stream of its own and records what it launches, without running it. Memory
  /// that it allocates belongs to the record, and may be memory of `before`, a record that never
  /// runs at the same time and leaves nothing that this one reads. What the body throws is thrown on.
  void record(const std::function<void()>& body, const RecordedWork* before = nullptr);
  bool recorded() const;
  /// Launches the record in the current stream.
  void replay();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs `body` in a stream of its own and lets the current stream wait for it: the passes before a
/// record, which make libtorch allocate what it keeps.
void in_side_stream(const std::function<void()>& body);

}  // namespace grm::cuda_torch
