#pragma once

#include <cstdint>
#include <functional>

namespace grm {

/// Number of threads used by our kernels, libtorch and OpenBLAS. It is one number for the whole
/// process, because that is how OpenMP's callers, libtorch and OpenBLAS keep theirs.
int threads();
void set_threads(int count);

/// Calls body(begin, end) on consecutive chunks of [0, n). The cut depends on n and chunk only,
/// never on the number of threads, so whatever a chunk computes is the same for any thread count.
/// Chunks are handed out dynamically; the first exception thrown by a chunk is rethrown here.
void parallel_chunks(int64_t n, int64_t chunk,
                     const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace grm
