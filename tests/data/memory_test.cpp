#include "data/memory.h"

#include <gmock/gmock.h>
#include <torch/types.h>

#include "support/expect_error.h"

namespace grm::memory_tests {
namespace {

Task small_task() {
  Graph graph;
  graph.name = "small";
  graph.edges = make_adjacency(3, 3, torch::tensor({0, 1}, torch::kInt64),
                               torch::tensor({1, 2}, torch::kInt64));
  graph.x.dense = torch::rand({3, 2});
  Task task;
  task.name = "in memory";
  task.classes = 2;
  task.training = task.validation = {make_domain(graph, torch::tensor({0, 1, 0}, torch::kInt64))};
  return task;
}

TEST(MemoryTask, IsLoadedByItsNameWithTheOptionsOfAllDatasets) {
  const Task task = small_task();
  DatasetChoice choice(memory_name(Level::node));
  choice.options().set("dataset", "symmetrise", "true");
  const MemoryTask scope(task);
  const Task loaded = choice.load({});
  EXPECT_EQ(loaded.training[0].graph.edges->nnz(), 4);
  EXPECT_EQ(loaded.training[0].graph.x.dense.data_ptr(), task.training[0].graph.x.dense.data_ptr());
}

TEST(MemoryTask, WithoutOneTheMessageSaysWhatToDo) {
  const DatasetChoice choice(memory_name(Level::graph));
  EXPECT_EQ(choice.entry().level, Level::graph);
  EXPECT_THAT(test::error_of(ErrorKind::data, [&] { choice.load({}); }),
              testing::HasSubstr("--data"));
}

}  // namespace
}  // namespace grm::memory_tests
