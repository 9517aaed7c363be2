// What OpenBLAS 0.3.21 of Debian 12 takes for which processor was found out by running
// openblas_get_corename under qemu-x86_64 -cpu Haswell,vendor=V,family=F,model=M: with the flags of
// a Haswell anything below "Haswell" or "Zen" is a misjudgement. Models above 15 are decimal, as in
// /proc/cpuinfo.
#include "core/cpu.h"

#include <gtest/gtest.h>

#include "core/cpu_variant.h"

namespace grm {
namespace {

struct Case {
  const char* what;
  const char* vendor;
  int family, model;
  const char* detected;  // by OpenBLAS under qemu, with AVX2 and FMA
};

constexpr Case kCases[] = {
    {"Skylake-SP", "GenuineIntel", 6, 85, "Haswell"},
    {"Ice Lake-SP", "GenuineIntel", 6, 106, "Haswell"},
    {"Sapphire Rapids", "GenuineIntel", 6, 143, "Haswell"},
    {"Alder Lake", "GenuineIntel", 6, 151, "Haswell"},
    {"Alder Lake, mobile", "GenuineIntel", 6, 154, "Haswell"},
    {"Comet Lake", "GenuineIntel", 6, 165, "Haswell"},
    {"Rocket Lake", "GenuineIntel", 6, 167, "Haswell"},
    {"Meteor Lake", "GenuineIntel", 6, 170, "Haswell"},
    {"Granite Rapids", "GenuineIntel", 6, 173, "Haswell"},
    {"Sierra Forest", "GenuineIntel", 6, 175, "Haswell"},
    {"Raptor Lake", "GenuineIntel", 6, 183, "Prescott"},
    {"Raptor Lake, mobile", "GenuineIntel", 6, 186, "Prescott"},
    {"Lunar Lake", "GenuineIntel", 6, 189, "Prescott"},
    {"Alder Lake-N", "GenuineIntel", 6, 190, "Prescott"},
    {"Raptor Lake-S", "GenuineIntel", 6, 191, "Prescott"},
    {"Arrow Lake, mobile", "GenuineIntel", 6, 197, "Prescott"},
    {"Arrow Lake", "GenuineIntel", 6, 198, "Prescott"},
    {"Panther Lake", "GenuineIntel", 6, 204, "Prescott"},
    {"Emerald Rapids", "GenuineIntel", 6, 207, "Prescott"},
    {"Clearwater Forest", "GenuineIntel", 6, 221, "Prescott"},
    {"a virtual machine", "GenuineIntel", 15, 6, "Prescott"},
    {"a later family", "GenuineIntel", 18, 1, "Prescott"},
    {"Diamond Rapids", "GenuineIntel", 19, 1, "Prescott"},
    {"a virtual machine", "AuthenticAMD", 15, 107, "Opteron"},
    {"a virtual machine", "AuthenticAMD", 6, 183, "Haswell"},
    {"Zen", "AuthenticAMD", 23, 1, "Zen"},
    {"Zen 2", "AuthenticAMD", 23, 49, "Zen"},
    {"Zen 3", "AuthenticAMD", 25, 1, "Zen"},
    {"Zen 4", "AuthenticAMD", 25, 97, "Zen"},
    {"Zen 5", "AuthenticAMD", 26, 2, "Haswell"},
    {"Zen 5", "AuthenticAMD", 26, 68, "Haswell"},
    {"Excavator", "AuthenticAMD", 21, 96, "Excavator"},
};

Cpu cpu_of(const Case& c, bool avx512) {
  Cpu cpu;
  cpu.vendor = c.vendor;
  cpu.family = c.family;
  cpu.model = c.model;
  cpu.avx = cpu.avx2 = true;
  cpu.avx512 = avx512;
  return cpu;
}

TEST(Trust02BlasCore, IsSaidWhereOpenBlasMisjudgesAndNowhereElse) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::string(c.what) + " " + c.vendor + " model " + std::to_string(c.model));
    const std::string detected = c.detected;
    const bool misjudged = detected == "Prescott" || detected == "Opteron";
    const bool amd = std::string(c.vendor) == "AuthenticAMD";
    EXPECT_EQ(better_blas_core(cpu_of(c, false)), !misjudged ? "" : amd ? "Zen" : "Haswell");
    EXPECT_EQ(better_blas_core(cpu_of(c, true)), misjudged ? "SkylakeX" : "");
    EXPECT_EQ(blas_core_too_old(cpu_of(c, false), detected), misjudged);
  }
}

TEST(Trust02BlasCore, IsNotSaidWithoutTheFlagsOfItsKernels) {
  Cpu cpu = cpu_of({"", "GenuineIntel", 6, 207, ""}, false);
  cpu.avx2 = false;
  EXPECT_EQ(better_blas_core(cpu), "");
  EXPECT_FALSE(blas_core_too_old(cpu, "Prescott"));
  EXPECT_EQ(better_blas_core(Cpu()), "");
}

TEST(Trust02BlasCore, PeakFollowsTheVectorUnits) {
  Cpu cpu;
  EXPECT_EQ(flops_per_cycle(cpu), 8);  // four lanes, an addition and a multiplication
  cpu.avx = true;
  EXPECT_EQ(flops_per_cycle(cpu), 16);
  cpu.avx2 = true;
  EXPECT_EQ(flops_per_cycle(cpu), 32);  // eight lanes, two units, two operations
  cpu.avx512 = true;
  EXPECT_EQ(flops_per_cycle(cpu), 64);
}

// The flags of this machine as its kernel lists them.
TEST(Trust02BlasCore, ThisProcessorIsReadAsTheSystemReadsIt) {
  std::FILE* pipe = popen("grep -m1 '^flags' /proc/cpuinfo", "r");
  std::string flags;
  char line[8192];
  while (pipe && std::fgets(line, sizeof line, pipe)) flags += line;
  if (pipe) pclose(pipe);
  if (flags.empty()) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  flags.back() = ' ';
  const auto has = [&](const std::string& flag) {
    return flags.find(" " + flag + " ") != std::string::npos;
  };
  const Cpu cpu = this_cpu();
  EXPECT_EQ(cpu.avx, has("avx"));
  EXPECT_EQ(cpu.avx2, has("avx2") && has("fma"));
  EXPECT_EQ(cpu.avx512, has("avx512f") && has("avx512cd") && has("avx512bw") && has("avx512dq") &&
                            has("avx512vl"));
}

TEST(Cpu, KernelsThatRunHereAreThoseOfItsLevel) {
  const Cpu cpu = this_cpu();
  EXPECT_TRUE(cpu.level < 3 || cpu.avx2);
  EXPECT_TRUE(cpu.level < 4 || cpu.avx512);
  const variants::Variant used = cpu_variant();
  EXPECT_TRUE(used == variants::plain || used + 1 <= cpu.level) << variant_name(used);
}

}  // namespace
}  // namespace grm
