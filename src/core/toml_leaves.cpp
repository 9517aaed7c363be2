#include "core/toml_leaves.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/toml_library.h"
#include "grm/core/error.h"

namespace grm {
namespace {

using Place = std::pair<uint32_t, uint32_t>;  // line and column

void collect(const toml::table& table, const std::vector<std::string>& above,
             std::vector<std::pair<Place, TomlLeaf>>& found) {
  for (const auto& [key, value] : table) {
    std::vector<std::string> path = above;
    path.emplace_back(key.str());
    if (const toml::table* inner = value.as_table()) {
      collect(*inner, path, found);
    } else {
      const toml::source_position at = value.source().begin;
      found.push_back({{at.line, at.column}, {std::move(path), toml_value_text(value)}});
    }
  }
}

}  // namespace

std::string toml_value_text(const toml::node& node) {
  if (const auto* word = node.as_string()) return word->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (const auto* list = node.as_array()) {
    std::string text;
    for (const toml::node& each : *list) text += (text.empty() ? "" : ", ") + toml_value_text(each);
    return "[" + text + "]";
  }
  fail(ErrorKind::config, "an option takes text, a number, true, false or a list");
}

std::vector<TomlLeaf> toml_leaves(const std::string& text, const std::string& origin) {
  std::vector<std::pair<Place, TomlLeaf>> found;
  try {
    collect(parse_toml(text, origin), {}, found);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    fail(ErrorKind::config, "{}:{}:{}: {}", origin, at.line, at.column, error.description());
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TomlLeaf> leaves;
  for (auto& each : found) leaves.push_back(std::move(each.second));
  return leaves;
}

}  // namespace grm
