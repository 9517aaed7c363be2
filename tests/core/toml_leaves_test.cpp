#include "core/toml_leaves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace grm {
namespace {

using Path = std::vector<std::string>;

TEST(TomlLeaves, StandInTheOrderOfTheText) {
  const std::vector<TomlLeaf> leaves = toml_leaves(
      "[z.b]\nsecond = 0.5\nfirst = 12\nt.x = true\n[a]\nw = { u = \"v\", c = [1, 2] }\n"
      "[z.a]\nlr = 0.00001\n",
      "f.toml");
  ASSERT_EQ(leaves.size(), 6u);
  EXPECT_EQ(leaves[0].path, (Path{"z", "b", "second"}));
  EXPECT_EQ(leaves[0].text, "0.5");
  EXPECT_EQ(leaves[1].path, (Path{"z", "b", "first"}));
  EXPECT_EQ(leaves[1].text, "12");
  EXPECT_EQ(leaves[2].path, (Path{"z", "b", "t", "x"}));
  EXPECT_EQ(leaves[2].text, "true");
  EXPECT_EQ(leaves[3].path, (Path{"a", "w", "u"}));
  EXPECT_EQ(leaves[3].text, "v");
  EXPECT_EQ(leaves[4].text, "[1, 2]");
  EXPECT_EQ(std::stod(leaves[5].text), 0.00001);
}

TEST(TomlLeaves, WhatIsNoTomlIsToldWithItsPlace) {
  EXPECT_THAT(test::error_of(ErrorKind::config, [] { toml_leaves("a = 1\nb = \n", "f.toml"); }),
              testing::HasSubstr("f.toml:2:"));
}

}  // namespace
}  // namespace grm
