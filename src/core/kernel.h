#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include "core/cpu_variant.h"

// A kernel is declared once, in the kernels.h of its station, as a type that names its arguments:
//
//   template <class T>
//   struct row_sum : Kernel<void(const Pattern& a, const T* w, T* s)> {};
//
// The function cpu/*.cpp defines under that name in namespace grm::cpu::GRM_CPU_VARIANT becomes its
// CPU side by GRM_CPU_KERNEL(row_sum), the one in cuda/*.cu (namespace grm::cuda, a Queue in front
// of the arguments) its CUDA side by GRM_CUDA_KERNEL(row_sum). launch() of graph/place.h calls
// either. Arguments are raw pointers of that place.
namespace grm {

/// Where a CUDA kernel is launched. Calls return at once and throw std::runtime_error if a launch
/// fails; the same inputs give the same bits in every run.
struct Queue {
  void* stream = nullptr;                     // a cudaStream_t
  std::function<void*(size_t bytes)> memory;  // on the device, for work of this stream

  /// Memory that is the kernel's own until its work in the stream is done; null for 0 bytes.
  void* scratch(size_t bytes) const { return bytes > 0 ? memory(bytes) : nullptr; }
};

/// Kernels that run on the host, on a GPU, and on both.
template <class Signature>
struct CpuKernel;
template <class Result, class... Arguments>
struct CpuKernel<Result(Arguments...)> {
  using Cpu = Result (*)(Arguments...);
};
template <class Signature>
struct CudaKernel;
template <class... Arguments>
struct CudaKernel<void(Arguments...)> {
  using Cuda = void (*)(const Queue&, Arguments...);
};
template <class Signature>
struct Kernel : CpuKernel<Signature>, CudaKernel<Signature> {};

/// The functions, as the files of kernels hand them out.
template <class K, variants::Variant kVariant>
typename K::Cpu cpu_kernel();
template <class K>
typename K::Cuda cuda_kernel();

// Outside of namespaces. GRM_CPU_KERNEL and GRM_CUDA_KERNEL: for float and double.
#define GRM_CPU_KERNEL_OF(kernel, function)                     \
  namespace grm {                                               \
  template <>                                                   \
  kernel::Cpu cpu_kernel<kernel, variants::GRM_CPU_VARIANT>() { \
    return cpu::GRM_CPU_VARIANT::function;                      \
  }                                                             \
  }
#define GRM_CUDA_KERNEL_OF(kernel, function) \
  namespace grm {                            \
  template <>                                \
  kernel::Cuda cuda_kernel<kernel>() {       \
    return cuda::function;                   \
  }                                          \
  }
#define GRM_CPU_KERNEL(name)                           \
  GRM_CPU_KERNEL_OF(kernels::name<float>, name<float>) \
  GRM_CPU_KERNEL_OF(kernels::name<double>, name<double>)
#define GRM_CUDA_KERNEL(name)                           \
  GRM_CUDA_KERNEL_OF(kernels::name<float>, name<float>) \
  GRM_CUDA_KERNEL_OF(kernels::name<double>, name<double>)

// Functions of kernels call each other by their plain names and know the types of kernels.h.
namespace kernels {}
namespace cuda {
using namespace kernels;
}
#ifdef GRM_CPU_VARIANT
namespace cpu::GRM_CPU_VARIANT {
using namespace kernels;
}
#endif

#ifdef GRM_CPU_VARIANTS
namespace variants {
template <Variant...>
struct List {};
using Built = List<GRM_CPU_VARIANTS>;
}  // namespace variants

template <class K, variants::Variant... kVariants>
typename K::Cpu chosen_kernel(variants::List<kVariants...>) {
  typename K::Cpu found = nullptr;
  ((kVariants == cpu_variant() ? void(found = cpu_kernel<K, kVariants>()) : void()), ...);
  return found;
}

/// Calls a kernel on the host.
template <class K, class... Arguments>
auto on_host(Arguments&&... arguments) {
  static const typename K::Cpu run = chosen_kernel<K>(variants::Built());
  return run(std::forward<Arguments>(arguments)...);
}
#endif

}  // namespace grm
