#include <gtest/gtest.h>
#include <zlib.h>

#include "core/clock.h"
#include "own_files.h"

namespace grm {
namespace {

// 200,000 nodes whose table is 200 MB of text, nearly all of it in a column that is not used.
TEST(OwnLargeData, ATableIsReadInMemoryOfTheResultAndNotOfTheText) {
  constexpr int64_t kNodes = 200000;
  const test::TempFolder folder;
  folder.write("dataset.toml", test::description("node", "domain = \"month\"\n",
                                                 "[columns]\nignore = [\"comment\"]\n"));
  const std::string comment(1000, '.');
  gzFile nodes = gzopen(folder.file("nodes.csv.gz").c_str(), "wb1");
  gzprintf(nodes, "id,month,label,age,height,comment\n");
  for (int64_t i = 0; i < kNodes; ++i) {
    gzprintf(nodes, "node-%ld,%c,%ld,%ld.5,%ld,%s\n", i, static_cast<char>('a' + i % 3), i / 3 % 2,
             i % 100, i % 7, comment.c_str());
  }
  gzclose(nodes);
  std::string edges = "source,target\n";
  for (int64_t i = 0; i + 3 < kNodes; ++i) edges += fmt::format("node-{},node-{}\n", i, i + 3);
  folder.write("edges.csv", edges);

  const double before = peak_memory_mib();
  const Stopwatch watch;
  const Task task = load_own(folder.path());
  EXPECT_LT(watch.seconds(), 60.0);
  EXPECT_LT(peak_memory_mib() - before, 150.0);
  EXPECT_EQ(task.training[0].graph.nodes() + task.validation[0].graph.nodes() +
                task.test[0].graph.nodes(),
            kNodes);
  EXPECT_EQ(task.training[0].graph.edges->nnz(), task.training[0].graph.nodes() - 1);
  EXPECT_EQ(task.training[0].item_names[1], "node-3");
}

}  // namespace
}  // namespace grm
