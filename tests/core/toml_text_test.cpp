#include "core/toml_text.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace grm {
namespace {

using test::error_of;
using ::testing::HasSubstr;

std::string key(int parts, const std::string& part = "a") {
  std::string text = part;
  for (int k = 1; k < parts; ++k) text += "." + part;
  return text;
}

TEST(TomlText, KeysOfManyPartsAreRefusedWithTheirLine) {
  const std::string deep = key(200);
  for (const std::string& text :
       {deep + " = 1", "[" + deep + "]", "[[" + deep + "]]", "x = {" + deep + " = 1}",
        "x = [1, {" + deep + " = 1}]", key(200, "\"a,b\"") + " = 1", key(200, "'a=b'") + " = 1",
        "x = {y = \"\"\"quotes at the end\"\"\"\", " + deep + " = 1}"}) {
    EXPECT_THAT(error_of(ErrorKind::config, [&] { check_toml("# ...\n" + text, "f.toml"); }),
                HasSubstr("f.toml:2: a key of more than"))
        << text;
  }
}

TEST(TomlText, DotsElsewhereAreFine) {
  std::string floats = "x = [";
  for (int k = 0; k < 500; ++k) floats += "0.5, ";
  for (const std::string& text :
       {key(20) + " = 1", floats + "]", "x = \"" + key(500) + "\"", "x = '" + key(500) + "'",
        "x = \"\"\"\n" + key(500) + "\\\"\"\"" + key(500) + "\"\"\"", "# " + key(500),
        "x = \"not closed " + key(500)}) {
    EXPECT_NO_THROW(check_toml(text, "f.toml")) << text;
  }
}

TEST(Trust15TomlSize, MoreThanAMegabyteIsRefused) {
  const std::string text = "x = \"" + std::string(1 << 20, 'a') + "\"";
  EXPECT_THAT(error_of(ErrorKind::config, [&] { check_toml(text, "f.toml"); }),
              HasSubstr("f.toml: 1048582 bytes of TOML; files of at most 1048576 are read"));
}

TEST(TomlText, StringsAreEscapedAsTheStandardSays) {
  EXPECT_EQ(toml_string("plain, 'it'"), "\"plain, 'it'\"");
  EXPECT_EQ(toml_string("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(toml_string("\n\t\x01\x7F"), R"("\u000A\u0009\u0001\u007F")");
  EXPECT_EQ(toml_string("\xC3\xA4"), "\"\xC3\xA4\"");
}

}  // namespace
}  // namespace grm
