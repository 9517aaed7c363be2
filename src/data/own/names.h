#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace grm::own {

/// Texts numbered 0, 1, 2, ... in order of first appearance.
class Names {
 public:
  Names() = default;
  Names(Names&&) = default;  // a moved deque keeps its texts in place, so the views stay good
  Names& operator=(Names&&) = default;

  /// Number of the text, or -1.
  int64_t find(std::string_view text) const {
    const auto found = number_.find(text);
    return found == number_.end() ? -1 : found->second;
  }
  /// Number of the text; a new one gets the next.
  int64_t add(std::string_view text) {
    const int64_t known = find(text);
    if (known >= 0) return known;
    texts_.emplace_back(text);
    number_.emplace(texts_.back(), size() - 1);
    return size() - 1;
  }
  int64_t size() const { return static_cast<int64_t>(texts_.size()); }
  const std::string& operator[](int64_t k) const { return texts_[static_cast<size_t>(k)]; }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, int64_t> number_;
};

}  // namespace grm::own
