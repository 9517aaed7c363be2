#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

// Checks of values on the command line. They see the text before the parser converts it, so that
// one message in plain words covers "three", "0" and "99999999999999999999".
namespace grm::cli {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

CLI::Validator whole_number(int64_t low, int64_t high = kLargest);
/// A number from `low`, or above it, to `high`.
CLI::Validator number_from(double low, double high);
CLI::Validator number_above(double low, double high);
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace grm::cli
