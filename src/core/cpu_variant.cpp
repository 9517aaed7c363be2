#include "core/cpu_variant.h"

#include <cstdlib>

#include "core/cpu.h"
#include "grm/core/error.h"

namespace grm {
namespace {

using variants::Variant;

bool runs_here(Variant variant) {
  static const int level = this_cpu().level;
  return variant == variants::plain || static_cast<int>(variant) + 1 <= level;
}

std::string names(const std::vector<Variant>& list) {
  std::string text;
  for (const Variant variant : list) text += (text.empty() ? "" : ", ") + variant_name(variant);
  return text;
}

Variant choose() {
  std::vector<Variant> usable;
  for (const Variant variant : built_variants()) {
    if (runs_here(variant)) usable.push_back(variant);
  }
  if (usable.empty()) {
    fail(
        ErrorKind::config,
        "this program has kernels for x86-64 {} only, and this machine has less; build it here, or "
        "with -DGRM_CPU_VARIANTS=all",
        names(built_variants()));
  }
  const char* asked = std::getenv("GRM_CPU");
  if (!asked || !*asked || std::string(asked) == "native") return usable.back();
  for (const Variant variant : usable) {
    if (variant_name(variant) == asked) return variant;
  }
  fail(ErrorKind::config, "GRM_CPU={}: this machine can run {} of this program, or 'native'", asked,
       names(usable));
}

}  // namespace

std::string variant_name(Variant variant) {
  constexpr const char* kNames[] = {"plain", "v2", "v3", "v4"};
  return kNames[variant];
}

std::vector<Variant> built_variants() {
  using namespace variants;
  return {GRM_CPU_VARIANTS};
}

Variant cpu_variant() {
  static const Variant chosen = choose();
  return chosen;
}

}  // namespace grm
