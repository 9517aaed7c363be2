// Times on realistic sizes, beside the copy bandwidth of the same run.
#include "measure.h"

namespace test {
namespace {

__global__ void copy_kernel(const float4* from, float4* to, int64_t n) {
  int64_t k = static_cast<int64_t>(blockIdx.x) * 1024 + threadIdx.x;
  float4 value[4];
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    if (k + u * 256 < n) value[u] = from[k + u * 256];
  }
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    if (k + u * 256 < n) to[k + u * 256] = value[u];
  }
}

void copies() {
  Random random(1);
  const Array<float> from(uniform<float>(random, 1 << 20));
  for (const size_t bytes : {size_t{1} << 30, size_t{1} << 23}) {
    const Array<char> a(bytes), b(bytes);
    for (size_t at = 0; at < bytes; at += from.bytes()) {
      must(cudaMemcpy(a.get() + at, from.get(), from.bytes(), cudaMemcpyDeviceToDevice), "fill");
    }
    const int64_t n = static_cast<int64_t>(bytes / 16);
    const double us = time_of(
        [&] {
          copy_kernel<<<static_cast<unsigned>((n + 1023) / 1024), 256, 0, stream()>>>(
              reinterpret_cast<const float4*>(a.get()), reinterpret_cast<float4*>(b.get()), n);
        },
        10);
    line(bytes > (1 << 26) ? "copy, 1 GiB" : "copy, 8 MiB (in L2)", us, 2.0 * bytes, 0,
         "read + written");
  }
}

}  // namespace

void measure() {
  Random random(17);
  std::printf("\n| %-44s | %9s | %8s | %8s | %s |\n", "time", "us", "GB/s", "TFLOP/s", "counted");
  std::printf("|---|---|---|---|---|\n");
  copies();
  measure_sparse(random);
  measure_dense(random);
}

}  // namespace test
