#include "grm/core/threads.h"

#include <ATen/Parallel.h>
#include <omp.h>

#include <algorithm>
#include <exception>

#include "core/blas.h"
#include "grm/core/context.h"

namespace grm {
namespace {
int g_threads = 0;
}

int threads() {
  return g_threads > 0 ? g_threads : omp_get_num_procs();
}

void set_threads(int count) {
  g_threads = std::max(1, count);
  // libtorch sets OpenMP's count to its own default on first use unless it was told before.
  at::set_num_threads(g_threads);
  // OpenBLAS, if that is the BLAS in use, runs threads of its own and counts them itself.
  using SetThreads = void (*)(int);
  static const auto set_blas_threads =
      reinterpret_cast<SetThreads>(blas_function("openblas_set_num_threads"));
  if (set_blas_threads) set_blas_threads(g_threads);
}

void parallel_chunks(int64_t n, int64_t chunk, const std::function<void(int64_t, int64_t)>& body) {
  if (n <= 0) return;
  chunk = std::max<int64_t>(chunk, 1);
  const int64_t count = (n + chunk - 1) / chunk;
  if (count == 1 || threads() == 1 || omp_in_parallel()) {
    for (int64_t c = 0; c < count; ++c) body(c * chunk, std::min(n, (c + 1) * chunk));
    return;
  }
  std::exception_ptr error;
  Context& callers = context();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads())
  for (int64_t c = 0; c < count; ++c) {
    try {
      const ContextScope scope(callers);
      body(c * chunk, std::min(n, (c + 1) * chunk));
    } catch (...) {
#pragma omp critical(grm_parallel_error)
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace grm
