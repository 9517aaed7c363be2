// presets.toml and suggestions.toml name what there is: a slip of the pen in a table that nobody reads would
// change nothing and be seen by nobody.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "core/embedded.h"
#include "core/toml_leaves.h"
#include "grm/data/dataset.h"
#include "grm/methods/method.h"

namespace grm {

const std::vector<EmbeddedFile>& method_files();

namespace {

std::vector<TomlLeaf> leaves(const std::string& name) {
  for (const EmbeddedFile& file : method_files()) {
    if (file.name == name) return toml_leaves(file.text, name);
  }
  ADD_FAILURE() << name << " is not compiled in";
  return {};
}

TEST(Presets, EveryTableIsThatOfAMethodAndHasASummary) {
  std::set<std::string> known;
  for (const MethodEntry& entry : methods()) {
    ASSERT_FALSE(entry.presets.empty()) << entry.name;
    for (const Preset& preset : entry.presets) {
      EXPECT_FALSE(preset.summary.empty()) << entry.name << " " << preset.name;
      known.insert(entry.name + " " + to_string(entry.level) + " " + preset.name);
    }
  }
  for (const TomlLeaf& leaf : leaves("presets.toml")) {
    ASSERT_GE(leaf.path.size(), 4u) << leaf.path.back();
    EXPECT_EQ(known.count(leaf.path[0] + " " + leaf.path[1] + " " + leaf.path[2]), 1u)
        << leaf.path[0] << " " << leaf.path[1] << " " << leaf.path[2];
  }
}

TEST(Suggestions, NameMethodsPresetsOptionsAndDatasets) {
  std::set<std::string> known;
  for (const MethodEntry& entry : methods()) {
    known.insert(entry.name);
    for (const Preset& preset : entry.presets) known.insert(entry.name + ":" + preset.name);
    const std::unique_ptr<MethodRecipe> recipe = entry.make();
    OptionList list;
    recipe->declare(list);
    for (const Option& option : list.options()) known.insert("." + option.key);
  }
  for (const TomlLeaf& leaf : leaves("suggestions.toml")) {
    ASSERT_GE(leaf.path.size(), 3u) << leaf.path.back();
    EXPECT_NO_THROW(find_dataset(leaf.path[1])) << leaf.path[1];
    std::istringstream words(leaf.path[0]);
    for (std::string word; words >> word;) EXPECT_EQ(known.count(word), 1u) << word;
  }
}

TEST(Suggestions, WhatComesLaterWins) {
  const auto value = [](const MethodChoice& choice, const std::string& key) -> std::string {
    for (const Option& option : choice.options().options()) {
      if (option.key == key) return option.get();
    }
    return "";
  };
  // The predictors of DIR, then its own values.
  EXPECT_EQ(value(MethodChoice("dir", "", "molhiv"), "hidden"), "300");
  EXPECT_EQ(value(MethodChoice("dir", "", "molhiv"), "embed"), "false");
  EXPECT_EQ(value(MethodChoice("ciga", "v1", "mnist75sp"), "alpha"), "32");
  EXPECT_EQ(value(MethodChoice("ciga", "v2", "mnist75sp"), "alpha"), "16");
  EXPECT_EQ(value(MethodChoice("eerm", "as-coded", "twitch"), "editor_init"), "\"zeros\"");
  EXPECT_EQ(value(MethodChoice("eerm", "", "twitch"), "editor_init"), "\"uniform_once\"");
  EXPECT_EQ(value(MethodChoice("drnn", "", "arxiv"), "eerm_inner_steps"), "5");  // it has `domains`
  EXPECT_EQ(MethodChoice("dir", "", "spmotif").train_values().back(),
            (std::pair<std::string, std::string>{"patience", "100"}));
}

}  // namespace
}  // namespace grm
