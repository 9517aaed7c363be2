#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

// What a handler sees of HTTP. Only http_app.cpp knows the library.
namespace grm::serve {

/// What one server takes from strangers, and for how long.
struct HttpLimits {
  size_t connections = 1024;               // at once; more are answered with 503
  size_t head_bytes = 16 << 10;            // of a request line and its headers
  size_t body_bytes = size_t{64} << 20;    // of one request
  size_t all_bodies = size_t{256} << 20;   // of all requests that are being read or answered
  double head_seconds = 10.0;              // from the first byte to the end of the head
  double idle_seconds = 30.0;              // a connection that asks nothing
  double transfer_seconds = 20.0;          // for a body or an answer, besides its bytes
  double slowest_transfer = 256.0 * 1024;  // bytes a second that a client must manage
};

struct HttpRequest {
  std::string method, path, body;
  std::map<std::string, std::string> headers;  // names in lower case
  std::map<std::string, std::string> query;    // decoded; of equal names the first

  /// "" where there is none.
  std::string header(const std::string& lower_case_name) const;
  std::string param(const std::string& name) const;
};

/// Hands a piece to the client; false once it has gone or the server stops.
using Push = std::function<bool(const std::string& piece)>;

struct HttpReply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::string why;  // of a refusal, for the log
  std::vector<std::pair<std::string, std::string>> headers;
  /// In place of a body: called once, pushes pieces until it returns.
  std::function<void(const Push&)> stream;
};

using HttpHandler = std::function<HttpReply(const HttpRequest&)>;

/// Looks at every request before its body is read; a reply other than 200 refuses it.
using HttpGuard = std::function<HttpReply(const HttpRequest&)>;

/// {"error": {"kind": ..., "message": ...}}
HttpReply error_reply(int status, const std::string& kind, const std::string& message);

}  // namespace grm::serve
