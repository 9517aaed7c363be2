#pragma once

#include <string>

// The processor of this machine, as far as the choice of kernels of BLAS depends on it. Nothing
// here needs another library: the launcher asks before BLAS is loaded.
namespace grm {

struct Cpu {
  std::string vendor;  // "GenuineIntel", "AuthenticAMD"; empty where it cannot be told
  int family = 0, model = 0;
  bool avx = false;
  bool avx2 = false;    // with FMA
  bool avx512 = false;  // F, CD, BW, DQ and VL, as the kernels called SkylakeX need them
  int level = 0;        // x86-64-v1 to v4: all that code compiled for this level may use
};

/// Flags that the system does not support (registers are not saved) are not set.
Cpu this_cpu();

/// The core type of OpenBLAS whose kernels use what the processor has; empty without AVX2.
std::string blas_core_of(const Cpu& cpu);

/// The core type that OpenBLAS has to be told (OPENBLAS_CORETYPE) because its own choice is worse
/// than the processor; empty where that is right, which is nearly everywhere.
///
/// OpenBLAS 0.3.21 chooses by vendor, family and model (get_coretype in driver/others/dynamic.c)
/// and by the flags where it does not know the model. Two kinds of processors are misjudged:
/// Intel's family 6 from model 176 on falls through to the rule of family 15, so that Raptor Lake,
/// Emerald Rapids and all newer ones get the kernels of a Prescott of 2004, as does every Intel
/// family from 15 on; and family 15 of AMD (17, too), which virtual machines present together with
/// AVX2, gets those of an Opteron. Other models, the unknown ones included, keep OpenBLAS's own
/// choice, so that their results keep their bits.
std::string better_blas_core(const Cpu& cpu);

/// Whether the kernels of this core type (as OpenBLAS prints it) use less than the processor has:
/// no FMA where there is AVX2.
bool blas_core_too_old(const Cpu& cpu, const std::string& core);

/// Operations on single-precision numbers that one core ends in a cycle when all goes well.
double flops_per_cycle(const Cpu& cpu);

}  // namespace grm
