#include "core/cpu.h"

#include <strings.h>

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace grm {
namespace {

// Hygon's processors are AMD's.
bool is_amd(const Cpu& cpu) {
  return cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine";
}

}  // namespace

Cpu this_cpu() {
  Cpu cpu;
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx)) return cpu;
  char vendor[13] = {};
  std::memcpy(vendor, &ebx, 4);
  std::memcpy(vendor + 4, &edx, 4);
  std::memcpy(vendor + 8, &ecx, 4);
  cpu.vendor = vendor;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return cpu;
  const int family = static_cast<int>(eax >> 8 & 0xf), model = static_cast<int>(eax >> 4 & 0xf);
  cpu.family = family == 15 ? 15 + static_cast<int>(eax >> 20 & 0xff) : family;
  cpu.model =
      family == 6 || family == 15 ? model + (static_cast<int>(eax >> 16 & 0xf) << 4) : model;
  __builtin_cpu_init();  // its flags take into account what the system saves
  cpu.avx = __builtin_cpu_supports("avx") != 0;
  cpu.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  cpu.avx512 = cpu.avx2 && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  unsigned more_ecx = 0, leaf7_ebx = 0, unused = 0;
  __get_cpuid(0x80000001, &unused, &unused, &more_ecx, &unused);
  __get_cpuid_count(7, 0, &unused, &leaf7_ebx, &unused, &unused);
  const auto all = [](unsigned flags, unsigned wanted) { return (flags & wanted) == wanted; };
  const bool v2 =
      all(ecx, bit_SSE3 | bit_SSSE3 | bit_CMPXCHG16B | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT) &&
      all(more_ecx, bit_LAHF_LM);
  const bool v3 = v2 && cpu.avx2 && all(ecx, bit_FMA | bit_MOVBE | bit_F16C) &&
                  all(leaf7_ebx, bit_BMI | bit_BMI2) && all(more_ecx, bit_LZCNT);
  cpu.level = v3 && cpu.avx512 ? 4 : v3 ? 3 : v2 ? 2 : 1;
#endif
  return cpu;
}

std::string blas_core_of(const Cpu& cpu) {
  if (!cpu.avx2) return "";
  return cpu.avx512 ? "SkylakeX" : is_amd(cpu) ? "Zen" : "Haswell";
}

std::string better_blas_core(const Cpu& cpu) {
  const bool intel = cpu.vendor == "GenuineIntel", amd = is_amd(cpu);
  const bool misjudged = (intel && (cpu.family >= 15 || (cpu.family == 6 && cpu.model >= 176))) ||
                         (amd && (cpu.family == 15 || cpu.family == 17));
  return misjudged ? blas_core_of(cpu) : "";
}

bool blas_core_too_old(const Cpu& cpu, const std::string& core) {
  constexpr std::array<const char*, 17> kWithoutFma = {
      "Katmai", "Coppermine", "Northwood",  "Prescott", "Banias",      "Atom",
      "Core2",  "Penryn",     "Dunnington", "Nehalem",  "Sandybridge", "Athlon",
      "Nano",   "Opteron",    "Barcelona",  "Bobcat",   "Opteron_SSE3"};
  if (!cpu.avx2) return false;
  for (const char* name : kWithoutFma) {
    if (strcasecmp(core.c_str(), name) == 0) return true;
  }
  return false;
}

double flops_per_cycle(const Cpu& cpu) {
  // Two units that multiply and add. The fourth generation of Zen does 512 bits in two halves.
  if (cpu.avx512) return is_amd(cpu) && cpu.family < 26 ? 32 : 64;
  return cpu.avx2 ? 32 : cpu.avx ? 16 : 8;
}

}  // namespace grm
