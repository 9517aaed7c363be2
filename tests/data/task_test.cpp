#include "grm/data/task.h"

#include <torch/types.h>

#include <limits>
#include <type_traits>

#include "data/helpers.h"

namespace grm {
namespace {

using test::data_error;
using ::testing::HasSubstr;

// Whether an expression on T compiles: methods get a TrainView and Graphs, and must not be able to
// reach validation or test domains, or any label of a graph to predict on.
template <class T, class = void>
struct HasTest : std::false_type {};
template <class T>
struct HasTest<T, std::void_t<decltype(std::declval<T>().test)>> : std::true_type {};
template <class T, class = void>
struct HasValidation : std::false_type {};
template <class T>
struct HasValidation<T, std::void_t<decltype(std::declval<T>().validation)>> : std::true_type {};
template <class T, class = void>
struct HasLabels : std::false_type {};
template <class T>
struct HasLabels<T, std::void_t<decltype(std::declval<T>().labels)>> : std::true_type {};
template <class T, class = void>
struct HasY : std::false_type {};
template <class T>
struct HasY<T, std::void_t<decltype(std::declval<T>().y)>> : std::true_type {};

static_assert(HasTest<Task>::value && HasValidation<Task>::value, "the idiom sees members");
static_assert(!HasTest<TrainView>::value, "a training view has no test domains");
static_assert(!HasValidation<TrainView>::value, "a training view has no validation domains");
static_assert(HasLabels<Domain>::value && HasY<Labels>::value, "the idiom sees members");
static_assert(!HasLabels<Graph>::value && !HasY<Graph>::value, "a graph carries no labels");
static_assert(!std::is_convertible_v<TrainView, Task>, "a view is not a way back to the task");

Graph small_graph(const std::string& name) {
  Graph graph;
  graph.name = name;
  graph.edges = make_adjacency(3, 3, torch::tensor({0, 1}), torch::tensor({1, 2}));
  graph.x.dense = torch::arange(6, torch::kFloat32).reshape({3, 2});
  return graph;
}

Task small_task() {
  Task task;
  task.name = "small";
  task.classes = 2;
  const torch::Tensor y = torch::tensor({0, 1, 1}, torch::kInt64);
  task.training.push_back(make_domain(small_graph("a"), y));
  task.validation.push_back(make_domain(small_graph("b"), y));
  task.test.push_back(make_domain(small_graph("c"), y));
  return task;
}

TEST(Task, MadeDomainCountsEveryNode) {
  const Domain domain = make_domain(small_graph("a"), torch::tensor({0, 1, 1}, torch::kInt64));
  EXPECT_EQ(domain.name, "a");
  EXPECT_EQ(domain.group, "a");
  EXPECT_THAT(test::to_vector(domain.labels.loss), ::testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(test::to_vector(domain.labels.evaluate), ::testing::ElementsAre(0, 1, 2));
}

TEST(Task, TrainViewHoldsTrainingDomainsAndTheShapeOfTheProblem) {
  Task task = small_task();
  task.loss = LossKind::binary_pair;
  const TrainView view = task.train_view();
  ASSERT_EQ(view.training.size(), 1u);
  EXPECT_EQ(view.training[0].name, "a");
  EXPECT_EQ(view.classes, 2);
  EXPECT_EQ(view.features, 2);
  EXPECT_EQ(view.loss.kind, LossKind::binary_pair);
}

TEST(Task, DomainsAreFoundByRole) {
  const Task task = small_task();
  EXPECT_EQ(task.domains(Role::train)[0].name, "a");
  EXPECT_EQ(task.domains(Role::validation)[0].name, "b");
  EXPECT_EQ(task.domains(Role::test)[0].name, "c");
}

TEST(Task, KindsHaveTheNamesThatRecordsUse) {
  EXPECT_EQ(to_string(Role::validation), "validation");
  EXPECT_EQ(to_string(LossKind::binary_pair), "binary_pair");
  EXPECT_EQ(to_string(MetricKind::roc_auc), "roc_auc");
  EXPECT_EQ(to_string(MetricKind::macro_f1), "macro_f1");
  EXPECT_EQ(to_string(MetricKind::accuracy), "accuracy");
  EXPECT_EQ(to_string(MetricKind::matthews), "matthews");
}

TEST(CheckTask, AcceptsASoundTask) {
  EXPECT_NO_THROW(check_task(small_task()));
}

TEST(CheckTask, NamesTheNodeOfALabelOutOfRange) {
  for (const int64_t bad : {int64_t{2}, int64_t{-2}}) {
    Task task = small_task();
    task.test[0].labels.y = torch::tensor({int64_t{0}, bad, int64_t{1}});
    const std::string message = data_error([&] { check_task(task); });
    EXPECT_THAT(message, HasSubstr("test domain c"));
    EXPECT_THAT(message, HasSubstr("of node 1"));
  }
}

TEST(CheckTask, RejectsLabelsThatAreNotWholeNumbers) {
  Task task = small_task();
  task.training[0].labels.y = torch::tensor({0.0, 1.0, 1.5});
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("whole number"));
}

TEST(CheckTask, RejectsLabelsOfAnotherNumberOfNodes) {
  Task task = small_task();
  task.training[0].labels.y = torch::tensor({0, 1}, torch::kInt64);
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("3 nodes"));
}

TEST(CheckTask, RejectsTruthOfAnotherNumberOfEdges) {
  Task task = small_task();
  task.test[0].labels.edge_truth =
      torch::zeros({task.test[0].graph.edges->nnz() + 1}, torch::kUInt8);
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("marks of true edges"));
}

TEST(CheckTask, RejectsDomainsOfUnequalWidth) {
  Task task = small_task();
  task.test[0].graph.x.dense = torch::zeros({3, 5});
  const std::string message = data_error([&] { check_task(task); });
  EXPECT_THAT(message, HasSubstr("test domain c: 5 features"));
}

TEST(CheckTask, RejectsFeaturesOfAnotherNumberOfNodes) {
  Task task = small_task();
  task.test[0].graph.x.dense = torch::zeros({4, 2});
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("4 rows of features for 3 nodes"));
}

TEST(CheckTask, NamesThePlaceOfANonFiniteFeature) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Task task = small_task();
    task.validation[0].graph.x.dense = task.validation[0].graph.x.dense.clone();
    task.validation[0].graph.x.dense[2][1] = bad;
    const std::string message = data_error([&] { check_task(task); });
    EXPECT_THAT(message, HasSubstr("validation domain b"));
    EXPECT_THAT(message, HasSubstr("[2, 1]"));
  }
}

TEST(CheckTask, RejectsAnEmptyGraph) {
  Task task = small_task();
  const torch::Tensor none = torch::zeros({0}, torch::kInt64);
  Graph graph;
  graph.name = "c";
  graph.edges = make_adjacency(0, 0, none, none);
  graph.x.dense = torch::zeros({0, 2});
  task.test[0] = make_domain(graph, none);
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("test domain c: empty graph"));
}

TEST(CheckTask, AcceptsAGraphWithoutEdges) {
  Task task = small_task();
  const torch::Tensor none = torch::zeros({0}, torch::kInt64);
  task.test[0].graph.edges = make_adjacency(3, 3, none, none);
  EXPECT_NO_THROW(check_task(task));
}

TEST(CheckTask, RejectsADomainWithoutCountedNodes) {
  Task task = small_task();
  task.training[0].labels.loss = torch::zeros({0}, torch::kInt64);
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("no labelled node to train on"));
  task = small_task();
  task.test[0].labels.evaluate = torch::zeros({0}, torch::kInt64);
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("no labelled node to evaluate"));
}

TEST(CheckTask, RejectsCountedNodesWithoutALabel) {
  Task task = small_task();
  task.test[0].labels.y = torch::tensor({0, -1, 1}, torch::kInt64);
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("node 1 counts for the"));
}

TEST(CheckTask, RejectsCountedNodesOutOfRangeOrOrder) {
  for (const auto& nodes : {std::vector<int64_t>{0, 3}, std::vector<int64_t>{1, 1}}) {
    Task task = small_task();
    task.test[0].labels.evaluate = torch::tensor(nodes, torch::kInt64);
    EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("out of range or order"));
  }
}

TEST(CheckTask, RocAucNeedsBothClassesInEveryEvaluatedGroup) {
  Task task = small_task();
  task.metric = MetricKind::roc_auc;
  EXPECT_NO_THROW(check_task(task));
  task.test[0].labels.y = torch::ones({3}, torch::kInt64);
  const std::string message = data_error([&] { check_task(task); });
  EXPECT_THAT(message, HasSubstr("test domain c"));
  EXPECT_THAT(message, HasSubstr("ROC-AUC is undefined"));
}

TEST(CheckTask, DomainsOfOneGroupMayShareTheClassesThatRocAucNeeds) {
  Task task = small_task();
  task.metric = MetricKind::roc_auc;
  task.test.push_back(task.test[0]);
  task.test[0].group = task.test[1].group = "T1";
  task.test[0].labels.y = torch::ones({3}, torch::kInt64);
  task.test[1].labels.y = torch::zeros({3}, torch::kInt64);
  EXPECT_NO_THROW(check_task(task));
}

TEST(CheckTask, WantsDomainsToTrainAndToValidateOnButNoneToTest) {
  Task task = small_task();
  task.test.clear();
  EXPECT_NO_THROW(check_task(task));
  task.validation.clear();
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("0 validation domains"));
}

TEST(CheckTask, BinaryPairNeedsTwoClasses) {
  Task task = small_task();
  task.loss = LossKind::binary_pair;
  task.classes = 3;
  EXPECT_THAT(data_error([&] { check_task(task); }), HasSubstr("3 classes"));
}

}  // namespace
}  // namespace grm
