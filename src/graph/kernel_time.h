#pragma once

#include <functional>
#include <optional>

namespace grm {

/// Seconds during which kernels and copies of a GPU ran while `work` did, from libtorch's profiler:
/// the union of their intervals. Nothing in a program that was built without CUDA.
std::optional<double> kernel_seconds(const std::function<void()>& work);

}  // namespace grm
