#pragma once

#include <string>
#include <vector>

// Our kernels are compiled for several levels of the x86-64 architecture; one is used by a process.
// Sums are cut into vectors of the level's width: other variants give other bits.
namespace grm {

namespace variants {
enum Variant { plain, v2, v3, v4 };  // plain: another processor than x86-64
}

/// "v3"
std::string variant_name(variants::Variant variant);

/// The variants in this program, the oldest first.
std::vector<variants::Variant> built_variants();

/// What kernels run here, chosen when first asked for: the newest that this machine can, or the one
/// that GRM_CPU names ("native": the newest). Error(config) if there is none.
variants::Variant cpu_variant();

}  // namespace grm
