// The preset `good` follows the dataset's options, and what the caller set stays as it is.
#include <gtest/gtest.h>

#include "grm/train/config.h"

namespace grm::good_preset_tests {
namespace {

std::string value(const RunConfig& config, const std::string& key) {
  for (const Option& option : config.method.options().options()) {
    if (option.key == key) return option.get();
  }
  return "";
}

TEST(GoodPreset, FollowsDomainAndShift) {
  RunConfig config("good-motif", "vrex", "good");  // basis, covariate
  EXPECT_EQ(value(config, "lambda"), "100");
  EXPECT_EQ(value(config, "hidden"), "300");
  EXPECT_EQ(config.train.epochs, 200);
  EXPECT_EQ(config.train.milestone, 150);
  config.set("dataset.domain", "size");
  EXPECT_EQ(value(config, "lambda"), "1");
  RunConfig copy = config;
  copy.set("dataset.shift", "none");
  EXPECT_EQ(value(copy, "lambda"), "1000");
  EXPECT_EQ(value(config, "lambda"), "1");
}

TEST(GoodPreset, LeavesWhatTheCallerSet) {
  RunConfig config("good-motif", "vrex", "good");
  config.set("method.lambda", "5");
  config.set("train.epochs", "7");
  RunConfig copy = config;
  for (RunConfig* each : {&config, &copy}) {
    each->set("dataset.domain", "size");
    EXPECT_EQ(value(*each, "lambda"), "5");
    EXPECT_EQ(each->train.epochs, 7);
  }
}

TEST(GoodPreset, IsReadBackAsItWasRecorded) {
  RunConfig config("good-motif", "vrex", "good");
  config.set("dataset.shift", "concept");
  config.set("method.hidden", "64");
  const std::string text = config.to_toml(3);
  EXPECT_NE(text.find("lambda = 1000"), text.npos);
  EXPECT_EQ(config_from_toml(text, "config.toml").to_toml(3), text);
}

TEST(GoodPreset, OtherPresetsDoNotFollow) {
  RunConfig config("good-motif", "vrex");
  const std::string before = value(config, "lambda");
  config.set("dataset.domain", "size");
  EXPECT_EQ(value(config, "lambda"), before);
  EXPECT_EQ(config.train.milestone, 0);
}

}  // namespace
}  // namespace grm::good_preset_tests
