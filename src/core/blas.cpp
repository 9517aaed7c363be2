#include "core/blas.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace grm {

void* blas_function(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  static void* const torch = [] {
    Dl_info place{};
    int (*const part)() = &at::get_num_threads;
    if (dladdr(reinterpret_cast<void*>(part), &place) == 0) return static_cast<void*>(nullptr);
    return dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return torch ? dlsym(torch, name) : nullptr;
}

}  // namespace grm
