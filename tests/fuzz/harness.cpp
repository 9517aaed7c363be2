// A libFuzzer program for the readers in the table of GRM_FUZZ_HEADER; called as fuzz_<reader> it
// fuzzes that one. A run is good if the reader returns or throws grm::Error, in time, without ever
// holding more than four times the input and a constant.
#include <sanitizer/allocator_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include GRM_FUZZ_HEADER
#include "grm/core/error.h"

namespace {

constexpr int64_t kConstant = int64_t{64} << 20;  // bytes
const grm::fuzz::Target* g_target = nullptr;
thread_local int64_t t_held = 0;
thread_local int64_t t_limit = 0;  // 0: nobody looks

void on_malloc(const volatile void* memory, size_t size) {
  if (t_limit == 0) return;
  t_held += static_cast<int64_t>(__sanitizer_get_allocated_size(memory));
  if (t_held <= t_limit) return;
  std::fprintf(stderr, "allocation of %zu bytes: %lld held, %lld allowed\n", size,
               static_cast<long long>(t_held), static_cast<long long>(t_limit));
  t_limit = 0;
  __sanitizer_print_stack_trace();
  std::abort();
}

void on_free(const volatile void* memory) {
  if (t_limit == 0 || memory == nullptr) return;
  t_held -= static_cast<int64_t>(__sanitizer_get_allocated_size(memory));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
  const std::string program = (*argv)[0];
  for (const grm::fuzz::Target& target : grm::fuzz::kTargets) {
    const std::string name = std::string("/fuzz_") + target.name;
    if (program.size() >= name.size() &&
        program.compare(program.size() - name.size(), name.size(), name) == 0) {
      g_target = &target;
    }
  }
  if (!g_target) {
    std::fprintf(stderr, "%s: call this program as fuzz_<reader>\n", program.c_str());
    std::exit(2);
  }
  __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = memfd_create("input", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  t_held = 0;
  t_limit = 4 * static_cast<int64_t>(size) + kConstant;
  try {
    g_target->read(path);
  } catch (const grm::Error&) {
    // What a broken file is answered with.
  }
  t_limit = 0;
  return 0;
}
