#include "cli/listen.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/checks.h"

namespace grm::cli {

void ListenFlags::add(CLI::App& verb, int& port, std::string& address) {
  verb.add_option("--port", port, "port (default: a free one)")->check(whole_number(0, 65535));
  verb.add_option("--address", address, "numeric address to listen at")->capture_default_str();
  verb.add_option("--max-body", body_mib, "MiB that one request may have")
      ->capture_default_str()
      ->check(number_above(0, 4096));
}

void ListenFlags::limit(serve::HttpLimits& limits) const {
  limits.body_bytes = static_cast<size_t>(body_mib * 1024 * 1024);
  limits.all_bodies = 4 * limits.body_bytes;
}

void print_address(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace grm::cli
