#include <torch/types.h>

#include <limits>

#include "data/describe.h"
#include "data/helpers.h"
#include "support/npz_writer.h"

namespace grm {
namespace {

using test::bytes_of;
using test::load_dataset;
using test::npy;
using ::testing::HasSubstr;

constexpr char kPath[] = "amazon-photo/amazon_electronics_photo.npz";

// Four nodes: 0 - 1 stored twice, 1 -> 2 stored once, a self-loop on 3; three feature columns.
std::map<std::string, std::string> sound_arrays() {
  return {{"adj_data", npy("<f4", "(5,)", bytes_of<float>({1, 1, 2, 1, 1}))},
          {"adj_indices", npy("<i4", "(5,)", bytes_of<int32_t>({1, 1, 0, 2, 3}))},
          {"adj_indptr", npy("<i4", "(5,)", bytes_of<int32_t>({0, 2, 4, 4, 5}))},
          {"adj_shape", npy("<i8", "(2,)", bytes_of<int64_t>({4, 4}))},
          {"attr_data", npy("<f4", "(4,)", bytes_of<float>({1, 0.5, 3, 0}))},
          {"attr_indices", npy("<i4", "(4,)", bytes_of<int32_t>({2, 0, 1, 0}))},
          {"attr_indptr", npy("<i4", "(5,)", bytes_of<int32_t>({0, 1, 2, 4, 4}))},
          {"attr_shape", npy("<i8", "(2,)", bytes_of<int64_t>({4, 3}))},
          {"labels", npy("<i8", "(4,)", bytes_of<int64_t>({0, 1, 2, 3}))}};
}

std::string archive(const std::map<std::string, std::string>& arrays) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [name, bytes] : arrays) entries.emplace_back(name + ".npy", bytes);
  return test::zip(entries);
}

std::string error_with(const std::string& name, const std::string& bytes) {
  std::map<std::string, std::string> arrays = sound_arrays();
  arrays[name] = bytes;
  const test::TempFolder folder;
  folder.write(kPath, archive(arrays));
  const std::string message = test::data_error([&] { load_dataset("photo", folder.path()); });
  EXPECT_THAT(message, HasSubstr(folder.file(kPath))) << "the file is named";
  return message;
}

TEST(PhotoFiles, GraphLosesSelfLoopsGainsReversePairsAndFeaturesBecomeBinary) {
  const test::TempFolder folder;
  folder.write(kPath, archive(sound_arrays()));
  // Seeds differ in how many classes they use on four nodes; the check wants two.
  for (int seed = 0; seed < 20; ++seed) {
    Task task;
    try {
      task = load_dataset("photo", folder.path(), {{"dataset_seed", std::to_string(seed)}});
    } catch (const Error&) {
      continue;
    }
    using Pair = std::pair<int64_t, int64_t>;
    EXPECT_THAT(test::pairs_of(*task.training[0].graph.edges),
                ::testing::ElementsAre(Pair(1, 0), Pair(0, 1), Pair(2, 1), Pair(1, 2)));
    const torch::Tensor x = task.training[0].graph.x.to_dense().narrow(1, 0, 3);
    EXPECT_TRUE(torch::equal(
        x,
        torch::tensor({0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0}).to(torch::kFloat32).reshape({4, 3})));
    return;
  }
  FAIL() << "no seed gave two classes";
}

TEST(PhotoFiles, TruncatedArchiveIsAnErrorAtEveryLength) {
  const std::string sound = archive(sound_arrays());
  for (size_t size = 0; size < sound.size(); size += 97) {
    const test::TempFolder folder;
    folder.write(kPath, sound.substr(0, size));
    EXPECT_THAT(test::data_error([&] { load_dataset("photo", folder.path()); }),
                HasSubstr(folder.file(kPath)));
  }
}

TEST(PhotoFiles, WrongShapesAreNamed) {
  EXPECT_THAT(error_with("adj_shape", npy("<i8", "(3,)", bytes_of<int64_t>({4, 4, 4}))),
              HasSubstr("adj_shape"));
  EXPECT_THAT(error_with("adj_shape", npy("<i8", "(2,)", bytes_of<int64_t>({4, 5}))),
              HasSubstr("adj is 4 x 5"));
  EXPECT_THAT(error_with("attr_shape", npy("<i8", "(2,)", bytes_of<int64_t>({5, 3}))),
              HasSubstr("attr 5 x 3"));
  EXPECT_THAT(error_with("adj_shape", npy("<i8", "(2,)", bytes_of<int64_t>({-1, -1}))),
              HasSubstr("adj"));
  EXPECT_THAT(error_with("attr_indptr", npy("<i4", "(4,)", bytes_of<int32_t>({0, 1, 2, 4}))),
              HasSubstr("attr: 4 row offsets"));
  EXPECT_THAT(error_with("attr_data", npy("<f4", "(3,)", bytes_of<float>({1, 1, 1}))),
              HasSubstr("3 values"));
  EXPECT_THAT(error_with("adj_indptr", npy("<i4", "(5,)", bytes_of<int32_t>({0, 4, 2, 4, 5}))),
              HasSubstr("out of order"));
  EXPECT_THAT(error_with("adj_indptr", npy("<i4", "(5,)", bytes_of<int32_t>({0, 9, 9, 9, 5}))),
              HasSubstr("out of order"));
}

TEST(PhotoFiles, IndicesThatAreNotWholeNumbersAreNamed) {
  EXPECT_THAT(error_with("adj_indices", npy("<f4", "(5,)", bytes_of<float>({1, 1, 0, 2, 3}))),
              HasSubstr("adj: the column indices"));
}

TEST(PhotoFiles, EdgeBeyondTheLastNodeIsNamed) {
  EXPECT_THAT(error_with("adj_indices", npy("<i4", "(5,)", bytes_of<int32_t>({1, 1, 0, 4, 3}))),
              HasSubstr("adj: row 1 has an entry in column 4"));
}

TEST(PhotoFiles, NanAndNegativeFeaturesAreNamed) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_with("attr_data", npy("<f4", "(4,)", bytes_of<float>({1, nan, 3, 0}))),
              HasSubstr("attr: the entry in row 1, column 0 is nan"));
  EXPECT_THAT(error_with("attr_data", npy("<f4", "(4,)", bytes_of<float>({1, 1, -3, 0}))),
              HasSubstr("row 2, column 1 is -3"));
}

TEST(PhotoFiles, MissingArrayIsNamed) {
  std::map<std::string, std::string> arrays = sound_arrays();
  arrays.erase("attr_indices");
  const test::TempFolder folder;
  folder.write(kPath, archive(arrays));
  EXPECT_THAT(test::data_error([&] { load_dataset("photo", folder.path()); }),
              HasSubstr("attr_indices"));
}

TEST(PhotoFiles, GraphWithoutNodesIsEmpty) {
  const std::string none = npy("<i4", "(0,)", ""),
                    zero = npy("<i4", "(1,)", bytes_of<int32_t>({0}));
  std::map<std::string, std::string> arrays;
  for (const std::string prefix : {"adj", "attr"}) {
    arrays[prefix + "_data"] = npy("<f4", "(0,)", "");
    arrays[prefix + "_indices"] = none;
    arrays[prefix + "_indptr"] = zero;
  }
  arrays["adj_shape"] = npy("<i8", "(2,)", bytes_of<int64_t>({0, 0}));
  arrays["attr_shape"] = npy("<i8", "(2,)", bytes_of<int64_t>({0, 3}));
  const test::TempFolder folder;
  folder.write(kPath, archive(arrays));
  EXPECT_THAT(test::data_error([&] { load_dataset("photo", folder.path()); }),
              HasSubstr("empty graph"));
}

// 7,650 nodes, 119,081 edges, 745 features, 1,979,909 non-zeros: the description of the files.
TEST(PhotoReal, CountsAreThePublishedOnes) {
  REAL_DATA_OR_SKIP(root);
  const Task task = load_dataset("photo", root);
  const DomainSummary summary = describe(task)[0];
  EXPECT_EQ(summary.nodes, 7650);
  EXPECT_EQ(summary.edges, 238162);
  EXPECT_EQ(summary.self_loops, 0);
  EXPECT_EQ(summary.features, 755);
  EXPECT_TRUE(test::is_symmetric(*task.training[0].graph.edges));
  EXPECT_EQ(task.training[0].graph.x.sparse->nnz(), 1979909);
  EXPECT_EQ(task.test.size(), 8u);
}

}  // namespace
}  // namespace grm
