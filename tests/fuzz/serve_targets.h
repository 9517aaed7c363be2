#pragma once

#include <filesystem>
#include <string>

#include "core/files.h"
#include "fuzz/parts.h"
#include "fuzz/target.h"
#include "grm/core/error.h"
#include "serve/body.h"
#include "serve/http_head.h"

// As io_targets.h, for what strangers send to a service.
namespace grm::fuzz {

/// What is let in is let in again as it is, and asks for no larger body than is allowed.
inline void http_head(const std::string& path) {
  const serve::HttpLimits limits;
  const serve::CheckedHead head = serve::check_head(read_file(path), limits);
  if (head.refused != 0) {
    ensure(head.refused >= 400 && head.refused < 600, "a refusal has a status");
    fail(ErrorKind::data, "{}", head.why);
  }
  const serve::CheckedHead again = serve::check_head(head.text, limits);
  ensure(again.refused == 0 && again.text == head.text, "a checked head passes as it is");
  ensure(again.body == head.body && head.body <= limits.body_bytes, "its body is within limits");
}

/// A body of JSON, written where readers of files will find it: nowhere else.
inline void http_body(const std::string& path) {
  serve::HttpRequest request;
  request.headers["content-type"] = "application/json";
  request.body = read_file(path);
  const serve::Body body(request);
  const Folder folder;
  const std::string inside = folder.file("inside");
  std::filesystem::create_directory(inside);
  body.write(serve::TableNames(), inside);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ensure(entry.path() == inside, "nothing lies outside the folder of a request");
  }
}

inline constexpr Target kTargets[] = {
    {"http_head", http_head},
    {"http_body", http_body},
};

}  // namespace grm::fuzz
