#include "core/json_number.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/expect_error.h"

namespace grm {
namespace {

using test::error_of;
using ::testing::HasSubstr;

TEST(JsonNumber, WholeNumbersOf64BitsAreTakenAsTheyAre) {
  const auto json =
      nlohmann::json::parse(R"({"a": 0, "b": -9223372036854775808, "c": 9223372036854775807})");
  EXPECT_EQ(whole_number(json, "a", "f"), 0);
  EXPECT_EQ(whole_number(json, "b", "f"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(whole_number(json, "c", "f"), std::numeric_limits<int64_t>::max());
}

TEST(JsonNumber, WhatNoIntegerHoldsIsRefusedByName) {
  for (const char* value :
       {"1.5", "1e300", "9223372036854775808", "\"7\"", "[7]", "null", "true"}) {
    const auto json = nlohmann::json::parse(std::string("{\"key\": ") + value + "}");
    EXPECT_THAT(error_of(ErrorKind::data, [&] { whole_number(json, "key", "f.json"); }),
                HasSubstr("f.json: damaged: 'key' is not a whole number"))
        << value;
  }
}

}  // namespace
}  // namespace grm
