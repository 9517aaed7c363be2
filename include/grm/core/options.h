#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "grm/core/words.h"

namespace grm {

/// Closed interval that a number must lie in.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// One declared option: everything that help, validation, echo and the reference page need.
struct Option {
  std::string key;
  std::string type;                  // "int", "number", "bool", "text", "ints" or "choice"
  std::string help;                  // one sentence
  std::string default_value;         // as get() printed it when declared
  std::string allowed;               // "0 .. 1" or "sum | kipf"; empty: anything
  std::function<std::string()> get;  // the current value as TOML writes it
  std::function<void(const std::string&)> set;  // throws Error(config) without the key's name
  std::string later_group = "";  // of an option that came later; "": there from the beginning

  /// Says that runs were recorded before there was this option. A configuration's text leaves it
  /// out where it and the others of its group have their defaults, which is what absence means;
  /// so runs of programs that did not know it keep their text. By default it has a group of its own.
  void came_later(const std::string& group = "") { later_group = group.empty() ? key : group; }
  bool is_default() const { return get() == default_value; }
};

/// The options of one dataset, method or trainer. Each owner declares its fields once, with the
/// member's initial value as default:
///
///     struct ErmOptions {
///       double lr = 0.01;
///       void declare(OptionList& list) { list.add("lr", lr, {0, 1}, "learning rate"); }
///     };
///
/// The list refers to the members, so it must not outlive (or move with) its owner. A copy of the
/// owner declares a list of its own.
class OptionList {
 public:
  /// What is returned may be told more at once: list.add(...).came_later().
  Option& add(const std::string& key, int64_t& value, Range range, const std::string& help);
  Option& add(const std::string& key, double& value, Range range, const std::string& help);
  Option& add(const std::string& key, bool& value, const std::string& help);
  Option& add(const std::string& key, std::string& value, const std::string& help);
  Option& add(const std::string& key, std::vector<int64_t>& value, Range range,
              const std::string& help);
  /// A value of an enum that has words (core/words.h): any of them, or those `offered`.
  template <class E>
  Option& choice(const std::string& key, E& value, const std::string& help) {
    return choice(key, value, all_values<E>(), help);
  }
  template <class E>
  Option& choice(const std::string& key, E& value, const std::vector<E>& offered,
                 const std::string& help) {
    Words words;
    for (const E each : offered) words.push_back(to_string(each));
    return add_choice(
        key, words, help, [&value] { return to_string(value); },
        [&value, offered](size_t k) { value = offered[k]; });
  }

  const std::vector<Option>& options() const { return options_; }
  bool has(const std::string& key) const;

  /// Sets one option from text ("0.1", "true", "[10, 5]", "10,5"). Error(config) for an unknown
  /// key (with the nearest known one) or a value outside the declared range; `section` is the
  /// name shown in messages, as in "method.lr".
  void set(const std::string& section, const std::string& key, const std::string& value);

  /// Sets every option to its value in a list of the same options: how an owner is copied.
  void take_values(const OptionList& other);

 private:
  Option& add_choice(const std::string& key, const Words& words, const std::string& help,
                     const std::function<std::string()>& get,
                     const std::function<void(size_t)>& set);
  Option& push(Option option);
  std::vector<Option> options_;
};

/// The candidate nearest to `word` by edit distance, or "" if none is near.
std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates);

/// ", did you mean 'x'?" or ""; for messages about unknown names.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace grm
