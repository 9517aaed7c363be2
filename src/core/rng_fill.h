#pragma once

#include <cstdint>

namespace grm::kernels {

// Fill out[0 .. n) from the Philox sequence `key`, starting at counter `block` (four numbers each).
void philox_uniform(float* out, int64_t n, uint64_t key, uint64_t block, float low, float high);
void philox_normal(float* out, int64_t n, uint64_t key, uint64_t block);

}  // namespace grm::kernels
