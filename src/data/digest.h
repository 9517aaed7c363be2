#pragma once

#include <torch/types.h>

#include <string>

namespace grm {

/// SHA-256 of a tensor's type, shape and bytes; "-" for an undefined one.
std::string tensor_digest(const torch::Tensor& tensor);

}  // namespace grm
