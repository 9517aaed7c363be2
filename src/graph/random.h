#pragma once

#include <torch/types.h>

#include "grm/core/rng.h"

namespace grm {

/// Stream::fill_uniform and fill_normal of a contiguous float or double tensor, where it lives: a
/// GPU draws the same uniform numbers as the host, and the same normal ones to rounding.
void fill_uniform(const Stream& stream, const torch::Tensor& out, double low, double high);
void fill_normal(const Stream& stream, const torch::Tensor& out);

}  // namespace grm
