#include "methods/edited_pairs.h"

namespace grm::cpu::GRM_CPU_VARIANT {

template <class T>
void edited_pairs(const UneditedPairs& pairs, const FlippedPairs& flips, const EditedPairs<T>& to) {
  const int64_t work = edited_work(pairs, flips);
  for (int64_t at = 0; at < work; ++at) edit_pair(pairs, flips, to, at);
}

}  // namespace grm::cpu::GRM_CPU_VARIANT

GRM_CPU_KERNEL(edited_pairs)
