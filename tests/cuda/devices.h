#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include "grm/graph/device.h"

namespace grm::test {

inline torch::Device gpu() {
  return parse_device("cuda");
}

/// The process computes on a device while this lives, and on the CPU after.
class OnDevice {
 public:
  explicit OnDevice(const torch::Device& device) { set_compute_device(device); }
  ~OnDevice() { set_compute_device(torch::Device(torch::kCPU)); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
};

/// The largest difference, as a share of the largest number (at least 1e-3).
inline double difference(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.sizes() != b.sizes()) return 1e30;
  if (a.numel() == 0) return 0.0;
  const torch::Tensor x = a.detach().to(torch::kCPU, torch::kFloat64);
  const torch::Tensor y = b.detach().to(torch::kCPU, torch::kFloat64);
  const double scale = std::max(x.abs().max().item<double>(), 1e-3);
  return (x - y).abs().max().item<double>() / scale;
}

}  // namespace grm::test
