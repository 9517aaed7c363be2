#include "serve/gate.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cctype>

#include "grm/core/error.h"

namespace grm::serve {
namespace {

std::string cookie_of(const std::string& header, const std::string& name) {
  size_t at = 0;
  while (at < header.size()) {
    const size_t end = std::min(header.find(';', at), header.size());
    std::string part = header.substr(at, end - at);
    part.erase(0, part.find_first_not_of(' '));
    if (part.rfind(name + "=", 0) == 0) return part.substr(name.size() + 1);
    at = end + 1;
  }
  return "";
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

bool same_secret(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t k = 0; k < a.size() && !b.empty(); ++k) {
    difference |= static_cast<unsigned char>(a[k]) ^ static_cast<unsigned char>(b[k % b.size()]);
  }
  return difference == 0 && !a.empty();
}

std::string random_token() {
  unsigned char bytes[32];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    fail(ErrorKind::io, "the system gives no random numbers");
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool is_loopback(const std::string& address) {
  return address == "::1" || address.rfind("127.", 0) == 0;
}

std::vector<std::string> loopback_hosts(int port) {
  std::vector<std::string> hosts;
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
    hosts.push_back(fmt::format("{}:{}", name, port));
    if (port == 80) hosts.emplace_back(name);
  }
  return hosts;
}

bool Gate::has_token(const HttpRequest& request) const {
  const std::string bearer = request.header("authorization");
  if (bearer.rfind("Bearer ", 0) == 0 && same_secret(bearer.substr(7), token)) return true;
  if (same_secret(request.header("x-grm-token"), token)) return true;
  return !cookie.empty() && same_secret(cookie_of(request.header("cookie"), cookie), token);
}

HttpReply Gate::check(const HttpRequest& request) const {
  const std::string host = lower_case(request.header("host"));
  if (!hosts.empty() && std::find(hosts.begin(), hosts.end(), host) == hosts.end()) {
    return error_reply(421, "host", "this server does not go by that name");
  }
  // Browsers send Origin with everything that changes something, and say where a request began.
  const std::string origin = lower_case(request.header("origin"));
  if (!origin.empty() && origin != "http://" + host) {
    return error_reply(403, "origin", "pages of other origins may not ask here");
  }
  const std::string site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") {
    return error_reply(403, "origin", "pages of other sites may not ask here");
  }
  if (!token.empty() && !has_token(request)) {
    return error_reply(401, "token", "the token is missing or wrong");
  }
  return {};
}

}  // namespace grm::serve
