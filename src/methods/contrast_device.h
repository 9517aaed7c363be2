#pragma once

#include <torch/types.h>

#include <cstdint>

namespace grm {

/// What contrast.cpp computes on the host, on a GPU: the two terms of the loss, [2] double there
/// (contrast, conditional), and the gradients with respect to the unit rows u and v.
struct DeviceContrast {
  torch::Tensor terms;
  torch::Tensor gradient[2];
};
DeviceContrast device_contrast(const torch::Tensor& u, const torch::Tensor& v,
                               const torch::Tensor& y1, const torch::Tensor& y2, double tau,
                               double gamma, int64_t block);

}  // namespace grm
