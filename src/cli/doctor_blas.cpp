// The part of 'grm doctor' that looks at matrix products: which library, which kernels, how fast.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/doctor.h"
#include "core/clock.h"
#include "core/cpu.h"
#include "core/cpu_variant.h"
#include "grm/core/threads.h"
#include "train/run_folder.h"

namespace grm::cli {
namespace {

using Mark = Finding::Mark;
constexpr double kSlowest = 5.0;    // GFLOP/s; the reference BLAS stays below it
constexpr double kExpected = 0.35;  // of the peak; kernels for another processor stay below it
constexpr int kProducts = 12;

// Best of a few products of the size that training does most.
double sgemm_gflops() {
  const torch::Tensor a = torch::randn({10000, 128}), b = torch::randn({128, 128});
  double best = 1e9;
  for (int k = 0; k < kProducts; ++k) {
    const Stopwatch watch;
    const torch::Tensor c = a.matmul(b);
    best = std::min(best, watch.seconds());
  }
  return 2.0 * 10000 * 128 * 128 / best * 1e-9;
}

// The file that single-precision products come from, where that can be told.
std::string blas_file() {
  Dl_info info{};
  void* symbol = dlsym(RTLD_DEFAULT, "sgemm_");
  if (!symbol || dladdr(symbol, &info) == 0 || !info.dli_fname) return "";
  std::error_code code;
  const auto real = std::filesystem::canonical(info.dli_fname, code);
  return code ? info.dli_fname : real.string();
}

// Cores that this process may use; two threads of one core share its units.
int own_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  std::set<std::string> cores;
  for (int k = 0; k < CPU_SETSIZE; ++k) {
    if (!CPU_ISSET(k, &allowed)) continue;
    std::ifstream in(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", k));
    std::string siblings = fmt::format("alone {}", k);
    std::getline(in, siblings);
    cores.insert(siblings);
  }
  return static_cast<int>(cores.size());
}

// The fastest clock that the system names, or 0.
double gigahertz() {
  std::ifstream in("/proc/cpuinfo");
  double fastest = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("cpu MHz", 0) != 0) continue;
    fastest = std::max(fastest, std::strtod(line.c_str() + line.find(':') + 1, nullptr));
  }
  return fastest / 1000;
}

Finding examine_library(const std::string& name) {
  const std::string file = blas_file();
  Finding blas{"blas", name == "unknown" && !file.empty() ? file : name, Mark::ok, "", {}};
  if (name == "unknown") {
    blas.level = Mark::fix;
    blas.advice =
        "neither OpenBLAS nor MKL: the reference BLAS makes training 14 times slower. apt-get "
        "install libopenblas-dev, then update-alternatives --config "
        "libblas.so.3-$(uname -m)-linux-gnu";
  }
  return blas;
}

// How OpenBLAS is told to use kernels that fit.
std::string core_advice(const Cpu& cpu) {
  const char* told = std::getenv("OPENBLAS_CORETYPE");
  if (told && better_blas_core(cpu) != told) return "unset OPENBLAS_CORETYPE";
  return "export OPENBLAS_CORETYPE=" + blas_core_of(cpu);
}

Finding examine_core(const Cpu& cpu, const std::string& core) {
  Finding finding{"blas core", core, Mark::ok, "", {}};
  if (const char* told = std::getenv("OPENBLAS_CORETYPE")) {
    finding.value += fmt::format(" (OPENBLAS_CORETYPE={})", told);
  }
  if (blas_core_too_old(cpu, core)) {
    finding.level = Mark::fix;
    finding.advice = fmt::format(
        "kernels for an older processor, this one has {}: training takes up to twice as long. {}",
        cpu.avx512 ? "AVX-512" : "AVX2 and FMA", core_advice(cpu));
  }
  return finding;
}

// Which of our own kernels run; GRM_CPU asks for others.
Finding examine_kernels(const Cpu& cpu) {
  std::string built;
  for (const auto variant : built_variants()) {
    built += (built.empty() ? "" : ", ") + variant_name(variant);
  }
  const auto used = cpu_variant();
  Finding finding{
      "kernels", fmt::format("{} (of {})", variant_name(used), built), Mark::ok, "", {}};
  if (used != variants::plain && used + 1 < cpu.level) {
    finding.level = Mark::note;
    finding.advice = fmt::format("for an older processor, this one is x86-64-v{}: {}", cpu.level,
                                 built_variants().back() > used
                                     ? "unset GRM_CPU"
                                     : "build the program here, or with -DGRM_CPU_VARIANTS=all");
  }
  return finding;
}

Finding examine_rate(const Cpu& cpu, const std::string& library, const std::string& core) {
  const double rate = sgemm_gflops(), clock = gigahertz();
  const int cores = std::min(own_cores(), grm::threads());
  const double peak = flops_per_cycle(cpu) * clock * cores;
  Finding speed{"sgemm", fmt::format("{:.1f} GFLOP/s", rate), Mark::ok, "", {}};
  if (peak > 0 && !cpu.vendor.empty()) {
    speed.value += fmt::format(", {:.0f} % of what {} core{} at {:.1f} GHz could do at best",
                               100 * rate / peak, cores, cores == 1 ? "" : "s", clock);
  }
  if (rate < kSlowest) {
    speed.level = library == "unknown" ? Mark::fix : Mark::note;
    speed.advice = "slow for this century: check the BLAS above, or what else runs here";
  } else if (!cpu.vendor.empty() && rate < kExpected * peak) {
    speed.level = Mark::note;
    speed.advice =
        fmt::format("less than {:.0f} % is slow: {}", 100 * kExpected,
                    blas_core_too_old(cpu, core) ? core_advice(cpu)
                                                 : "see what else runs here, and measure again");
  }
  return speed;
}

}  // namespace

std::vector<Finding> examine_blas() {
  const Cpu cpu = this_cpu();
  const std::string library = blas_name(), core = blas_core();
  std::vector<Finding> found = {examine_library(library)};
  if (!core.empty()) found.push_back(examine_core(cpu, core));
  found.push_back(examine_kernels(cpu));
  found.push_back(examine_rate(cpu, library, core));
  return found;
}

}  // namespace grm::cli
