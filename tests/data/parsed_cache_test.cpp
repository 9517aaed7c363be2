#include "data/parsed_cache.h"

#include <torch/types.h>

#include <filesystem>

#include "core/files.h"
#include "data/helpers.h"

namespace grm::parsed_cache_tests {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

// A parser that counts its calls.
struct CountingParser {
  int calls = 0;
  io::TensorFile operator()() {
    ++calls;
    io::TensorFile file;
    file.tensors["numbers"] = torch::arange(1000, torch::kInt64);
    return file;
  }
};

io::TensorFile load(const std::string& cache, const std::string& hash, int version,
                    CountingParser& parser) {
  DataContext context;
  context.cache = cache;
  return cached(context, "key", {{"folder/file.csv", hash}}, version, std::ref(parser));
}

std::string only_file(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path().string());
  EXPECT_EQ(found.size(), 1u);
  return found.front();
}

TEST(ParsedCache, ParsesOnceAndGivesTheSameBack) {
  const TempFolder folder;
  CountingParser parser;
  const io::TensorFile first = load(folder.path(), "aa", 1, parser);
  const io::TensorFile second = load(folder.path(), "aa", 1, parser);
  EXPECT_EQ(parser.calls, 1);
  EXPECT_TRUE(torch::equal(first.tensors.at("numbers"), second.tensors.at("numbers")));
  const std::string name = fs::path(only_file(folder.path())).filename().string();
  EXPECT_THAT(name, ::testing::MatchesRegex("key-[0-9a-f]+\\.safetensors"));
}

TEST(ParsedCache, ParsesAnewWhenTheSourceOrTheParserChanges) {
  const TempFolder folder;
  CountingParser parser;
  load(folder.path(), "aa", 1, parser);
  load(folder.path(), "bb", 1, parser);
  EXPECT_EQ(parser.calls, 2);
  load(folder.path(), "aa", 2, parser);
  EXPECT_EQ(parser.calls, 3);
  load(folder.path(), "aa", 1, parser);
  EXPECT_EQ(parser.calls, 3);
}

TEST(ParsedCache, EveryKindOfDamageIsRepairedWithAWarning) {
  const TempFolder folder;
  CountingParser parser;
  load(folder.path(), "aa", 1, parser);
  const std::string path = only_file(folder.path());
  const std::string sound = read_file(path);
  std::string flipped = sound;
  flipped[flipped.size() - 100] ^= 1;
  int expected = 1;
  for (const std::string& damaged :
       {std::string(), std::string("rubbish"), sound.substr(0, sound.size() / 2), flipped}) {
    write_file_atomic(path, damaged);
    const test::WarningTrap trap;
    const io::TensorFile file = load(folder.path(), "aa", 1, parser);
    EXPECT_EQ(parser.calls, ++expected);
    EXPECT_EQ(file.tensors.at("numbers").numel(), 1000);
    EXPECT_EQ(trap.warnings.size(), 1u);
    EXPECT_EQ(read_file(path), sound) << "the damaged file is replaced";
  }
}

TEST(ParsedCache, AFolderThatCannotBeWrittenOnlyWarns) {
  const TempFolder folder;
  const std::string file = folder.write("plain_file", "");
  CountingParser parser;
  const test::WarningTrap trap;
  EXPECT_EQ(load(file + "/cache", "aa", 1, parser).tensors.size(), 1u);
  EXPECT_EQ(parser.calls, 1);
  ASSERT_EQ(trap.warnings.size(), 1u);
  EXPECT_THAT(trap.warnings[0], ::testing::HasSubstr("without the cache"));
}

TEST(ParsedCache, NoFolderNoCache) {
  CountingParser parser;
  load("", "aa", 1, parser);
  load("", "aa", 1, parser);
  EXPECT_EQ(parser.calls, 2);
}

TEST(ParsedCache, AFailedParseLeavesNothingBehind) {
  const TempFolder folder;
  DataContext context;
  context.cache = folder.path();
  EXPECT_THROW(
      cached(context, "key", {}, 1, []() -> io::TensorFile { fail(ErrorKind::data, "bad file"); }),
      Error);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ParsedCache, PatternsComeBackAsTheyWere) {
  const AdjacencyPtr pattern =
      make_adjacency(3, 5, torch::tensor({4, 0, 4}), torch::tensor({0, 2, 2}));
  io::TensorFile file;
  put_pattern(file, "x", pattern->in);
  const AdjacencyPtr back =
      get_pattern(io::from_safetensors(io::to_safetensors(file), "memory"), "x");
  EXPECT_EQ(back->rows(), 3);
  EXPECT_EQ(back->cols(), 5);
  EXPECT_EQ(test::pairs_of(*back), test::pairs_of(*pattern));
  EXPECT_TRUE(torch::equal(back->out.offsets, pattern->out.offsets));
}

}  // namespace
}  // namespace grm::parsed_cache_tests
