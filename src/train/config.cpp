#include "grm/train/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "core/text.h"
#include "core/toml_library.h"
#include "core/toml_text.h"
#include "grm/core/error.h"
#include "methods/good_settings.h"

namespace grm {
namespace {

enum class Section { dataset, method, train };
GRM_WORDS(Section, "dataset", "method", "train")

Section section_named(const std::string& word) {
  if (const std::optional<Section> section = grm::value_of<Section>(word)) return *section;
  fail(ErrorKind::config, "'{}' is not a section{}; the sections are dataset, method, train", word,
       did_you_mean(word, words_of(Section{})));
}

// What of a list goes into a section of the text: not `silent` options, and those that came later
// only where one of their group is used, or moved by the preset, so that absence would mean that.
std::string values_text(const std::string& section, const OptionList& list,
                        const std::set<std::string>& preset,
                        const std::set<std::string>& silent = {}) {
  std::set<std::string> used;
  for (const Option& o : list.options()) {
    if (!o.is_default() || preset.count(section + "." + o.key) > 0) used.insert(o.later_group);
  }
  std::string text;
  for (const Option& o : list.options()) {
    const bool says = o.later_group.empty() || used.count(o.later_group) > 0;
    if (says && silent.count(o.key) == 0) text += fmt::format("{} = {}\n", o.key, o.get());
  }
  return text;
}

// The options of GOOD's datasets that say what shifts, and how.
const std::string kDomainKey = "domain", kShiftKey = "shift";

// The word of a choice without its quotes.
std::string plain_word(const std::string& value) {
  const bool quoted = value.size() > 1 && value.front() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

RunConfig::RunConfig(const std::string& dataset_name, const std::string& method_name,
                     const std::string& preset)
    : dataset(dataset_name), method(method_name, preset, dataset_name) {
  if (!is_utf8(this->dataset_name())) {
    fail(ErrorKind::config,
         "{}: the path of the data is not UTF-8, so no configuration file can name it; rename it, "
         "or "
         "make a link to it: ln -s PATH data",
         utf8_text(this->dataset_name()));
  }
  train.declare(train_options_);
  for (const auto& [key, value] : method.train_values()) train_options_.set("train", key, value);
  for (const Option& o : method.options().options()) {
    if (!o.is_default()) preset_.insert("method." + o.key);
  }
  for (const Option& o : train_options_.options()) {
    if (!o.is_default()) preset_.insert("train." + o.key);
  }
  follow_dataset();
}

RunConfig::RunConfig(const RunConfig& other)
    : dataset(other.dataset), method(other.method), preset_(other.preset_), told_(other.told_) {
  train.declare(train_options_);
  train = other.train;
}

RunConfig& RunConfig::operator=(const RunConfig& other) {
  dataset = other.dataset;
  method = other.method;
  train = other.train;
  preset_ = other.preset_;
  told_ = other.told_;
  return *this;
}

void RunConfig::set(const std::string& path, const std::string& value) {
  const size_t dot = path.find('.');
  const std::string section = path.substr(0, dot);
  if (dot == std::string::npos) {
    fail(ErrorKind::config, "'{}' is not of the form section.key, as in method.lr=0.01", path);
  }
  const std::string key = path.substr(dot + 1);
  const Section named = section_named(section);
  told_.insert(path);
  switch (named) {
    case Section::dataset:
      dataset.options().set(section, key, value);
      return follow_dataset();
    case Section::method:
      return method.options().set(section, key, value);
    case Section::train:
      return train_options_.set(section, key, value);
  }
}

void RunConfig::follow_dataset() {
  if (method.preset() != kGoodPreset) return;
  std::string domain, shift;
  for (const Option& o : dataset.options().options()) {
    if (o.key == kDomainKey) domain = plain_word(o.get());
    if (o.key == kShiftKey) shift = plain_word(o.get());
  }
  for (const auto& [key, value] :
       good_values(method_name(), dataset_name(), domain, shift, method.options())) {
    static const std::string kTrain = "train.";
    const bool of_train = key.rfind(kTrain, 0) == 0;
    const std::string path = of_train ? key : "method." + key;
    preset_.insert(path);
    if (told_.count(path) > 0) continue;
    if (of_train) {
      train_options_.set("train", key.substr(kTrain.size()), value);
    } else {
      method.options().set("method", key, value);
    }
  }
}

std::string RunConfig::to_toml(int64_t seed) const {
  // These change no result.
  static const std::set<std::string> silent = {"seeds", "first_seed", "checkpoint_seconds", "log"};
  return fmt::format(
      "seed = {}\n\n[dataset]\nname = {}\n{}\n[method]\nname = {}\npreset = {}\n{}\n[train]\n{}",
      seed, toml_string(dataset_name()), values_text("dataset", dataset.options(), preset_),
      toml_string(method_name()), toml_string(method.preset()),
      values_text("method", method.options(), preset_),
      values_text("train", train_options_, preset_, silent));
}

namespace {

std::string value_text(const toml::node& node) {
  if (const auto* word = node.as_string()) return word->get();
  std::ostringstream out;
  out << toml::default_formatter(toml::table{{"v", toml::inserter{node}}},
                                 toml::format_flags::none);
  const std::string line = out.str();  // "v = value"
  return line.substr(line.find('=') + 2);
}

// As OptionList::set takes it: quotes that belong to the text are not taken off it.
std::string option_text(const toml::node& node) {
  const std::string text = value_text(node);
  const bool in_quotes = node.is_string() && !text.empty() && (text[0] == '"' || text[0] == '\'');
  return in_quotes ? toml_string(text) : text;
}

}  // namespace

ConfigSections config_sections(const std::string& text, const std::string& origin) {
  ConfigSections sections;
  for (const auto& [section, table] : read_toml(text, origin)) {
    if (!table.is_table()) continue;
    auto& values = sections[std::string(section.str())];
    for (const auto& [key, value] : *table.as_table()) {
      values[std::string(key.str())] = value_text(value);
    }
  }
  return sections;
}

RunConfig config_from_toml(const std::string& text, const std::string& origin,
                           const std::string& dataset, const std::string& method,
                           const std::string& preset) {
  const toml::table file = read_toml(text, origin);
  const auto word = [&](const char* section, const char* key, const std::string& given) {
    return given.empty() ? file[section][key].value_or(std::string()) : given;
  };
  const std::string dataset_name = word("dataset", "name", dataset);
  const std::string method_name = word("method", "name", method);
  if (dataset_name.empty() || method_name.empty()) {
    fail(ErrorKind::config, "{}: no {} is named; write [{}] with name = \"...\"", origin,
         dataset_name.empty() ? "dataset" : "method", dataset_name.empty() ? "dataset" : "method");
  }
  RunConfig config(dataset_name, method_name, word("method", "preset", preset));
  const std::set<std::string> read = {"dataset.name", "method.name", "method.preset"};
  const std::set<std::string> apart = {"seed"};  // the files that runs leave behind carry theirs
  for (const auto& [section, table] : file) {
    const std::string name(section.str());
    if (!table.is_table()) {
      if (apart.count(name) > 0) continue;
      fail(ErrorKind::config, "{}: '{}' is outside [dataset], [method] and [train]",
           toml_place(origin, table.source()), name);
    }
    for (const auto& [key, value] : *table.as_table()) {
      const std::string option = name + "." + std::string(key.str());
      if (read.count(option) > 0) continue;
      try {
        config.set(option, option_text(value));
      } catch (const Error& error) {
        fail(ErrorKind::config, "{}: {}", toml_place(origin, value.source()), error.what());
      }
    }
  }
  return config;
}

}  // namespace grm
