#include "cli/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "cli/terminal.h"
#include "core/lists.h"
#include "core/text.h"
#include "grm/core/options.h"

namespace grm::cli {
namespace {

constexpr size_t kShown = 40;  // columns of a value that a message repeats

std::string outside(const std::string& text, const std::string& range) {
  return fmt::format("{} is not in range: expected {}", shortened(text, kShown), range);
}

CLI::Validator number(const std::string& range, const std::function<bool(double)>& inside) {
  const auto check = [=](std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') {
      return fmt::format("'{}' is not a number", shortened(text, kShown));
    }
    return inside(value) ? "" : outside(text, range);
  };
  return CLI::Validator(check, range);
}

}  // namespace

CLI::Validator whole_number(int64_t low, int64_t high) {
  const std::string range =
      high == kLargest ? fmt::format("{} or more", low) : fmt::format("{} to {}", low, high);
  const auto check = [=](std::string& text) {
    char* end = nullptr;
    errno = 0;
    const int64_t value = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0') {
      return fmt::format("'{}' is not a whole number", shortened(text, kShown));
    }
    if (errno != 0 && value > 0 && high == kLargest) {
      return fmt::format("{} is too large", shortened(text, kShown));
    }
    return errno == 0 && value >= low && value <= high ? "" : outside(text, range);
  };
  return CLI::Validator(check, range);
}

CLI::Validator number_from(double low, double high) {
  return number(fmt::format("{:g} to {:g}", low, high),
                [=](double value) { return value >= low && value <= high; });
}

CLI::Validator number_above(double low, double high) {
  return number(fmt::format("more than {:g}, at most {:g}", low, high),
                [=](double value) { return value > low && value <= high; });
}

CLI::Validator one_of(std::vector<std::string> words) {
  // The description is what completion reads the words from.
  const std::string listed = "{" + joined(words, ",") + "}";
  const auto check = [words](std::string& text) {
    if (contains(words, text)) return std::string();
    return fmt::format("'{}' is not one of {}{}", shortened(text, kShown), joined(words, ", "),
                       did_you_mean(text, words));
  };
  return CLI::Validator(check, listed);
}

}  // namespace grm::cli
