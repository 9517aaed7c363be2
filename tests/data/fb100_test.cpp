#include <torch/types.h>

#include <algorithm>
#include <filesystem>

#include "data/describe.h"
#include "data/helpers.h"
#include "io/mat.h"

namespace grm {
namespace {

namespace fs = std::filesystem;
using test::load_dataset;
using ::testing::HasSubstr;

Task load_what_exists(const std::string& root, const test::Settings& settings = {}) {
  DataContext context;
  context.root = root;
  context.allow_missing = true;
  return load_dataset("fb100", context, settings);
}

std::vector<std::string> names(const std::vector<Domain>& domains) {
  std::vector<std::string> all;
  for (const Domain& domain : domains) all.push_back(domain.name);
  return all;
}

// The files of `root` under a new folder, as links, one of them perhaps under another name.
void link_files(const std::string& root, const test::TempFolder& folder, const std::string& from,
                const std::string& to) {
  fs::create_directories(folder.file("facebook100"));
  for (const auto& entry : fs::directory_iterator(root + "/facebook100")) {
    std::string name = entry.path().filename().string();
    if (name == from) name = to;
    if (!name.empty()) fs::create_symlink(entry.path(), folder.file("facebook100/" + name));
  }
}

// Nodes and undirected edges, from the description of the published files.
struct Row {
  const char* name;
  int64_t nodes, edges;
};
constexpr Row kTable[] = {
    {"Caltech36", 769, 16656},   {"Amherst41", 2235, 90954},    {"JohnsHopkins55", 5180, 186586},
    {"Cornell5", 18660, 790777}, {"Yale4", 8578, 405450},       {"Brown11", 8600, 384526},
    {"Duke14", 9895, 506442},    {"Princeton12", 6596, 293320}, {"Bingham82", 10004, 362894},
    {"WashU32", 7755, 367541},   {"Brandeis99", 3898, 137567},  {"Carnegie49", 6637, 249967}};

TEST(Fb100Real, CountsAreThePublishedOnesInAllCombinations) {
  REAL_DATA_OR_SKIP(root);
  std::map<std::string, DomainSummary> found;
  for (const char* combination : {"1", "2", "3"}) {
    const Task task = load_what_exists(root, {{"combination", combination}});
    EXPECT_EQ(task.training.size(), 3u);
    EXPECT_THAT(names(task.validation), ::testing::ElementsAre("Cornell5", "Yale4"));
    EXPECT_EQ(task.test.size() + task.missing.size(), 3u);
    for (const DomainSummary& summary : describe(task)) found[summary.name] = summary;
  }
  for (const Row& row : kTable) {
    ASSERT_EQ(found.count(row.name), 1u) << row.name;
    EXPECT_EQ(found[row.name].nodes, row.nodes) << row.name;
    EXPECT_EQ(found[row.name].edges, 2 * row.edges) << row.name;
    EXPECT_EQ(found[row.name].self_loops, 0) << row.name;
    EXPECT_EQ(found[row.name].feature_nonzeros, 6 * row.nodes) << row.name;
  }
}

TEST(Fb100Real, FirstCombinationIsTheDefault) {
  REAL_DATA_OR_SKIP(root);
  const Task task = load_what_exists(root);
  EXPECT_THAT(names(task.training),
              ::testing::ElementsAre("JohnsHopkins55", "Caltech36", "Amherst41"));
  EXPECT_EQ(task.metric, MetricKind::accuracy);
  EXPECT_EQ(task.loss, LossKind::binary_pair);
  for (const Domain& domain : task.training) {
    EXPECT_TRUE(test::is_symmetric(*domain.graph.edges)) << domain.name;
  }
}

// Columns by a second road: pool all files there are, sort the values, look each one up.
TEST(Fb100Real, FeaturesAreOneHotBlocksOverThePooledVocabulary) {
  REAL_DATA_OR_SKIP(root);
  const Task task = load_what_exists(root);
  std::vector<std::vector<int64_t>> values(7);
  for (const std::string& file : DatasetChoice("fb100").files()) {
    if (!fs::exists(root + "/" + file)) continue;
    const torch::Tensor info = io::read_mat_integers(root + "/" + file, "local_info");
    for (const int64_t k : {0, 2, 3, 4, 5, 6}) {
      const std::vector<int64_t> column = test::to_vector(info.select(1, k));
      values[k].insert(values[k].end(), column.begin(), column.end());
    }
  }
  int64_t width = 0;
  for (std::vector<int64_t>& column : values) {
    std::sort(column.begin(), column.end());
    column.erase(std::unique(column.begin(), column.end()), column.end());
    width += static_cast<int64_t>(column.size());
  }
  EXPECT_EQ(task.features(), width);
  for (const std::string name : {"Caltech36", "Brown11"}) {
    const torch::Tensor info =
        io::read_mat_integers(root + "/facebook100/" + name + ".mat", "local_info");
    const auto value = info.accessor<int64_t, 2>();
    const Adjacency& x = *test::domain_named(task, name).graph.x.sparse;
    for (int64_t i = 0; i < info.size(0); ++i) {
      ASSERT_EQ(x.in.offset()[i + 1] - x.in.offset()[i], 6);
      int64_t begin = 0, at = x.in.offset()[i];
      for (const int64_t k : {0, 2, 3, 4, 5, 6}) {
        const auto place = std::lower_bound(values[k].begin(), values[k].end(), value[i][k]);
        ASSERT_EQ(x.in.index()[at++], begin + (place - values[k].begin())) << name << " " << i;
        begin += static_cast<int64_t>(values[k].size());
      }
    }
  }
}

TEST(Fb100Real, UnknownGenderIsClassZeroOrLeftOut) {
  REAL_DATA_OR_SKIP(root);
  const torch::Tensor gender =
      io::read_mat_integers(root + "/facebook100/Caltech36.mat", "local_info").select(1, 1);
  const Labels coded = test::domain_named(load_what_exists(root), "Caltech36").labels;
  const Labels known =
      test::domain_named(load_what_exists(root, {{"labels", "labelled"}}), "Caltech36").labels;
  EXPECT_TRUE(torch::equal(coded.y, gender.eq(2).to(torch::kInt64)));
  EXPECT_EQ(coded.evaluate.numel(), 769);
  const int64_t unknown = gender.eq(0).sum().item<int64_t>();
  EXPECT_GT(unknown, 0);
  EXPECT_EQ(known.y.eq(-1).sum().item<int64_t>(), unknown);
  EXPECT_EQ(known.loss.numel(), 769 - unknown);
  EXPECT_EQ(known.evaluate.numel(), 769 - unknown);
  EXPECT_TRUE(
      torch::equal(known.y.index_select(0, known.loss), gender.index_select(0, known.loss) - 1));
}

TEST(Fb100Real, BothNamesOfTheJohnsHopkinsFileAreRead) {
  REAL_DATA_OR_SKIP(root);
  const test::TempFolder folder;
  link_files(root, folder, "JohnsHopkins55.mat", "Johns Hopkins55.mat");
  const Task task = load_what_exists(folder.path());
  EXPECT_EQ(task.training[0].name, "JohnsHopkins55");
  EXPECT_EQ(task.hashes.count("facebook100/Johns Hopkins55.mat"), 1u);
  EXPECT_EQ(fingerprint(task), fingerprint(load_what_exists(root)));
}

TEST(Fb100Real, MissingTestGraphsAreListedWithWhatCanRun) {
  REAL_DATA_OR_SKIP(root);
  const test::TempFolder folder;
  link_files(root, folder, "Duke14.mat", "");
  fs::remove(folder.file("facebook100/Penn94.mat"));
  const std::string message = test::data_error([&] { load_dataset("fb100", folder.path()); });
  EXPECT_THAT(message, HasSubstr(folder.file("facebook100/Penn94.mat") + " (test domain Penn94)"));
  EXPECT_THAT(message, HasSubstr("Brown11"));
  const Task task = load_what_exists(folder.path());
  EXPECT_THAT(task.missing, ::testing::Contains("Penn94"));
  EXPECT_THAT(task.missing, ::testing::Not(::testing::Contains("Duke14")));
  EXPECT_THAT(task.notes, ::testing::Contains(HasSubstr("feature vocabulary, Duke14")));
  EXPECT_THAT(task.notes, ::testing::Contains(HasSubstr("of the 14 universities")));
}

TEST(Fb100, MessageListsBothNamesOfTheJohnsHopkinsFile) {
  const test::TempFolder folder;
  const std::string message = test::data_error([&] { load_dataset("fb100", folder.path()); });
  EXPECT_THAT(message, HasSubstr(folder.file("facebook100/JohnsHopkins55.mat")));
  EXPECT_THAT(message, HasSubstr(folder.file("facebook100/Johns Hopkins55.mat")));
}

TEST(Fb100, NeedsFourteenFilesInEveryCombination) {
  for (const char* combination : {"1", "2", "3"}) {
    DatasetChoice choice("fb100");
    choice.options().set("dataset", "combination", combination);
    std::vector<std::string> files = choice.files();
    std::sort(files.begin(), files.end());
    EXPECT_EQ(std::unique(files.begin(), files.end()) - files.begin(), 14);
  }
}

}  // namespace
}  // namespace grm
