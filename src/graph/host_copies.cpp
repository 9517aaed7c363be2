#include "graph/host_copies.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "graph/cuda_torch.h"

namespace grm {
namespace {

std::mutex uses_mutex;
std::vector<std::pair<void*, HostCopies*>> uses;  // by stream
std::atomic<int> use_count{0};                    // so that others need not lock

// Views are made anew at every call; their numbers are the same if memory and shape are.
bool same_numbers(const torch::Tensor& a, const torch::Tensor& b) {
  return a.data_ptr() == b.data_ptr() && a.scalar_type() == b.scalar_type() &&
         a.sizes() == b.sizes() && a.strides() == b.strides();
}

torch::Tensor copied_to(const torch::Tensor& host, const torch::Device& device) {
  if (host.numel() == 0) return host.to(device);
  return host.contiguous().pin_memory().to(device, /*non_blocking=*/true);
}

}  // namespace

torch::Tensor HostCopies::get(const torch::Tensor& host, const torch::Device& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto version = static_cast<uint32_t>(host._version());
  for (const Kept& kept : kept_) {
    if (kept.version == version && same_numbers(kept.host, host)) return kept.copy;
  }
  if (sealed_) {
    for (const Kept& kept : kept_) {
      if (kept.host.scalar_type() == host.scalar_type() && torch::equal(kept.host, host)) {
        return kept.copy;
      }
    }
    complete_ = false;
    return copied_to(host, device);
  }
  kept_.push_back({host, copied_to(host, device), version});
  return kept_.back().copy;
}

HostCopies::Use::Use(HostCopies& copies, const torch::Device& device)
    : stream_(cuda_torch::current_stream(device.index())) {
  const std::lock_guard<std::mutex> lock(uses_mutex);
  uses.emplace_back(stream_, &copies);
  ++use_count;
}

HostCopies::Use::~Use() {
  const std::lock_guard<std::mutex> lock(uses_mutex);
  const auto last = std::find_if(uses.rbegin(), uses.rend(),
                                 [&](const auto& use) { return use.first == stream_; });
  uses.erase(std::next(last).base());
  --use_count;
}

HostCopies* HostCopies::current(const torch::Device& device) {
  if (use_count == 0) return nullptr;
  void* stream = cuda_torch::current_stream(device.index());
  const std::lock_guard<std::mutex> lock(uses_mutex);
  for (auto use = uses.rbegin(); use != uses.rend(); ++use) {
    if (use->first == stream) return use->second;
  }
  return nullptr;
}

}  // namespace grm
