#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace grm::cli {

/// What is wrong with the words of the command line, in plain words, with what may have been meant
/// and where to read on. `error` is what the parser says of them; `words` begin behind the program.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words);

}  // namespace grm::cli
