// Validation on the largest training graphs.
#include "train/validation_set.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <set>

#include "methods/small_graph_task.h"
#include "methods/small_task.h"
#include "support/expect_error.h"

namespace grm::validation_set_tests {
namespace {

std::set<int64_t> ids(const torch::Tensor& t) {
  return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()};
}

int64_t size_of(const Graph& set, int64_t id) {
  return (set.parts[id + 1] - set.parts[id]).item<int64_t>();
}

TEST(ValidationSet, TheGivenOneStaysAsItIs) {
  const Task task = test::small_graph_task();
  const Task same = with_validation(task, ValidateOn::given);
  EXPECT_EQ(same.validation[0].name, "b");
  EXPECT_TRUE(torch::equal(same.training[0].labels.loss, task.training[0].labels.loss));
}

TEST(ValidationSet, TheLargestTenthLeavesTraining) {
  const Task task = test::small_graph_task();
  const Graph& set = task.training[0].graph;
  for (const ValidateOn rule : {ValidateOn::largest, ValidateOn::largest_of_class}) {
    const Task changed = with_validation(task, rule);
    ASSERT_EQ(changed.validation.size(), 1u);
    const std::set<int64_t> held = ids(changed.validation[0].labels.evaluate);
    const std::set<int64_t> trained = ids(changed.training[0].labels.loss);
    EXPECT_EQ(held.size(), 4u);  // of 40; by class two and two
    EXPECT_EQ(trained.size(), 36u);
    int64_t ones = 0;
    for (const int64_t h : held) {
      EXPECT_EQ(trained.count(h), 0u);
      ones += task.training[0].labels.y[h].item<int64_t>();
      for (const int64_t t : trained) {
        const bool comparable =
            rule == ValidateOn::largest ||
            torch::equal(task.training[0].labels.y[h], task.training[0].labels.y[t]);
        if (comparable) {
          EXPECT_GE(size_of(set, h), size_of(set, t)) << h << " " << t;
        }
      }
    }
    if (rule == ValidateOn::largest_of_class) {
      EXPECT_EQ(ones, 2);
    }
    // Nothing but training graphs is looked at, and test stays what it was.
    EXPECT_EQ(changed.validation[0].graph.edges, set.edges);
    EXPECT_EQ(changed.test[0].name, "c");
  }
}

TEST(ValidationSet, RefusesNodesAndSetsThatCannotBeDivided) {
  EXPECT_THAT(test::error_of(ErrorKind::config,
                             [] { with_validation(test::small_task(), ValidateOn::largest); }),
              testing::HasSubstr("train.validate_on = largest-tenth"));
  Task task = test::small_graph_task();
  task.training[0].labels.loss = torch::tensor({3}, torch::kInt64);
  EXPECT_THAT(
      test::error_of(ErrorKind::config, [&] { with_validation(task, ValidateOn::largest); }),
      testing::HasSubstr("cannot be divided"));
}

}  // namespace
}  // namespace grm::validation_set_tests
