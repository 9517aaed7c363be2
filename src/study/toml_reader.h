#pragma once

#include <string>
#include <vector>

#include "core/lists.h"
#include "core/toml_library.h"
#include "grm/core/error.h"
#include "grm/core/options.h"

namespace grm::study {

/// Reads values out of a parsed TOML file; every mistake is an Error(config) with its place.
class TomlReader {
 public:
  explicit TomlReader(std::string origin) : origin_(std::move(origin)) {}

 protected:
  toml::table parse(const std::string& text) const { return read_toml(text, origin_); }

  std::string place(const toml::source_region& at) const { return toml_place(origin_, at); }
  std::string place(const toml::node& node) const { return place(node.source()); }

  template <class... Args>
  [[noreturn]] void fail_at(const toml::node& node, fmt::format_string<Args...> format,
                            Args&&... args) const {
    fail(ErrorKind::config, "{}: {}", place(node),
         fmt::format(format, std::forward<Args>(args)...));
  }

  // Puts the place before the message of whatever the check throws.
  template <class Check>
  void checked(const toml::node& node, Check&& check) const {
    try {
      check();
    } catch (const Error& error) {
      fail_at(node, "{}", error.what());
    }
  }

  void only(const toml::table& in, const std::vector<std::string>& known, const char* where) const {
    for (const auto& [key, node] : in) {
      const std::string name(key.str());
      if (!contains(known, name)) {
        fail(ErrorKind::config, "{}: {} has no key '{}'{}", place(key.source()), where, name,
             did_you_mean(name, known));
      }
    }
  }

  const toml::table& table(const toml::node& node) const {
    if (!node.is_table()) fail_at(node, "a table is expected here");
    return *node.as_table();
  }

  std::string word(const toml::node& node) const {
    const auto* text = node.as_string();
    if (!text) fail_at(node, "text in quotes is expected here");
    return text->get();
  }
  std::string word(const toml::table& in, const char* key, const char* otherwise = "") const {
    const toml::node* node = in.get(key);
    return node ? word(*node) : otherwise;
  }

  int64_t whole(const toml::table& in, const char* key, int64_t otherwise, int64_t least,
                int64_t most = INT64_MAX) const {
    const toml::node* node = in.get(key);
    if (!node) return otherwise;
    const auto* value = node->as_integer();
    if (!value || value->get() < least || value->get() > most) {
      fail_at(*node, "'{}' is a whole number from {} {}", key, least,
              most == INT64_MAX ? "on" : fmt::format("to {}", most));
    }
    return value->get();
  }

  double number(const toml::node& node) const {
    const auto value = node.is_number() ? node.value<double>() : std::nullopt;
    if (!value) fail_at(node, "a number is expected here");
    return *value;
  }
  double number(const toml::table& in, const char* key, double otherwise) const {
    const toml::node* node = in.get(key);
    return node ? number(*node) : otherwise;
  }

  // A value as options take it.
  std::string value_text(const toml::node& node) const {
    try {
      return toml_value_text(node);
    } catch (const Error& error) {
      fail_at(node, "{}", error.what());
    }
  }

  std::vector<std::string> words(const toml::node& node) const {
    if (node.is_string()) return {word(node)};
    if (!node.is_array()) fail_at(node, "text in quotes or a list of it is expected here");
    std::vector<std::string> list;
    for (const toml::node& each : *node.as_array()) list.push_back(word(each));
    return list;
  }

  // Calls each(table) on all tables of [[name]].
  template <class Each>
  void tables(const toml::table& in, const char* name, Each&& each) const {
    const toml::node* node = in.get(name);
    if (!node) return;
    if (!node->is_array()) fail_at(*node, "write [[{}]], once for each", name);
    for (const toml::node& entry : *node->as_array()) each(table(entry));
  }

  std::string origin_;
};

}  // namespace grm::study
