#include "serve/http_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>

namespace grm::serve {
namespace {

// Longer ones are no address of ours.
constexpr size_t kLongestTarget = 4096;
constexpr std::array<std::string_view, 12> kHeaders = {
    "host",   "content-length", "content-type",   "accept", "connection", "origin",
    "expect", "authorization",  "sec-fetch-site", "cookie", "user-agent", "x-grm-token"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// RFC 9110: letters, digits and some marks.
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// No byte that ends a line, a text or a word.
bool is_clean(std::string_view text, bool spaces) {
  return std::all_of(text.begin(), text.end(), [spaces](unsigned char c) {
    return (c > 0x20 && c != 0x7f) || (spaces && (c == ' ' || c == '\t'));
  });
}

class Checker {
 public:
  Checker(std::string_view head, const HttpLimits& limits) : rest_(head), limits_(limits) {}

  CheckedHead check() {
    if (!request_line()) return std::move(out_);
    for (std::string_view line = next(); !line.empty(); line = next()) {
      if (!header(line)) return std::move(out_);
    }
    if (!broken_.empty()) return refuse(400, broken_);
    if (seen_.count("host") == 0) return refuse(400, "there is no Host header");
    if (one_zero_ && !asks_to_keep_) out_.keep = false;
    out_.text += "\r\n";
    return std::move(out_);
  }

 private:
  CheckedHead refuse(int status, const std::string& why) {
    out_.refused = status;
    out_.why = why;
    out_.keep = false;
    return std::move(out_);
  }
  bool no(int status, const std::string& why) {
    out_ = refuse(status, why);
    return false;
  }

  std::string_view next() {
    const size_t end = rest_.find("\r\n");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
    if (!is_clean(line, /*spaces=*/true)) broken_ = "a header holds a control character";
    return line;
  }

  bool request_line() {
    const std::string_view line = next();
    const size_t first = line.find(' '), last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return no(400, "no request line");
    const std::string_view method = line.substr(0, first), version = line.substr(last + 1);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    if (version != "HTTP/1.1" && version != "HTTP/1.0") return no(505, "HTTP/1.1 is spoken here");
    if (!is_token(method)) return no(400, "no method");
    if (method != "GET" && method != "HEAD" && method != "POST") {
      return no(405, "GET, HEAD and POST are answered here");
    }
    if (target.size() > kLongestTarget) return no(414, "the address is too long");
    if (target.empty() || target.front() != '/' || !is_clean(target, false)) {
      return no(400, "the address must be a path");
    }
    one_zero_ = version == "HTTP/1.0";
    out_.text = fmt::format("{} {} {}\r\n", method, target, version);
    return true;
  }

  bool header(std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      return no(400, "a header is not of the form Name: value");
    }
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "transfer-encoding") return no(411, "send the body with a Content-Length");
    if (name == "content-encoding" && lower(value) != "identity") {
      return no(415, "send the body as it is, not compressed");
    }
    if (std::find(kHeaders.begin(), kHeaders.end(), name) == kHeaders.end()) return true;
    if (!seen_.insert(name).second) {
      return name == "cookie" || name == "accept" ? true : no(400, name + " came twice");
    }
    if (name == "content-length" && !length(value)) return false;
    if (name == "connection") {
      asks_to_keep_ = lower(value).find("keep-alive") != std::string::npos;
      out_.keep = lower(value).find("close") == std::string::npos;
      return true;  // what follows is ours to decide
    }
    out_.text += fmt::format("{}: {}\r\n", name, value);
    return true;
  }

  bool length(std::string_view value) {
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), out_.body);
    if (value.empty() || code != std::errc() || end != value.data() + value.size()) {
      return no(code == std::errc::result_out_of_range ? 413 : 400,
                "Content-Length is not a number of bytes");
    }
    if (out_.body > limits_.body_bytes) {
      return no(413, fmt::format("the body has {} bytes, at most {} are taken", out_.body,
                                 limits_.body_bytes));
    }
    return true;
  }

  std::string_view rest_;
  const HttpLimits& limits_;
  CheckedHead out_;
  std::set<std::string> seen_;
  std::string broken_;
  bool one_zero_ = false, asks_to_keep_ = false;
};

}  // namespace

CheckedHead check_head(std::string_view head, const HttpLimits& limits) {
  return Checker(head, limits).check();
}

}  // namespace grm::serve
