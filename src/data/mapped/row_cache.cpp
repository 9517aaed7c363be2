#include "data/mapped/row_cache.h"

#include <algorithm>

#include "grm/core/rng.h"

namespace grm::mapped {
namespace {

constexpr size_t kWays = 8;

}  // namespace

RowCache::RowCache(int64_t bytes, int64_t most_words) : most_words_(most_words) {
  const int64_t of_row = 4 * most_words + static_cast<int64_t>(sizeof(Slot));
  sets_ = static_cast<size_t>(std::max<int64_t>(bytes, 0) / of_row) / kWays;
}

size_t RowCache::first_slot(int64_t node) const {
  return mix64(static_cast<uint64_t>(node), 1) % sets_ * kWays;
}

const int32_t* RowCache::find(int64_t node) {
  ++asked_;
  if (slots_.empty()) return nullptr;
  const size_t first = first_slot(node);
  for (size_t k = first; k < first + kWays; ++k) {
    if (slots_[k].node != node) continue;
    ++slots_[k].uses;
    ++found_;
    return words_.data() + k * static_cast<size_t>(most_words_);
  }
  return nullptr;
}

void RowCache::add(int64_t node, const int32_t* words, int64_t count) {
  if (sets_ == 0 || count > most_words_) return;
  if (slots_.empty()) {
    slots_.resize(sets_ * kWays);
    words_.resize(slots_.size() * static_cast<size_t>(most_words_));
  }
  const size_t first = first_slot(node);
  size_t place = first;
  for (size_t k = first; k < first + kWays; ++k) {
    if (slots_[k].node == node) return;
    if (slots_[k].uses < slots_[place].uses) place = k;
    if (slots_[k].node < 0) {
      place = k;
      break;
    }
  }
  for (size_t k = first; k < first + kWays; ++k) {
    if (slots_[k].uses > 0) --slots_[k].uses;
  }
  slots_[place] = {node, 1};
  std::copy_n(words, count, words_.data() + place * static_cast<size_t>(most_words_));
}

}  // namespace grm::mapped
