#pragma once

#include <string>
#include <vector>

#include "serve/http.h"

namespace grm::serve {

/// Who may ask. Programs on this machine reach a loopback address, and so do pages that a browser of
/// this machine has open: they come with another Origin, or under a name of their own (Host).
struct Gate {
  /// Names that the server goes by, with ports: "127.0.0.1:8080". Empty: any.
  std::vector<std::string> hosts;
  /// Asked for as "Authorization: Bearer TOKEN", as X-GRM-Token or as the cookie; "": not asked for.
  std::string token;
  std::string cookie;  // its name; "": no cookie is looked at

  /// A reply of 200 lets the request in; 401, 403 and 421 do not.
  HttpReply check(const HttpRequest& request) const;
  bool has_token(const HttpRequest& request) const;
};

/// The hosts of a loopback address: its number, localhost, and the port. Others: empty.
bool is_loopback(const std::string& address);
std::vector<std::string> loopback_hosts(int port);

/// 256 bits that nobody can guess, as 64 hexadecimal digits.
std::string random_token();
/// Takes the same time wherever they differ.
bool same_secret(const std::string& a, const std::string& b);

}  // namespace grm::serve
