#include "grm/train/config.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "grm/core/error.h"
#include "support/temp_folder.h"

namespace grm {
namespace {

// Recorded runs are found by their text: an option that came later must not change it.
TEST(Config, OptionsThatCameLaterAreWrittenWhereTheyAreUsed) {
  RunConfig node("sbm", "grm");
  const std::string before = node.to_toml(1);
  for (const char* key : {"presence", "input_dropout", "batch_norm", "validate_on", "average"}) {
    EXPECT_EQ(before.find(key), std::string::npos) << key;
  }
  node.set("method.presence", "gate");
  node.set("train.average", "ema");
  const std::string text = node.to_toml(1);
  for (const char* line : {"presence = \"gate\"", "presence_weight = 0.01", "presence_prior = 0.3",
                           "average = \"ema\"", "average_decay = 0.9"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(text.find("validate_on"), std::string::npos);
  EXPECT_EQ(config_from_toml(text, "x").to_toml(1), text);
  EXPECT_EQ(config_from_toml(before, "x").to_toml(1), before);
  // What others had before stays in their text.
  const std::string rival = RunConfig("spmotif", "erm").to_toml(1);
  EXPECT_NE(rival.find("pooling = "), std::string::npos);
  EXPECT_NE(rival.find("batch_norm = "), std::string::npos);
  EXPECT_EQ(rival.find("pool = "), std::string::npos);
  EXPECT_EQ(RunConfig("spmotif", "grm").to_toml(1).find("pooling"), std::string::npos);
}

// Absence means the default only where the preset leaves it there.
TEST(Config, WhatAPresetMovesIsWrittenAtItsDefault) {
  RunConfig config("spmotif", "grm", "nodes");
  ASSERT_EQ(config.to_toml(1).find("presence = \"none\""), std::string::npos);
  const RunConfig plain("spmotif", "grm");
  for (const Option& o : plain.method.options().options()) {
    if (!o.later_group.empty()) config.set("method." + o.key, o.default_value);
  }
  for (const RunConfig& each : {config, RunConfig(config)}) {
    const std::string text = each.to_toml(1);
    EXPECT_NE(text.find("presence = \"none\"\npresence_weight = "), std::string::npos);
    EXPECT_NE(text.find("pooling = \"mean\""), std::string::npos);
    EXPECT_EQ(text.find("input_dropout"), std::string::npos);
    EXPECT_EQ(config_from_toml(text, "x").to_toml(1), text);
  }
}

// The text of a run that was recorded before most of these options were there.
TEST(Config, AnOldTextStaysWhatItWas) {
  const std::string old =
      "seed = 1000\n\n[dataset]\nname = \"scale\"\nnodes = 10000\nmean_degree = 10\nfeatures = 32\n"
      "classes = 4\ndataset_seed = 0\nsymmetrise = false\ncentre = \"none\"\n\n[method]\n"
      "name = \"erm\"\npreset = \"kipf\"\nbackbone = \"gcn\"\nconv = \"kipf\"\nhidden = 128\n"
      "layers = 2\ndropout = 0\nbatch_norm = true\nheads = 4\nweight_last_layer = false\n"
      "optimiser = \"adamw\"\nlr = 0.01\nweight_decay = 0.001\nupdate = "
      "\"mean\"\n\n[train]\nepochs = 200\n"
      "eval_every = 1\npatience = 0\nstop = \"no_gain\"\nwarm_up = 0\ntest = \"every\"\n"
      "selection = \"val\"\n";
  RunConfig config = config_from_toml(old, "config.toml");
  EXPECT_EQ(config.to_toml(1000), old);
  for (const OptionList* list : {&config.dataset.options(), &config.method.options()}) {
    for (const Option& o : list->options()) {
      EXPECT_TRUE(o.later_group.empty() || o.is_default()) << o.key;
    }
  }
  EXPECT_EQ(config.train.batch, 0);
  EXPECT_TRUE(config.train.calibrate);
  config.set("train.batch", "64");
  EXPECT_NE(config.to_toml(1000).find("batch = 64\nfanout = []\n"), std::string::npos);
  config.set("dataset.labelled", "0.5");
  EXPECT_NE(config.to_toml(1000).find("labelled = 0.5\n"), std::string::npos);
}

std::string message_of(const std::string& toml) {
  try {
    config_from_toml(toml, "file.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  return "no error";
}

TEST(Config, WhatIsWrittenReadsBackToTheSameText) {
  RunConfig config("sbm", "grm", "centred");
  config.set("method.alpha", "0.125");
  config.set("method.fanout", "[10, 5]");
  config.set("dataset.centre", "domain");
  config.set("train.epochs", "17");
  const std::string text = config.to_toml(1003);
  EXPECT_EQ(config_from_toml(text, "config.toml").to_toml(1003), text);
  EXPECT_NE(text.find("alpha = 0.125"), std::string::npos);
  EXPECT_NE(text.find("fanout = [10, 5]"), std::string::npos);
}

TEST(Config, NamesOfFoldersWithQuotesReadBack) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/my \"own\" data\\ 'x'";
  write_file_atomic(path + "/dataset.toml",
                    "name = \"q\"\n[train]\ndomains = [\"a\"]\n[validation]\ndomains = [\"b\"]\n");
  const RunConfig config(path, "erm");
  const std::string text = config.to_toml(1);
  const auto back = config_from_toml(text, "config.toml");
  EXPECT_EQ(back.dataset_name(), path);
  EXPECT_EQ(back.to_toml(1), text);
  EXPECT_EQ(config_sections(text, "config.toml").at("dataset").at("name"), path);
}

TEST(Config, NumberOfSeedsDoesNotChangeARun) {
  RunConfig a("sbm", "erm"), b("sbm", "erm");
  b.set("train.seeds", "5");
  b.set("train.checkpoint_seconds", "1");
  EXPECT_EQ(a.to_toml(1), b.to_toml(1));
  EXPECT_NE(a.to_toml(1), a.to_toml(2));
}

TEST(Config, ErrorsNameFileLineAndTheNearestKey) {
  const std::string unknown =
      message_of("[dataset]\nname = \"sbm\"\n[method]\nname = \"grm\"\nalhpa = 1.0\n");
  EXPECT_NE(unknown.find("file.toml:5:"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("did you mean 'alpha'"), std::string::npos) << unknown;
  const std::string range =
      message_of("[dataset]\nname = \"sbm\"\n[method]\nname = \"grm\"\ntheta = 2.0\n");
  EXPECT_NE(range.find("method.theta: 2.0 is outside"), std::string::npos) << range;
  EXPECT_NE(message_of("[dataset\n").find("file.toml:1:"), std::string::npos);
  EXPECT_NE(message_of("[method]\nname = \"grm\"\n").find("no dataset is named"),
            std::string::npos);
  EXPECT_NE(message_of("x = 1\n[dataset]\nname = \"sbm\"\n[method]\nname = \"erm\"\n")
                .find("'x' is outside [dataset], [method] and [train]"),
            std::string::npos);
}

TEST(Config, PresetsSetTrainingOptionsAndTheUserComesAfter) {
  RunConfig config("sbm", "grm", "paper");
  EXPECT_EQ(config.train.eval_every, 10);
  config.set("train.eval_every", "3");
  EXPECT_EQ(config.train.eval_every, 3);
}

TEST(OptionsReference, IsTheCommittedPage) {
  EXPECT_EQ(read_file(std::string(GRM_SOURCE_DIR) + "/docs/options.md"), options_reference())
      << "run 'make docs' and commit docs/options.md";
}

TEST(RunConfig, ACopyIsItsOwn) {
  RunConfig first("sbm", "grm", "centred");
  first.set("dataset.centre", "domain");
  first.set("method.lr", "0.125");
  first.set("train.epochs", "7");
  const std::string before = first.to_toml(1);
  RunConfig copy = first;
  EXPECT_EQ(copy.to_toml(1), before);
  copy.set("dataset.centre", "none");
  copy.set("method.lr", "0.25");
  copy.set("train.epochs", "8");
  EXPECT_EQ(first.to_toml(1), before);
  const std::string changed = copy.to_toml(1);
  EXPECT_NE(changed, before);
  {
    const RunConfig gone = copy;
    first = gone;
  }
  EXPECT_EQ(first.to_toml(1), changed);
  first.set("train.epochs", "9");
  EXPECT_EQ(first.train.epochs, 9);
  EXPECT_EQ(copy.train.epochs, 8);
  first = RunConfig("spmotif", "dir");  // of another level
  EXPECT_EQ(first.to_toml(1), RunConfig("spmotif", "dir").to_toml(1));
}

TEST(RunConfig, EveryDefaultCanBeCopied) {
  for (const MethodEntry& entry : methods()) {
    for (const DatasetEntry& dataset : datasets()) {
      if (dataset.level != entry.level) continue;
      for (const Preset& preset : entry.presets) {
        const RunConfig config(dataset.name, entry.name, preset.name);
        EXPECT_EQ(RunConfig(config).to_toml(3), config.to_toml(3));
      }
    }
  }
}

}  // namespace
}  // namespace grm
