// Dense features that are zeros for the most part are kept sparse: the same numbers, in the memory
// of the others. What is expected is computed here, cell by cell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "core/clock.h"
#include "own_files.h"

namespace grm {
namespace {

using test::Arrays;
using test::bytes_of;
using test::data_error;
using test::description;
using test::Files;
using test::npy;
using test::TempFolder;
using test::write_files;
using ::testing::HasSubstr;

constexpr int64_t kRows = 40, kColumns = 200;

// One cell in a hundred or so is a count; column 7 is a year, column 9 is empty but for one row.
double cell(int64_t row, int64_t column, int64_t domain) {
  if (column == 7) return 1990 + static_cast<double>((row + domain) % 30);
  const int64_t mixed = (row * 7919 + column * 104729 + domain * 31) % 997;
  return mixed % 97 == 0 ? 1 + static_cast<double>(mixed % 5) : 0;
}

Arrays arrays_of(int64_t domain, const std::string& dtype = "<f4", bool fortran = false) {
  Arrays arrays = test::node_arrays();
  std::vector<float> single(kRows * kColumns);
  std::vector<double> wide(kRows * kColumns);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      const auto at = static_cast<size_t>(fortran ? j * kRows + i : i * kColumns + j);
      single[at] = static_cast<float>(cell(i, j, domain));
      wide[at] = cell(i, j, domain);
    }
  }
  arrays.list["x"] = npy(dtype, fmt::format("({}, {})", kRows, kColumns),
                         dtype == "<f4" ? bytes_of(single) : bytes_of(wide), fortran);
  std::vector<int64_t> y(kRows);
  for (int64_t i = 0; i < kRows; ++i) y[static_cast<size_t>(i)] = i % 2;
  arrays.list["y"] = test::int_array(fmt::format("({},)", kRows), y);
  return arrays;
}

Files array_folder(const std::string& top = "", const std::string& dtype = "<f4",
                   bool fortran = false) {
  return {{"dataset.toml", description("node", top)},
          {"a.npz", arrays_of(0, dtype, fortran).npz()},
          {"b.npz", arrays_of(1, dtype, fortran).npz()},
          {"c.npz", arrays_of(2, dtype, fortran).npz()}};
}

Files table_folder(const std::string& top = "", const std::string& hole = "") {
  Files files = {{"dataset.toml", description("node", top)}};
  for (int64_t domain = 0; domain < 3; ++domain) {
    std::string nodes = "id,label";
    for (int64_t j = 0; j < kColumns; ++j) nodes += fmt::format(",w{}", j);
    for (int64_t i = 0; i < kRows; ++i) {
      nodes += fmt::format("\nn{},{}", i, i % 2);
      for (int64_t j = 0; j < kColumns; ++j) {
        nodes += i == 3 && j == 5 && !hole.empty() ? "," : fmt::format(",{}", cell(i, j, domain));
      }
    }
    const std::string folder(1, static_cast<char>('a' + domain));
    files[folder + "/nodes.csv"] = nodes + "\n";
    files[folder + "/edges.csv"] = "source,target\nn1,n2\nn2,n3\n";
  }
  return files;
}

// Mean and deviation of a column over the training domain, by the textbook.
std::pair<double, double> law_of(int64_t column) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < kRows; ++i) sum += cell(i, column, 0);
  const double mean = sum / kRows;
  for (int64_t i = 0; i < kRows; ++i) squares += std::pow(cell(i, column, 0) - mean, 2);
  const double deviation = std::sqrt(squares / kRows);
  return {mean, deviation > 0 ? deviation : 1.0};
}

void expect_cells(const Features& x, int64_t domain, bool standard) {
  ASSERT_EQ(x.width(), kColumns);
  const torch::Tensor got = x.to_dense();
  double most = 0;
  for (int64_t j = 0; j < kColumns; ++j) {
    const auto [mean, deviation] = standard ? law_of(j) : std::pair<double, double>{0, 1};
    for (int64_t i = 0; i < kRows; ++i) {
      const double expected = (cell(i, j, domain) - mean) / deviation;
      const double error = std::abs(got[i][j].item<double>() - expected);
      most = std::max(most, error / std::max(1.0, std::abs(expected)));
    }
  }
  EXPECT_LT(most, 1e-6);
}

TEST(Trust03DenseZeros, ArraysAreKeptSparse) {
  for (const auto& [dtype, fortran] :
       {std::pair<std::string, bool>{"<f4", false}, {"<f8", false}, {"<f4", true}}) {
    const TempFolder folder;
    const Task task = load_own(write_files(folder, array_folder("", dtype, fortran)));
    int64_t domain = 0;
    for (const auto* list : {&task.training, &task.validation, &task.test}) {
      const Features& x = list->front().graph.x;
      EXPECT_EQ(x.sparse_width(), kColumns);
      EXPECT_FALSE(x.dense.defined());
      EXPECT_FALSE(x.shift.defined());
      EXPECT_LT(x.nonzeros(), kRows * kColumns / 10);
      expect_cells(x, domain++, false);
    }
  }
}

TEST(Trust03DenseZeros, OnesNeedNoValues) {
  const TempFolder folder;
  Files files = array_folder();
  Arrays arrays = arrays_of(0);
  std::vector<float> ones(kRows * 100);
  for (size_t k = 0; k < ones.size(); k += 17) ones[k] = 1;
  arrays.list["x"] = npy("<f4", fmt::format("({}, 100)", kRows), bytes_of(ones));
  for (const char* name : {"a.npz", "b.npz", "c.npz"}) files[name] = arrays.npz();
  const Task task = load_own(write_files(folder, files));
  EXPECT_TRUE(task.training[0].graph.x.sparse);
  EXPECT_FALSE(task.training[0].graph.x.sparse_values.defined());
  EXPECT_EQ(task.training[0].graph.x.nonzeros(), (kRows * 100 + 16) / 17);
}

TEST(Trust03DenseZeros, StandardisedOnesAreTheSameNumbers) {
  const TempFolder arrays, tables;
  for (const std::string& path : {write_files(arrays, array_folder("scale = \"standard\"\n")),
                                  write_files(tables, table_folder())}) {
    const Task task = load_own(path);
    int64_t domain = 0;
    for (const auto* list : {&task.training, &task.validation, &task.test}) {
      const Features& x = list->front().graph.x;
      EXPECT_EQ(x.sparse_width(), kColumns);
      EXPECT_TRUE(x.shift.defined());
      expect_cells(x, domain++, true);
    }
    const TrainView view = task.train_view();
    const std::vector<Domain> fresh =
        load_for_prediction(path, task.preprocessing, Level::node, view.features, 0);
    ASSERT_EQ(fresh.size(), 3u);
    EXPECT_EQ(fresh[0].graph.x.sparse_width(), kColumns);
    for (const Domain& each : fresh) expect_cells(each.graph.x, each.name[0] - 'a', true);
  }
}

// A missing value of the column w5 in row 3: filled in, and flagged in a column of its own.
TEST(Trust03DenseZeros, MissingValuesAreFilledAndFlagged) {
  const TempFolder folder;
  const Task task =
      load_own(write_files(folder, table_folder("missing = \"flag\"\nscale = \"none\"\n", "hole")));
  const Features& x = task.training[0].graph.x;
  ASSERT_EQ(x.width(), kColumns + 1);
  EXPECT_EQ(x.sparse_width(), kColumns + 1);
  double sum = 0;
  for (int64_t i = 0; i < kRows; ++i) sum += i == 3 ? 0 : cell(i, 5, 0);
  const torch::Tensor got = x.to_dense();
  EXPECT_NEAR(got[3][5].item<double>(), sum / (kRows - 1), 1e-7);
  EXPECT_EQ(got[3][6].item<double>(), 1.0);
  EXPECT_EQ(got.select(1, 6).sum().item<double>(), 1.0);
  EXPECT_EQ(got[4][8].item<double>(), cell(4, 7, 0));
  EXPECT_EQ(task.feature_names.at(6), "w5 is missing");
}

TEST(Trust03DenseZeros, ColumnsThatAreSparseInTheFileComeFirst) {
  const TempFolder folder;
  Files files = {{"dataset.toml", description("node", "scale = \"standard\"\n")}};
  for (int64_t domain = 0; domain < 3; ++domain) {
    Arrays arrays = arrays_of(domain);
    std::vector<int64_t> offsets(kRows + 1);
    for (int64_t i = 0; i <= kRows; ++i) offsets[static_cast<size_t>(i)] = i;
    arrays.list["x_indptr"] = test::int_array(fmt::format("({},)", kRows + 1), offsets);
    arrays.list["x_indices"] =
        test::int_array(fmt::format("({},)", kRows), std::vector<int64_t>(kRows, 2));
    arrays.list["x_width"] = test::int_array("(1,)", {3});
    files[std::string(1, static_cast<char>('a' + domain)) + ".npz"] = arrays.npz();
  }
  const Task task = load_own(write_files(folder, files));
  const Features& x = task.training[0].graph.x;
  ASSERT_EQ(x.width(), kColumns + 3);
  EXPECT_EQ(x.sparse_width(), kColumns + 3);
  const torch::Tensor all = x.to_dense();
  EXPECT_EQ(all.select(1, 2).sum().item<double>(), kRows);
  EXPECT_EQ(all.narrow(1, 0, 2).abs().sum().item<double>(), 0.0);
  Features rest;
  rest.dense = all.narrow(1, 3, kColumns).contiguous();
  expect_cells(rest, 0, true);
}

TEST(Trust03DenseZeros, NarrowFullAndGraphLevelFeaturesStayDense) {
  const TempFolder narrow, full, graphs;
  EXPECT_TRUE(
      load_own(write_files(narrow, test::array_folder())).training[0].graph.x.dense.defined());
  Files files = array_folder();
  Arrays arrays = arrays_of(0);
  std::vector<float> many(kRows * kColumns);
  for (size_t k = 0; k < many.size(); ++k) many[k] = k % 3 == 0 ? 1.5F : 0;
  arrays.list["x"] = npy("<f4", fmt::format("({}, {})", kRows, kColumns), bytes_of(many));
  files["a.npz"] = arrays.npz();
  const Task mixed = load_own(write_files(full, files));
  EXPECT_TRUE(mixed.training[0].graph.x.dense.defined());
  EXPECT_TRUE(mixed.validation[0].graph.x.sparse);
  EXPECT_EQ(mixed.training[0].graph.x.width(), mixed.validation[0].graph.x.width());
  EXPECT_TRUE(load_own(write_files(graphs, test::graph_array_folder()))
                  .training[0]
                  .graph.x.dense.defined());
}

// 300 MB of zeros with a number here and there, packed into half a megabyte, as numpy's
// savez_compressed writes them: neither the zeros nor a table of them are ever in memory.
TEST(Trust03DenseZeros, PackedZerosAreReadInMemoryOfTheOthers) {
  constexpr int64_t kTall = 2000, kWide = 40000;
  const TempFolder folder;
  Files files = {{"dataset.toml", description()}};
  {
    std::vector<float> zeros(kTall * kWide);
    for (size_t k = 0; k < zeros.size(); k += 9973) zeros[k] = 2;
    const std::string x = npy("<f4", fmt::format("({}, {})", kTall, kWide), bytes_of(zeros));
    std::vector<int64_t> y(kTall);
    for (int64_t i = 0; i < kTall; ++i) y[static_cast<size_t>(i)] = i % 2;
    const std::string npz = test::zip({{"x.npy", x},
                                       {"y.npy", test::int_array(fmt::format("({},)", kTall), y)},
                                       {"edge_index.npy", test::int_array("(2, 1)", {0, 1})}},
                                      true);
    ASSERT_LT(npz.size(), size_t{4} << 20);
    folder.write("dataset.toml", description());
    for (const char* name : {"a.npz", "b.npz", "c.npz"}) folder.write(name, npz);
  }
  const Task task = load_own(folder.path());
  const Features& x = task.training[0].graph.x;
  EXPECT_EQ(x.width(), kWide);
  EXPECT_EQ(x.nonzeros(), (kTall * kWide + 9972) / 9973);
}

}  // namespace
}  // namespace grm
