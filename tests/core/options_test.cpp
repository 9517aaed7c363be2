#include "grm/core/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace grm {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

enum class Conv { sum, kipf };
GRM_WORDS(Conv, "sum", "kipf")

struct Sample {
  int64_t hidden = 64;
  double rate = 0.01;
  bool centre = false;
  std::string note = "plain";
  std::vector<int64_t> fanout = {10, 5};
  Conv conv = Conv::sum;
  OptionList list;

  Sample() {
    list.add("hidden", hidden, {1, 4096}, "width of hidden layers");
    list.add("rate", rate, {0, 1}, "learning rate");
    list.add("centre", centre, "subtract the mean");
    list.add("note", note, "free text");
    list.add("fanout", fanout, {0, 1000}, "neighbours per hop");
    list.choice("conv", conv, "convolution");
  }
  void set(const std::string& key, const std::string& value) { list.set("method", key, value); }
  const Option& option(const std::string& key) const {
    for (const Option& option : list.options()) {
      if (option.key == key) return option;
    }
    throw std::out_of_range(key);
  }
  std::string refusal(const std::string& key, const std::string& value) {
    return error_of(ErrorKind::config, [&] { set(key, value); });
  }
};

TEST(Options, SettingATextChangesTheMember) {
  Sample sample;
  sample.set("hidden", "128");
  sample.set("rate", "1e-3");
  sample.set("centre", "true");
  sample.set("note", "\"in quotes\"");
  sample.set("fanout", "[3, 2, 1]");
  sample.set("conv", "kipf");
  EXPECT_EQ(sample.hidden, 128);
  EXPECT_EQ(sample.rate, 1e-3);
  EXPECT_TRUE(sample.centre);
  EXPECT_EQ(sample.note, "in quotes");
  EXPECT_THAT(sample.fanout, ElementsAre(3, 2, 1));
  EXPECT_EQ(sample.conv, Conv::kipf);
  sample.set("fanout", "7,8");
  EXPECT_THAT(sample.fanout, ElementsAre(7, 8));
  sample.set("fanout", "[]");
  EXPECT_TRUE(sample.fanout.empty());
}

TEST(Options, DeclarationKeepsDefaultTypeAndRange) {
  Sample sample;
  sample.set("hidden", "128");
  EXPECT_EQ(sample.option("hidden").default_value, "64");
  EXPECT_EQ(sample.option("hidden").get(), "128");
  EXPECT_EQ(sample.option("hidden").type, "int");
  EXPECT_EQ(sample.option("hidden").allowed, "1 .. 4096");
  EXPECT_EQ(sample.option("conv").allowed, "sum | kipf");
  EXPECT_EQ(sample.option("conv").default_value, "\"sum\"");
  EXPECT_EQ(sample.option("fanout").default_value, "[10, 5]");
  EXPECT_EQ(sample.option("note").allowed, "");
}

TEST(Options, AChoiceMayOfferSomeOfTheValuesInItsOwnOrder) {
  Conv conv = Conv::kipf;
  OptionList list;
  list.choice("conv", conv, {Conv::kipf}, "one alone");
  EXPECT_EQ(list.options().front().allowed, "kipf");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { list.set("method", "conv", "sum"); }),
              HasSubstr("'sum' is not one of kipf"));
  OptionList turned;
  turned.choice("conv", conv, {Conv::kipf, Conv::sum}, "both");
  EXPECT_EQ(turned.options().front().allowed, "kipf | sum");
  turned.set("method", "conv", "sum");
  EXPECT_EQ(conv, Conv::sum);
  EXPECT_EQ(value_of<Conv>("kipf"), Conv::kipf);
  EXPECT_FALSE(value_of<Conv>("mean").has_value());
}

TEST(Options, WhatGetPrintsSetReadsBack) {
  Sample sample, copy;
  sample.rate = 0.1 + 0.2;
  sample.hidden = 17;
  sample.centre = true;
  sample.fanout = {1};
  sample.conv = Conv::kipf;
  for (const char* note :
       {"", "a b", "say \"hi\"", "back\\slash", "\"", "\\", "tab\tline\n", "'"}) {
    sample.note = note;
    for (const Option& option : sample.list.options()) copy.set(option.key, option.get());
    EXPECT_EQ(copy.note, sample.note);
  }
  EXPECT_EQ(copy.rate, sample.rate);
  EXPECT_EQ(copy.hidden, sample.hidden);
  EXPECT_EQ(copy.centre, sample.centre);
  EXPECT_EQ(copy.fanout, sample.fanout);
  EXPECT_EQ(copy.conv, sample.conv);
}

TEST(Options, ValuesOutsideTheRangeAreRefusedAndChangeNothing) {
  Sample sample;
  EXPECT_THAT(sample.refusal("hidden", "0"),
              AllOf(HasSubstr("method.hidden"), HasSubstr("1 .. 4096")));
  EXPECT_THAT(sample.refusal("rate", "1.5"), HasSubstr("0 .. 1"));
  EXPECT_THAT(sample.refusal("fanout", "5,1001"), HasSubstr("1001"));
  EXPECT_EQ(sample.hidden, 64);
  EXPECT_EQ(sample.rate, 0.01);
  EXPECT_THAT(sample.fanout, ElementsAre(10, 5));
  sample.set("rate", "0");
  sample.set("rate", "1");
}

TEST(Options, TextThatIsNotOfTheTypeIsRefused) {
  Sample sample;
  for (const char* value : {"", "x", "1.5", "1x", "99999999999999999999"}) {
    EXPECT_THAT(sample.refusal("hidden", value), HasSubstr("method.hidden")) << value;
  }
  for (const char* value : {"", "x", "0.1x", "nan"}) {
    EXPECT_THAT(sample.refusal("rate", value), HasSubstr("method.rate")) << value;
  }
  EXPECT_THAT(sample.refusal("centre", "perhaps"), HasSubstr("neither true nor false"));
  EXPECT_THAT(sample.refusal("fanout", "1,x"), HasSubstr("'x'"));
}

TEST(Options, AnUnknownChoiceListsTheKnownOnes) {
  Sample sample;
  EXPECT_THAT(sample.refusal("conv", "kipff"),
              AllOf(HasSubstr("sum | kipf"), HasSubstr("did you mean 'kipf'?")));
  EXPECT_EQ(sample.conv, Conv::sum);
}

TEST(Options, AnUnknownKeyGetsASuggestion) {
  Sample sample;
  EXPECT_THAT(
      sample.refusal("hiden", "1"),
      AllOf(HasSubstr("method.hiden"), HasSubstr("did you mean 'hidden'?"), HasSubstr("fanout")));
  EXPECT_THAT(sample.refusal("completely_else", "1"), Not(HasSubstr("did you mean")));
}

TEST(Trust09Options, MessagesAreShortWhateverWasGiven) {
  Sample sample;
  // The value as it was typed: 1.0000001 is not "1", and no number gets longer.
  EXPECT_THAT(sample.refusal("rate", "1.0000001"), HasSubstr("1.0000001 is outside 0 .. 1"));
  EXPECT_THAT(sample.refusal("rate", "1e308"), HasSubstr("1e308 is outside"));
  EXPECT_THAT(sample.refusal("hidden", "99999999999999999999"),
              AllOf(HasSubstr("too large"), Not(HasSubstr("whole"))));
  EXPECT_THAT(sample.refusal("hidden", "-99999999999999999999"), HasSubstr("too small"));
  for (const char* key : {"hidden", "rate", "centre", "conv", "fanout"}) {
    EXPECT_LT(sample.refusal(key, std::string(5000, 'x')).size(), 200u) << key;
  }
}

TEST(Trust09Options, SwappedLettersAreOneEdit) {
  EXPECT_EQ(nearest_word("trian", {"brain", "train"}), "train");
  EXPECT_EQ(nearest_word("rnu", {"ran", "run"}), "run");
}

TEST(NearestWord, IsTheOneWithFewestEdits) {
  EXPECT_EQ(nearest_word("gmr", {"erm", "grm", "irm"}), "grm");
  EXPECT_EQ(nearest_word("twich", {"twitch", "cora"}), "twitch");
  EXPECT_EQ(nearest_word("grm", {"erm", "grm"}), "grm");
  EXPECT_EQ(nearest_word("xyzzy", {"cora", "photo"}), "");
  EXPECT_EQ(nearest_word("zz", {"lr"}), "");
  EXPECT_EQ(nearest_word("anything", {}), "");
  // Comparing takes the square of the length; what a damaged file holds may be long.
  const std::string endless(1 << 20, 'a');
  EXPECT_EQ(nearest_word(endless, {endless}), "");
  EXPECT_EQ(nearest_word("aaa", {endless, "aab"}), "aab");
  EXPECT_EQ(did_you_mean("zz", {"lr"}), "");
}

}  // namespace
}  // namespace grm
