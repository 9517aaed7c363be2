#pragma once

#include <benchmark/benchmark.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "grm/core/rng.h"
#include "grm/core/threads.h"

// Operators beside their plain formulations, in one run: benchmarks are named
// <op>/<forward|both>/<formulation>/d:<width>/threads:<n>, and `both` is forward and backward.
// Included by one file of a program: it replaces the program's allocators by counting ones.
namespace grm::bench {

using torch::Tensor;

// --- memory
// ----------------------------------------------------------------------------------------

inline std::atomic<int64_t> live_bytes{0}, peak_bytes{0};

inline void* counted_memory(size_t size) {
  constexpr size_t kHeader = 64;
  const size_t whole = (size + kHeader + 63) / 64 * 64;
  auto* memory = static_cast<char*>(std::aligned_alloc(64, whole));
  if (!memory) throw std::bad_alloc();
  *reinterpret_cast<size_t*>(memory) = size;
  const int64_t now = live_bytes += static_cast<int64_t>(size);
  int64_t peak = peak_bytes;
  while (peak < now && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return memory + kHeader;
}

inline void free_counted(void* data) {
  if (!data) return;
  char* memory = static_cast<char*>(data) - 64;
  live_bytes -= static_cast<int64_t>(*reinterpret_cast<size_t*>(memory));
  std::free(memory);
}

/// Tensors' memory; kernels' work space comes through operator new below.
struct CountingAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t size) const override {
    void* data = counted_memory(size);
    return {data, data, &free_counted, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_counted; }
};

/// To be called first in main(). Large blocks are kept, as in the program, so that nobody is timed
/// asking the system for memory.
inline void count_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  static CountingAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/100);
}

// --- time
// ------------------------------------------------------------------------------------------

inline Tensor normal(std::vector<int64_t> sizes, const std::string& name) {
  Tensor t = torch::empty(sizes, torch::kFloat32);
  Rng(1).stream(name).fill_normal(t.data_ptr<float>(), t.numel());
  return t;
}

/// The leaves of the benchmark at hand: their gradients are dropped after every pass, so that
/// adding to the last one is not timed.
inline std::vector<Tensor>& leaves() {
  static std::vector<Tensor> list;
  return list;
}

inline Tensor leaf(const Tensor& t) {
  leaves().push_back(t.detach().clone().requires_grad_());
  return leaves().back();
}

/// What a formulation computes.
struct Outputs {
  Outputs(const Tensor& one) : list{one} {}
  Outputs(const std::pair<Tensor, Tensor>& two) : list{two.first, two.second} {}
  std::vector<Tensor> list;
};
using Formulation = std::function<Outputs()>;
using Make = std::function<Formulation(int64_t d)>;

/// Times forward alone, or forward and backward with ones as the cotangents; the counter
/// `peak_mib` is what one pass allocates at most, its results included.
inline void measure(benchmark::State& state, int threads, bool backward, const Formulation& call) {
  set_threads(threads);
  std::vector<Tensor> cotangents;
  const auto once = [&] {
    if (backward) {
      const Outputs y = call();
      if (cotangents.empty()) {
        for (const Tensor& t : y.list) cotangents.push_back(torch::ones_like(t));
      }
      torch::autograd::backward(y.list, cotangents);
      for (Tensor& t : leaves()) t.mutable_grad() = Tensor();
    } else {
      const at::NoGradGuard no_grad;
      benchmark::DoNotOptimize(call());
    }
  };
  once();
  const int64_t before = live_bytes;
  peak_bytes = before;
  once();
  state.counters["peak_mib"] = static_cast<double>(peak_bytes - before) / (1 << 20);
  for (auto _ : state) once();
}

inline void add(const std::string& op, const std::string& formulation, std::vector<int64_t> widths,
                bool with_backward, const Make& make) {
  for (int64_t d : widths) {
    for (bool backward : {false, true}) {
      if (backward && !with_backward) continue;
      for (int threads : {1, 2}) {
        const std::string name = fmt::format(
            "{}/{}/{}/d:{}/threads:{}", op, backward ? "both" : "forward", formulation, d, threads);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=](benchmark::State& state) {
                                       leaves().clear();
                                       measure(state, threads, backward, make(d));
                                     })
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime()
            ->MinTime(0.2);
      }
    }
  }
}

}  // namespace grm::bench

// Work space of kernels is counted as well.
void* operator new(size_t size) {
  return grm::bench::counted_memory(size);
}
void operator delete(void* data) noexcept {
  grm::bench::free_counted(data);
}
void operator delete(void* data, size_t) noexcept {
  grm::bench::free_counted(data);
}
