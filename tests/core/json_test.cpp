#include "core/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/expect_error.h"

namespace grm {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using test::error_of;
using ::testing::HasSubstr;

std::string nested(int depth, char open, char close, const std::string& key = "") {
  std::string text;
  for (int k = 0; k < depth; ++k) text += open + key;
  text += key.empty() ? "" : "0";
  return text + std::string(static_cast<size_t>(depth), close);
}

TEST(Trust14JsonDepth, WhatIsOrdinarilyDeepIsRead) {
  EXPECT_EQ(parse_json<json>(R"({"a": [1, {"b": "]]["}]})", "f")["a"][1]["b"], "]][");
  EXPECT_NO_THROW(parse_json<json>(nested(kDeepestJson, '[', ']'), "f"));
  EXPECT_NO_THROW(parse_json<ordered_json>(nested(kDeepestJson, '{', '}', "\"k\":"), "f"));
}

TEST(Trust14JsonDepth, AMillionBracketsAreRefused) {
  for (const int depth : {kDeepestJson + 1, 1000000}) {
    for (const std::string& text : {nested(depth, '[', ']'), nested(depth, '{', '}', "\"k\":"),
                                    std::string(static_cast<size_t>(depth), '[')}) {
      EXPECT_THAT(error_of(ErrorKind::data, [&] { parse_json<json>(text, "env.json"); }),
                  HasSubstr("env.json: JSON with more than 64 brackets inside each other"));
      EXPECT_THAT(error_of(ErrorKind::data, [&] { parse_json<ordered_json>(text, "env.json"); }),
                  HasSubstr("env.json: JSON with more than 64 brackets inside each other"));
      EXPECT_TRUE(try_json<json>(text).is_discarded());
      EXPECT_TRUE(try_json<ordered_json>(text).is_discarded());
    }
  }
}

TEST(Trust14JsonDepth, BracketsInsideTextsAreNotCounted) {
  const std::string text = "{\"a\\\"[\": \"" + std::string(100000, '[') + "\\\\\"}";
  EXPECT_EQ(parse_json<json>(text, "f").begin().value().get<std::string>().size(), 100001u);
}

TEST(Trust14JsonDepth, WhatIsNotJsonIsLeftToTheParser) {
  for (const char* text : {"", "]", "}}}}", "[1", "\"", "\"\\", "{\"a\"", "nul"}) {
    EXPECT_THROW(parse_json<json>(text, "f"), json::exception) << text;
    EXPECT_TRUE(try_json<json>(text).is_discarded()) << text;
  }
}

// A list of numbers is twenty times as large in memory as in the file.
TEST(Trust15JsonSize, ManyValuesInLittleTextAreRefused) {
  std::string text = "[0";
  for (int k = 0; k < 5000000; ++k) text += ",0";
  text += "]";
  EXPECT_THAT(error_of(ErrorKind::data, [&] { parse_json<json>(text, "f"); }),
              HasSubstr("f: JSON with too many values for its 10000003 bytes"));
  EXPECT_TRUE(try_json<ordered_json>(text).is_discarded());
  // As many as a table of fifty thousand columns needs are fine.
  json columns = json::array();
  for (int k = 0; k < 50000; ++k) {
    columns.push_back({{"name", "x[" + std::to_string(k) + "]"},
                       {"kind", "numeric"},
                       {"missing", false},
                       {"mean", 0.12345678901234567},
                       {"scale", 1.2345678901234567},
                       {"fill", 0.0},
                       {"flag", false}});
  }
  EXPECT_EQ(parse_json<json>(columns.dump(), "f").size(), 50000u);
}

}  // namespace
}  // namespace grm
