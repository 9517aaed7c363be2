// presets.toml and suggestions.toml name what there is: a slip of the pen in a table that nobody reads would
// change nothing and be seen by nobody.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "core/embedded.h"
#include "core/toml_leaves.h"
#include "grm/data/dataset.h"
#include "grm/methods/method.h"
#include "methods/good_settings.h"

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

// A key that no method has would be left out in silence.
TEST(GoodSettings, NameMethodsDomainsAndOptions) {
  std::set<std::string> known;
  for (const MethodEntry& entry : methods()) {
    const std::unique_ptr<MethodRecipe> recipe = entry.make();
    OptionList list;
    recipe->declare(list);
    for (const Option& option : list.options()) known.insert(entry.name + " " + option.key);
    for (const Option& option : list.options()) known.insert("networks " + option.key);
  }
  std::set<std::string> datasets;
  for (const TomlLeaf& leaf : leaves("good.toml")) {
    if (leaf.path[0] == "networks") datasets.insert(leaf.path[1]);
  }
  for (const TomlLeaf& leaf : leaves("good.toml")) {
    const std::vector<std::string>& path = leaf.path;
    if (path.size() > 2) {
      EXPECT_EQ(datasets.count(path[1]), 1u) << path[1];
    }
    if (path[path.size() - 2] == "train") continue;
    EXPECT_EQ(known.count(path[0] + " " + path.back()), 1u) << path[0] << " " << path.back();
  }
}

// Values of the configurations in GOOD's repository.
TEST(GoodSettings, DependOnDatasetDomainAndShift) {
  const auto value = [](const std::string& method, Level level, const std::string& dataset,
                        const std::string& domain, const std::string& shift,
                        const std::string& key) -> std::string {
    const std::unique_ptr<MethodRecipe> recipe = find_method(method, level).make();
    OptionList list;
    recipe->declare(list);
    std::string last;
    for (const auto& [name, text] : good_values(method, dataset, domain, shift, list)) {
      if (name == key) last = text;
    }
    return last;
  };
  const Level graph = Level::graph, node = Level::node;
  EXPECT_EQ(value("irm", graph, "good-hiv", "size", "concept", "lambda"), "100");
  EXPECT_EQ(value("irm", graph, "good-hiv", "size", "none", "lambda"), "0.1");
  EXPECT_EQ(value("irm", graph, "good-hiv", "scaffold", "concept", "lambda"), "0.1");
  EXPECT_EQ(value("vrex", graph, "good-motif", "size", "covariate", "lambda"), "1");
  EXPECT_EQ(value("vrex", graph, "good-motif", "basis", "covariate", "lambda"), "100");
  EXPECT_EQ(value("groupdro", graph, "good-motif", "basis", "concept", "eta"), "0.001");
  EXPECT_EQ(value("coral", graph, "good-motif", "basis", "concept", "covariance"), "as-coded");
  EXPECT_EQ(value("dann", node, "good-cbas", "", "none", "lambda"), "0.01");
  EXPECT_EQ(value("dann", graph, "good-motif", "basis", "concept", "ramp"), "200");
  EXPECT_EQ(value("irm", graph, "good-motif", "basis", "concept", "hidden"), "300");
  EXPECT_EQ(value("irm", graph, "good-motif", "basis", "concept", "train.milestone"), "150");
  EXPECT_EQ(value("erm", graph, "good-hiv", "scaffold", "none", "train.epochs"), "250");
  EXPECT_EQ(value("irm", graph, "good-motif", "basis", "concept", "ramp"), "");  // has no such
  EXPECT_EQ(value("irm", graph, "spmotif", "", "", "lambda"), "");
}

}  // namespace
}  // namespace grm
