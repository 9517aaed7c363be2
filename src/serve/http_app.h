#pragma once

#include <memory>

#include "serve/http.h"
#include "serve/http_stream.h"

namespace grm::serve {

/// Reads requests, finds their handlers and writes the answers: cpp-httplib behind a face of our
/// own. Handlers run in the threads of their connections.
class HttpApp {
 public:
  /// Error(config) in a build without the library, with what to install.
  HttpApp();
  ~HttpApp();
  HttpApp(const HttpApp&) = delete;
  HttpApp& operator=(const HttpApp&) = delete;

  /// `path` is taken as it stands; GET answers HEAD, too.
  void route(const std::string& method, const std::string& path, HttpHandler handler);
  void set_guard(HttpGuard guard);

  struct Served {
    int status = 0;  // 0: the client went away
    std::string method, path;
    std::string why;  // of a refusal
  };
  /// One request whose checked head was put back into the stream.
  Served serve(HttpStream& stream, bool last, const HttpLimits& limits);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace grm::serve
