// good-cmnist: GOOD's members and colours on our superpixels.
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "data/good/cmnist_colours.h"
#include "data/good_files.h"
#include "data/helpers.h"
#include "io/idx.h"
#include "support/idx_writer.h"

namespace grm::good_cmnist_tests {
namespace {

using test::idx_bytes;
using test::load_dataset;
using test::to_vector;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace grm::good;

// 35 + 15 images: a bright square on black, elsewhere in each.
struct Squares : ::testing::Test {
  Squares() {
    for (const auto& [images, part] :
         {std::pair<int64_t, const char*>{35, "train"}, {15, "t10k"}}) {
      torch::Tensor pixels = torch::zeros({images, 28, 28}, torch::kUInt8);
      for (int64_t i = 0; i < images; ++i) {
        pixels[i].narrow(0, i % 18, 9).narrow(1, (5 * i) % 17, 10).fill_(100 + 3 * i);
      }
      folder.write("mnist/" + std::string(part) + "-images-idx3-ubyte", idx_bytes(pixels));
      folder.write("mnist/" + std::string(part) + "-labels-idx1-ubyte",
                   idx_bytes(torch::arange(images).remainder(10).to(torch::kUInt8)));
    }
  }
  Task load(const test::Settings& settings = {}) const {
    return load_dataset("good-cmnist", folder.path(), settings);
  }
  test::TempFolder folder;
};

TEST_F(Squares, SubsetsAreSharesAndEnvironmentsHaveAColour) {
  const Task task = load({{"report", "all"}});
  EXPECT_EQ(task.level, Level::graph);
  EXPECT_EQ(task.classes, 10);
  EXPECT_EQ(task.features(), 3);
  EXPECT_EQ(task.training[0].graph.items(), 30);  // 40 less two times 5
  EXPECT_EQ(task.validation[0].graph.items(), 5);
  EXPECT_EQ(task.test[0].graph.items(), 5);
  EXPECT_EQ(task.test[1].graph.items(), 5);
  // Every training graph has its environment's colour and no other: red, green, blue, yellow, cyan.
  const std::array<std::array<bool, 3>, 5> channels = {{{true, false, false},
                                                        {false, true, false},
                                                        {false, false, true},
                                                        {true, true, false},
                                                        {false, true, true}}};
  const Domain& train = task.training[0];
  std::set<int64_t> seen;
  for (int64_t g = 0; g < train.graph.items(); ++g) {
    const int64_t first = train.graph.parts[g].item<int64_t>(),
                  last = train.graph.parts[g + 1].item<int64_t>();
    const torch::Tensor most = std::get<0>(train.graph.x.dense.slice(0, first, last).max(0));
    const int64_t e = train.labels.environment[g].item<int64_t>();
    seen.insert(e);
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(most[c].item<float>() > 0,
                channels.at(static_cast<size_t>(e)).at(static_cast<size_t>(c)));
    }
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_THAT(task.notes, Contains(HasSubstr("superpixels and edges are ours")));
}

TEST_F(Squares, TheBackgroundMayHaveTheColourInstead) {
  const torch::Tensor plain = load({{"shift", "none"}}).test[0].graph.x.dense;
  EXPECT_TRUE(torch::equal(plain.select(1, 0), plain.select(1, 2)));
  const Task digits = load(), backs = load({{"domain", "background"}});
  const torch::Tensor digit = digits.test[0].graph.x.dense, back = backs.test[0].graph.x.dense;
  // The test's colour is (1, 0, 1).
  EXPECT_EQ(digit.select(1, 1).abs().max().item<float>(), 0);
  const torch::Tensor dark = digit.select(1, 0).lt(0.001);
  EXPECT_TRUE(dark.any().item<bool>());
  for (int64_t i = 0; i < dark.numel(); ++i) {
    const float value = digit[i][0].item<float>();
    const std::vector<float> expected = dark[i].item<bool>()
                                            ? std::vector<float>{1, 0, 1}
                                            : std::vector<float>{value, value, value};
    for (int64_t c = 0; c < 3; ++c)
      ASSERT_EQ(back[i][c].item<float>(), expected[static_cast<size_t>(c)]);
  }
}

// Sixteen nearest by squared distance, both directions: naively from mnist75sp's centroids of the
// same images.
TEST_F(Squares, EveryNodeIsJoinedToItsSixteenNearest) {
  const Task digits = load_dataset(
      "mnist75sp", folder.path(),
      {{"train_graphs", "30"}, {"validation_graphs", "5"}, {"test_graphs", "15"}, {"noise", "0"}});
  const Domain& plain = digits.test[0];
  // Where an image of the second file is in the test set of good-cmnist.
  const ColouredDigits coloured =
      colour_digits(to_vector(torch::cat({torch::arange(35), torch::arange(15)}).remainder(10)),
                    Shift::covariate);
  const Task task = load();
  const Graph& set = task.test[0].graph;
  int compared = 0;
  for (int64_t g = 0; g < set.items(); ++g) {
    const int64_t image = coloured.split[Subset::test].at(static_cast<size_t>(g)) - 35;
    if (image < 0) continue;
    ++compared;
    const int64_t first = plain.graph.parts[image].item<int64_t>();
    const int64_t n = plain.graph.parts[image + 1].item<int64_t>() - first;
    const int64_t at = set.parts[g].item<int64_t>();
    ASSERT_EQ(set.parts[g + 1].item<int64_t>() - at, n);
    const torch::Tensor xy = plain.graph.x.dense.slice(0, first, first + n).slice(1, 3, 5);
    std::set<std::pair<int64_t, int64_t>> expected, found;
    for (int64_t i = 0; i < n; ++i) {
      std::vector<std::pair<double, int64_t>> order;
      for (int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        const double dy = double{xy[i][0].item<float>()} - double{xy[j][0].item<float>()};
        const double dx = double{xy[i][1].item<float>()} - double{xy[j][1].item<float>()};
        order.emplace_back(dy * dy + dx * dx, j);
      }
      std::sort(order.begin(), order.end());
      for (size_t k = 0; k < 16; ++k) {
        expected.insert({{i, order.at(k).second}, {order.at(k).second, i}});
      }
    }
    const Csr& in = set.edges->in;
    for (int64_t i = at; i < at + n; ++i) {
      for (int64_t e = in.offset()[i]; e < in.offset()[i + 1]; ++e) {
        found.emplace(in.index()[e] - at, i - at);
      }
    }
    EXPECT_EQ(found, expected);
  }
  EXPECT_GT(compared, 0);
}

TEST(GoodCmnistColours, ConceptColoursGoAlongWithTheDigitInTrainingAlone) {
  std::vector<int64_t> labels(70000);
  for (size_t k = 0; k < labels.size(); ++k) labels[k] = static_cast<int64_t>(k % 10);
  const ColouredDigits digits = colour_digits(labels, Shift::by_concept);
  EXPECT_THAT(test::sizes_of(digits.split), ElementsAre(29400, 6300, 6300, 14000, 14000));
  const auto alike = [&](Subset subset) {
    double same = 0;
    for (const int64_t i : digits.split[subset]) same += digits.colour.at(i) == labels.at(i);
    return same / static_cast<double>(digits.split[subset].size());
  };
  // .85 on average in training, .3 and 0 behind; a tenth of the other draws agree by chance.
  EXPECT_NEAR(alike(Subset::train), .865, .008);
  EXPECT_NEAR(alike(Subset::validation), .37, .016);
  EXPECT_NEAR(alike(Subset::test), .1, .01);
}

TEST(GoodCmnistData, MembersEnvironmentsAndColoursAreThoseOfTheFiles) {
  REAL_DATA_OR_SKIP(root);
  const torch::Tensor y = torch::cat({io::read_idx(root + "/mnist/train-labels-idx1-ubyte.gz", 1),
                                      io::read_idx(root + "/mnist/t10k-labels-idx1-ubyte.gz", 1)});
  const std::vector<int64_t> labels = to_vector(y);
  for (const auto& [shift, file, sizes] :
       {std::tuple<Shift, const char*, std::vector<size_t>>{
            Shift::none, "no_shift", {42000, 0, 0, 14000, 14000}},
        {Shift::covariate, "covariate", {42000, 7000, 7000, 7000, 7000}},
        {Shift::by_concept, "concept", {29400, 6300, 6300, 14000, 14000}}}) {
    SCOPED_TRACE(file);
    const ColouredDigits digits = colour_digits(labels, shift);
    EXPECT_EQ(test::sizes_of(digits.split), sizes);
    const auto rows = test::good_rows(root + "/good/cmnist/split_" + file + ".csv.gz");
    std::vector<std::string> ours = test::split_lines(digits.split), theirs;
    for (const auto& row : rows) {
      theirs.push_back(row.at(0) + " " + row.at(1) + " " + row.at(2));
      if (shift == Shift::none) continue;
      ASSERT_EQ(std::to_string(digits.colour.at(std::stoul(row.at(0)))), row.at(3));
    }
    test::expect_same_lines(ours, theirs);
  }
}

}  // namespace
}  // namespace grm::good_cmnist_tests
