// Text of users in terminals, JSON and spreadsheets. Expected values follow RFC 3629 (UTF-8), RFC
// 4180 (CSV) and what spreadsheets take for formulas.
#include "core/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/json.h"

namespace grm {
namespace {

TEST(Trust19Utf8, ValidTextStaysAndOtherBytesAreWrittenOut) {
  for (const char* good : {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82", "\x7f"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
    EXPECT_EQ(utf8_text(good), good);
  }
  // Alone, cut short, overlong, a surrogate, above U+10FFFF.
  for (const char* bad : {"\xff", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "a\x80"}) {
    EXPECT_FALSE(is_utf8(bad));
    EXPECT_TRUE(is_utf8(utf8_text(bad)));
  }
  EXPECT_EQ(utf8_text("caf\xe9!"), "caf\\xe9!");
}

TEST(Trust19Utf8, NoTextOfJsonThrows) {
  const nlohmann::json value = {{"path", "caf\xe9"}, {"\xff", 1}};
  EXPECT_ANY_THROW(value.dump());
  EXPECT_NO_THROW(EXPECT_FALSE(nlohmann::json::parse(json_text(value)).is_discarded()));
}

TEST(Trust19Terminal, NothingInATextIsObeyed) {
  EXPECT_EQ(terminal_text("\x1b]0;owned\x07 \x1b[2J"), "\\x1b]0;owned\\x07 \\x1b[2J");
  EXPECT_EQ(terminal_text("a\rb\bc"), "a\\x0db\\x08c");
  EXPECT_EQ(terminal_text("\xc2\x9b"
                          "31m"),
            "\\x9b31m");  // CSI as one character
  EXPECT_EQ(terminal_text("\xe2\x80\xae"
                          "fdp.exe"),
            "\\u202efdp.exe");  // right to left
  EXPECT_EQ(terminal_text("two\nlines\tand \xc3\xa9"), "two\nlines\tand \xc3\xa9");
}

TEST(Trust19Csv, CellsFollowTheStandardAndAreNoFormulas) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_cell("=1+1"), "'=1+1");
  EXPECT_EQ(csv_cell("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_cell("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  EXPECT_EQ(csv_cell("-2+3"), "'-2+3");
  EXPECT_EQ(csv_cell("=HYPERLINK(\"u\",1)"), "\"'=HYPERLINK(\"\"u\"\",1)\"");
  for (const char* number : {"-1", "+2.5", "-1e-30", "3", "-.5", ""}) {
    EXPECT_EQ(csv_cell(number), number);
  }
}

}  // namespace
}  // namespace grm
