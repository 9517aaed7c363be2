#include <algorithm>

#include "graph/kernels.h"

namespace grm::cpu::GRM_CPU_VARIANT {

void spread_rows(const int64_t* offset, const int32_t* index, const float* value,
                 const int64_t* rows, int64_t count, int64_t width, float* out) {
  std::fill(out, out + count * width, 0.0f);
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t e = offset[rows[k]]; e < offset[rows[k] + 1]; ++e) {
      out[k * width + index[e]] = value ? value[e] : 1.0f;
    }
  }
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL_OF(kernels::spread_rows, spread_rows)
