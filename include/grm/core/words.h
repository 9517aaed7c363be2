#pragma once

#include <optional>
#include <string>
#include <vector>

namespace grm {

using Words = std::vector<std::string>;

/// An enum that users write says its words once, in the order of its values, right behind it:
///
///     enum class Conv { sum, kipf };
///     GRM_WORDS(Conv, "sum", "kipf")
///
/// Code compares values; words are for files, flags and messages.
#define GRM_WORDS(Enum, ...)           \
  inline ::grm::Words words_of(Enum) { \
    return {__VA_ARGS__};              \
  }

template <class E, class = decltype(words_of(E{}))>
std::string to_string(E value) {
  return words_of(value).at(static_cast<size_t>(value));
}

/// The value of that word, if it is one.
template <class E>
std::optional<E> value_of(const std::string& word) {
  const Words words = words_of(E{});
  for (size_t k = 0; k < words.size(); ++k) {
    if (words[k] == word) return static_cast<E>(k);
  }
  return std::nullopt;
}

template <class E>
std::vector<E> all_values() {
  std::vector<E> values;
  for (size_t k = 0; k < words_of(E{}).size(); ++k) values.push_back(static_cast<E>(k));
  return values;
}

}  // namespace grm
