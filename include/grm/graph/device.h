#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

// Where numbers live. Topology, labels and index lists stay on the host and are copied to where
// they are used; parameters, features and everything computed from them live on one device.
namespace grm {

/// The device on which this thread's context computes (core/context.h): the CPU unless the caller
/// says otherwise, before it makes a model.
torch::Device compute_device();
/// Error(device) where the device is not there. For CUDA also asks libtorch for repeatable results.
void set_compute_device(const torch::Device& device);

/// "cpu", "cuda", "cuda:1" or "auto" (the first GPU, the CPU where there is none). Error(config)
/// for another word; Error(device), with what to do, where the program or the machine has no such
/// GPU.
torch::Device parse_device(const std::string& text);

/// "cpu", or "cuda:0, NVIDIA H200".
std::string describe_device(const torch::Device& device);

/// Whether this program was built with CUDA, and the number of GPUs that it sees.
bool built_with_cuda();
int cuda_devices();

/// Bytes of device memory; all 0 for the CPU. `peak`: the most that tensors held at a time.
struct DeviceMemory {
  int64_t total = 0;
  int64_t free = 0;
  int64_t used = 0;
  int64_t peak = 0;
};
DeviceMemory device_memory(const torch::Device& device);
void reset_peak_memory(const torch::Device& device);
/// Gives memory that no tensor uses back to the device, and lets the peak begin again.
void release_device_memory(const torch::Device& device);

/// Waits for all work on the device; clocks need it.
void synchronise(const torch::Device& device);

/// The tensor on that device: itself if it is there or undefined. Small host tensors travel through
/// pinned memory, so that the host does not wait for the device.
torch::Tensor on_device(const torch::Tensor& t, const torch::Device& device);
/// The tensor (an index list, labels) where `numbers` live.
torch::Tensor to_place_of(const torch::Tensor& t, const torch::Tensor& numbers);
/// Rows of x by an index list that may live elsewhere.
torch::Tensor select_rows(const torch::Tensor& x, const torch::Tensor& index);
/// The numbers of some scalars, read in one transfer: the host waits once, not once for each.
std::vector<double> read_scalars(const std::vector<torch::Tensor>& scalars);

}  // namespace grm
