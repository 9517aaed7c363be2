#include "io/json_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/real_data.h"
#include "support/temp_folder.h"

namespace grm::io::json_lists_tests {
namespace {

using test::error_of;
using ::testing::HasSubstr;

IntLists read_text(const std::string& text) {
  const test::TempFolder folder;
  return read_json_lists(folder.write("lists.json", text));
}

TEST(JsonLists, PairsComeInFileOrder) {
  const IntLists lists = read_text(" {\"7\": [3, 1, 3], \"9\": [],\n \"2\": [-5]} ");
  EXPECT_TRUE(lists.key.equal(torch::tensor({7, 7, 7, 2}, torch::kInt64)));
  EXPECT_TRUE(lists.value.equal(torch::tensor({3, 1, 3, -5}, torch::kInt64)));
  EXPECT_EQ(read_text("{}").key.numel(), 0);
  EXPECT_EQ(read_text("{}").key.scalar_type(), torch::kInt64);
}

TEST(JsonLists, AnythingElseIsAnErrorWithItsByte) {
  for (const char* text :
       {"[1]", "1", "null", "{\"1\": 2}", "{\"1\": [2.5]}", "{\"1\": [\"2\"]}", "{\"1\": [true]}",
        "{\"1\": [null]}", "{\"1\": {\"2\": [3]}}", "{\"1\": [[2]]}", "{\"a\": [2]}",
        "{\"1 \": [2]}", "{\"1\": [9223372036854775808]}", "{\"1\": [1e999]}", "", "{\"1\": [2}",
        "{\"1\": [2]} x"}) {
    const std::string message = error_of(ErrorKind::data, [&] { read_text(text); });
    EXPECT_THAT(message, HasSubstr("lists.json: byte ")) << text;
  }
  EXPECT_THAT(error_of(ErrorKind::data, [] { read_text("{\"1\": [2, true, 3]}"); }),
              HasSubstr("byte 14: met a boolean"));
}

TEST(JsonLists, TruncationAnywhereIsAnError) {
  const std::string whole = "{\"10\": [1, 22, 333], \"11\": [], \"12\": [4]}";
  for (size_t size = 0; size < whole.size(); ++size) {
    error_of(ErrorKind::data, [&] { read_text(whole.substr(0, size)); });
  }
}

TEST(JsonLists, DeepNestingIsRefusedAtOnce) {
  error_of(ErrorKind::data, [] { read_text("{\"1\": " + std::string(1000000, '[')); });
}

TEST(JsonLists, MissingFileIsAnErrorOfKindIo) {
  const test::TempFolder folder;
  error_of(ErrorKind::io, [&] { read_json_lists(folder.file("none.json")); });
  error_of(ErrorKind::io, [&] { read_json_lists(folder.path()); });
}

// Twitch DE: 9,498 nodes, feature ids below 3,170, 20.33 features a node on average after
// repetitions inside a list are merged (as published with the files).
TEST(JsonLists, RealTwitchFeaturesHaveTheirPublishedCounts) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  const IntLists lists = read_json_lists(*root + "/twitch/DE/musae_DE_features.json");
  EXPECT_EQ(lists.key.min().item<int64_t>(), 0);
  EXPECT_EQ(lists.key.max().item<int64_t>(), 9497);
  EXPECT_GE(lists.value.min().item<int64_t>(), 0);
  EXPECT_LT(lists.value.max().item<int64_t>(), 3170);
  const auto cells = std::get<0>(torch::_unique(lists.key * 3170 + lists.value));
  EXPECT_NEAR(static_cast<double>(cells.numel()) / 9498, 20.33, 0.005);
  EXPECT_EQ(std::get<0>(torch::_unique(lists.value)).numel(), 2514);
}

}  // namespace
}  // namespace grm::io::json_lists_tests
