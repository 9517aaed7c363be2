#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Small things that are done with lists again and again.
namespace grm {

template <class List, class Value>
bool contains(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

template <class List, class Value>
void add_once(List& list, const Value& value) {
  if (!contains(list, value)) list.push_back(value);
}

/// A text for each in one text: what `text_of` makes of it.
template <class List, class Text>
std::string joined(const List& list, std::string_view between, const Text& text_of) {
  std::string text;
  for (const auto& each : list) {
    if (!text.empty()) text += between;
    text += text_of(each);
  }
  return text;
}

}  // namespace grm
