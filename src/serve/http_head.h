#pragma once

#include <string>
#include <string_view>

#include "serve/http.h"

namespace grm::serve {

/// The head of a request as it is let in: the request line and those headers that we use, each once.
/// What is unknown is left out, so that nothing surprises whoever reads it next.
struct CheckedHead {
  int refused = 0;  // a status, and why
  std::string why;
  std::string text;  // ends with an empty line
  size_t body = 0;   // bytes that follow
  bool keep = true;  // whether the client may ask again on this connection
};

/// `head` is everything up to and including the first empty line.
CheckedHead check_head(std::string_view head, const HttpLimits& limits);

}  // namespace grm::serve
