#pragma once

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "core/files.h"
#include "core/lists.h"
#include "core/toml_library.h"
#include "data/own/description.h"
#include "grm/core/options.h"

namespace grm::own {

using Keys = std::vector<std::string>;

/// Takes values out of a TOML file; what is not as it should be is a problem with its place, and
/// the value stays as it was.
class TomlWords {
 public:
  /// `top`: keys that stand before the first section.
  TomlWords(const Description& d, Problems& problems, Keys top)
      : problems_(problems), about_(d), top_(std::move(top)) {}

 protected:
  static Place place_of(const toml::source_region& at) {
    return {static_cast<int64_t>(at.begin.line), static_cast<int64_t>(at.begin.column)};
  }

  toml::table parse() {
    std::string text;
    try {
      text = read_file(about_.file);
    } catch (const Error& error) {
      problems_.stop(about_.file, error);
    }
    try {
      return parse_toml(text, about_.file);
    } catch (const toml::parse_error& error) {
      const Place at = place_of(error.source());
      problems_.stop(about_.problem(at, fmt::format("this is not TOML: {}", error.description()),
                                    "write text in quotes, lists in [ ]; see 'grm data init'"));
    } catch (const Error& error) {
      problems_.stop(about_.file, error);
    }
  }

  void wrong(const toml::node& node, std::string what, std::string fix) {
    problems_.add(about_.problem(place_of(node.source()), std::move(what), std::move(fix)));
  }

  void only(const toml::table& in, const Keys& known, const std::string& where) {
    for (const auto& [key, node] : in) {
      const std::string name(key.str());
      if (contains(known, name)) continue;
      std::string fix = fmt::format("remove it; known are {}", fmt::join(known, ", "));
      if (known != top_ && contains(top_, name)) {
        fix = fmt::format("move '{}' above the first [section]", name);
      }
      problems_.add(about_.problem(
          place_of(key.source()),
          fmt::format("{} has no key '{}'{}", where, name, did_you_mean(name, known)), fix));
    }
  }

  const toml::table* section(const toml::table& file, const char* name) {
    const toml::node* node = file.get(name);
    if (!node) return nullptr;
    if (!node->is_table()) {
      wrong(*node, fmt::format("'{}' is a section", name), fmt::format("write [{}]", name));
    }
    return node->as_table();
  }

  Place text(const toml::table& in, const char* key, std::string& value) {
    const toml::node* node = in.get(key);
    if (!node) return {};
    if (node->is_string() && !node->as_string()->get().empty()) {
      value = node->as_string()->get();
    } else {
      wrong(*node, fmt::format("'{}' is text", key), fmt::format("write {} = \"...\"", key));
    }
    return place_of(node->source());
  }

  Place choice(const toml::table& in, const char* key, std::string& value, const Keys& allowed) {
    std::string given = value;
    const Place place = text(in, key, given);
    if (place.line == 0 || given == value) return place;
    if (!contains(allowed, given)) {
      wrong(
          *in.get(key),
          fmt::format("{} = \"{}\" is unknown{}", key, shown(given), did_you_mean(given, allowed)),
          fmt::format("write one of {}", fmt::join(allowed, ", ")));
    } else {
      value = given;
    }
    return place;
  }

  template <class E>
  Place choice(const toml::table& in, const char* key, E& value) {
    std::string word = to_string(value);
    const Place place = choice(in, key, word, words_of(value));
    value = value_of<E>(word).value();
    return place;
  }

  // Domains and labels may be written as numbers: months, class numbers.
  std::vector<Word> words(const toml::table& in, const char* key) {
    std::vector<Word> list;
    const toml::node* node = in.get(key);
    if (!node) return list;
    const std::string form = fmt::format("write {} = [\"a\", \"b\"]", key);
    if (!node->is_array()) {
      wrong(*node, fmt::format("'{}' is a list", key), form);
      return list;
    }
    for (const toml::node& each : *node->as_array()) {
      const Place place = place_of(each.source());
      if (const auto* word = each.as_string(); word && !word->get().empty()) {
        list.push_back({word->get(), place});
      } else if (const auto* number = each.as_integer()) {
        list.push_back({fmt::format("{}", number->get()), place});
      } else {
        wrong(each, fmt::format("'{}' is a list of texts", key), form);
      }
    }
    return list;
  }

  Problems& problems_;

 private:
  const Description& about_;
  Keys top_;
};

}  // namespace grm::own
