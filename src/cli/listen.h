#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "serve/http.h"

namespace grm::cli {

/// Where a server listens and how much it takes: the flags that `serve` and `ui` share.
struct ListenFlags {
  double body_mib = 64.0;

  void add(CLI::App& verb, int& port, std::string& address);
  /// A body may have that much, all of them together four times as much.
  void limit(serve::HttpLimits& limits) const;
};

/// The address is the first line on stdout, at once: other programs wait for it.
void print_address(const std::string& line);

}  // namespace grm::cli
