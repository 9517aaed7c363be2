#include "train/memory_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <torch/types.h>

#include <filesystem>
#include <fstream>

#include "grm/core/error.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "train/memory.h"

namespace grm {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// A file that says it is large and takes no room.
void sparse_file(const std::string& path, uintmax_t bytes) {
  std::ofstream(path).put('x');
  fs::resize_file(path, bytes);
}

TEST(Trust18MemoryOfInput, FollowsTheSizesOfTheFiles) {
  const test::TempFolder folder;
  sparse_file(folder.file("nodes.csv"), 1000);
  sparse_file(folder.file("graph.npz"), 1000);
  sparse_file(folder.file("other.mat"), 1000);
  EXPECT_DOUBLE_EQ(memory_to_read({folder.file("nodes.csv")}), 2500);
  EXPECT_DOUBLE_EQ(memory_to_read({folder.file("graph.npz")}), 1500);
  EXPECT_DOUBLE_EQ(memory_to_read({folder.file("other.mat"), folder.file("none")}), 1000);
}

TEST(Trust18MemoryOfInput, OwnDataIsTheTablesAndArraysOfTheFolderAndItsDomains) {
  const test::TempFolder folder;
  fs::create_directories(folder.file("first"));
  sparse_file(folder.file("a.npz"), 10);
  sparse_file(folder.file("notes.md"), 10);
  sparse_file(folder.file("first/nodes.csv"), 10);
  std::ofstream(folder.file("dataset.toml")) << "name = \"x\"\n";
  const auto expected = UnorderedElementsAre(folder.file("a.npz"), folder.file("first/nodes.csv"));
  EXPECT_THAT(own_input_files(folder.path()), expected);
  EXPECT_THAT(own_input_files(folder.file("dataset.toml")), expected);
  EXPECT_THAT(own_input_files(folder.file("a.npz")), UnorderedElementsAre(folder.file("a.npz")));
}

TEST(Trust18MemoryOfInput, BeyondTheLimitIsRefusedBeforeReading) {
  const test::TempFolder folder;
  sparse_file(folder.file("nodes.csv"), uintmax_t{1} << 40);
  const std::string message = test::error_of(
      ErrorKind::memory, [&] { check_memory_to_read("mine", {folder.file("nodes.csv")}); });
  EXPECT_THAT(message, HasSubstr("reading mine needs at least 2560.2 GiB"));
  EXPECT_NO_THROW(check_memory_to_read("mine", {}));
}

TEST(Trust18MemoryLimit, HonoursTheLimitOfTheAddressSpace) {
  const torch::Device cpu(torch::kCPU);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages;
  const double mapped = pages * 4096, room = 64.0 * 1024 * 1024;
  rlimit small = before;
  small.rlim_cur = static_cast<rlim_t>(mapped + room);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  const MemoryLimit limit = memory_limit(cpu);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_THAT(limit.source, HasSubstr("left under ulimit -v "));
  EXPECT_LT(limit.bytes, mapped + room);
  EXPECT_GT(limit.bytes, room / 2);
}

}  // namespace
}  // namespace grm
