#include "grm/core/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "core/toml_text.h"
#include "grm/core/error.h"

namespace grm {
namespace {

// What is longer is no misspelt word, and the time to compare grows with the square.
constexpr size_t kLongestWord = 200;

std::string range_text(Range range) {
  if (std::isinf(range.low) && std::isinf(range.high)) return "";
  if (std::isinf(range.high)) return fmt::format(">= {:g}", range.low);
  if (std::isinf(range.low)) return fmt::format("<= {:g}", range.high);
  return fmt::format("{:g} .. {:g}", range.low, range.high);
}

// What was given, as far as a message can repeat it.
std::string shown(const std::string& text) {
  constexpr size_t kShown = 40;
  return text.size() <= kShown ? text : text.substr(0, kShown - 3) + "...";
}

void check_range(double value, Range range, const std::string& text) {
  if (!(value >= range.low && value <= range.high)) {
    fail(ErrorKind::config, "{} is outside {}", shown(text), range_text(range));
  }
}

double parse_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || std::isnan(value)) {
    fail(ErrorKind::config, "'{}' is not a number", shown(text));
  }
  return value;
}

int64_t parse_int(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') {
    fail(ErrorKind::config, "'{}' is not a whole number", shown(text));
  }
  if (errno != 0)
    fail(ErrorKind::config, "{} is too {}", shown(text), value > 0 ? "large" : "small");
  return value;
}

bool parse_bool(const std::string& text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  fail(ErrorKind::config, "'{}' is neither true nor false", shown(text));
}

std::vector<int64_t> parse_ints(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '[' || c == ']' || c == ','; }, ' ');
  std::vector<int64_t> values;
  size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string::npos) {
    const size_t end = std::min(text.find(' ', at), text.size());
    values.push_back(parse_int(text.substr(at, end - at)));
    at = end;
  }
  return values;
}

// The inverse of toml_string; text in single quotes or without quotes stands for itself.
std::string unquote(const std::string& text) {
  if (text.size() < 2 || (text[0] != '"' && text[0] != '\'') || text.back() != text[0]) return text;
  const std::string inner = text.substr(1, text.size() - 2);
  if (text[0] == '\'') return inner;
  std::string plain;
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\' || i + 1 == inner.size()) {
      plain += inner[i];
    } else if (inner[i + 1] == 'u' && i + 5 < inner.size()) {
      plain += static_cast<char>(std::strtol(inner.substr(i + 2, 4).c_str(), nullptr, 16));
      i += 5;
    } else {
      plain += inner[++i];
    }
  }
  return plain;
}

// Letters to add, remove, replace or swap with their neighbour to get from one to the other.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

Option& OptionList::push(Option option) {
  option.default_value = option.get();
  return options_.emplace_back(std::move(option));
}

Option& OptionList::add(const std::string& key, int64_t& value, Range range,
                        const std::string& help) {
  return push({key, "int", help, "", range_text(range),
               [&value] { return fmt::format("{}", value); },
               [&value, range](const std::string& text) {
                 const int64_t parsed = parse_int(text);
                 check_range(static_cast<double>(parsed), range, text);
                 value = parsed;
               }});
}

Option& OptionList::add(const std::string& key, double& value, Range range,
                        const std::string& help) {
  return push({key, "number", help, "", range_text(range),
               [&value] { return fmt::format("{}", value); },
               [&value, range](const std::string& text) {
                 const double parsed = parse_number(text);
                 check_range(parsed, range, text);
                 value = parsed;
               }});
}

Option& OptionList::add(const std::string& key, bool& value, const std::string& help) {
  return push({key, "bool", help, "", "",
               [&value] { return std::string(value ? "true" : "false"); },
               [&value](const std::string& text) { value = parse_bool(text); }});
}

Option& OptionList::add(const std::string& key, std::string& value, const std::string& help) {
  return push({key, "text", help, "", "", [&value] { return toml_string(value); },
               [&value](const std::string& text) { value = unquote(text); }});
}

Option& OptionList::add(const std::string& key, std::vector<int64_t>& value, Range range,
                        const std::string& help) {
  return push({key, "ints", help, "", range_text(range),
               [&value] { return fmt::format("[{}]", fmt::join(value, ", ")); },
               [&value, range](const std::string& text) {
                 const std::vector<int64_t> parsed = parse_ints(text);
                 for (const int64_t x : parsed) {
                   check_range(static_cast<double>(x), range, std::to_string(x));
                 }
                 value = parsed;
               }});
}

Option& OptionList::add_choice(const std::string& key, const Words& words, const std::string& help,
                               const std::function<std::string()>& get,
                               const std::function<void(size_t)>& set) {
  const std::string listed = fmt::format("{}", fmt::join(words, " | "));
  return push({key, "choice", help, "", listed, [get] { return toml_string(get()); },
               [set, words, listed](const std::string& text) {
                 const std::string word = unquote(text);
                 const auto found = std::find(words.begin(), words.end(), word);
                 if (found == words.end()) {
                   fail(ErrorKind::config, "'{}' is not one of {}{}", shown(word), listed,
                        did_you_mean(word, words));
                 }
                 set(static_cast<size_t>(found - words.begin()));
               }});
}

void OptionList::set(const std::string& section, const std::string& key, const std::string& value) {
  std::vector<std::string> known;
  for (Option& option : options_) {
    if (option.key == key) {
      try {
        option.set(value);
      } catch (const Error& error) {
        fail(ErrorKind::config, "{}.{}: {}", section, key, error.what());
      }
      return;
    }
    known.push_back(option.key);
  }
  fail(ErrorKind::config, "{}.{} is not an option{}; known here: {}", section, shown(key),
       did_you_mean(key, known), fmt::join(known, ", "));
}

bool OptionList::has(const std::string& key) const {
  return std::any_of(options_.begin(), options_.end(),
                     [&](const Option& option) { return option.key == key; });
}

void OptionList::take_values(const OptionList& other) {
  ensure(options_.size() == other.options_.size(), "take_values: other options");
  for (size_t k = 0; k < options_.size(); ++k) options_[k].set(other.options_[k].get());
}

std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates) {
  if (word.size() > kLongestWord) return "";
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > word.size() + best_distance) continue;
    const size_t distance = edit_distance(word, candidate);
    // A word of which every letter would have to change is not near.
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string best = nearest_word(word, candidates);
  return best.empty() ? "" : fmt::format(" (did you mean '{}'?)", best);
}

}  // namespace grm
