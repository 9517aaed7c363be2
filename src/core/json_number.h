#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "grm/core/error.h"

namespace grm {

/// The whole number under `key` of a JSON object. Error(data) names `origin` if it is a fraction,
/// too large or no number: conversions of the JSON library take any number, which is undefined for
/// those that an int64_t cannot hold.
template <class Json>
int64_t whole_number(const Json& object, const char* key, const std::string& origin) {
  const Json& value = object.at(key);
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.template get<uint64_t>() > kMost)) {
    fail(ErrorKind::data, "{}: damaged: '{}' is not a whole number", origin, key);
  }
  return value.template get<int64_t>();
}

}  // namespace grm
