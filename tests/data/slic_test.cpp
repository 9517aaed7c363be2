#include "data/slic.h"

#include <cmath>
#include <set>

#include "data/helpers.h"
#include "grm/core/rng.h"
#include "io/idx.h"
#include "support/superpixel_reference.h"

namespace grm {
namespace {

// A few bright discs with soft borders on black, like strokes of a pen.
std::vector<float> blobs(int64_t height, int64_t width, uint64_t seed) {
  Stream draws = Rng(seed).stream("blobs");
  std::vector<float> image(height * width, 0);
  for (int blob = 0; blob < 8; ++blob) {
    const double cy = draws.uniform(0, height), cx = draws.uniform(0, width);
    for (int64_t i = 0; i < height * width; ++i) {
      const double far = std::hypot(cy - i / width, cx - i % width);
      image[i] = std::max(image[i], static_cast<float>(std::min(1.0, std::max(0.0, 4 - far))));
    }
  }
  return image;
}

// Pixels that can be reached from `first` without leaving its superpixel.
int64_t reach(const std::vector<int32_t>& label, int64_t height, int64_t width, int64_t first) {
  std::set<int64_t> seen = {first};
  std::vector<int64_t> open = {first};
  while (!open.empty()) {
    const int64_t y = open.back() / width, x = open.back() % width;
    open.pop_back();
    for (const auto& [v, u] : {std::pair{y, x + 1}, {y, x - 1}, {y + 1, x}, {y - 1, x}}) {
      if (v < 0 || v >= height || u < 0 || u >= width) continue;
      const int64_t pixel = v * width + u;
      if (label[pixel] == label[first] && seen.insert(pixel).second) open.push_back(pixel);
    }
  }
  return static_cast<int64_t>(seen.size());
}

TEST(Slic, EverySuperpixelIsConnectedAndEveryLabelIsUsed) {
  using Size = std::pair<int64_t, int64_t>;
  for (const auto& [height, width] : {Size(28, 28), Size(17, 40), Size(3, 50), Size(1, 9)}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const std::vector<float> image = blobs(height, width, seed);
      const Superpixels found = slic(image.data(), height, width, 10 + 5 * seed, 0.25);
      ASSERT_EQ(found.label.size(), image.size());
      std::vector<int64_t> pixels(found.count, 0);
      for (const int32_t label : found.label) {
        ASSERT_TRUE(label >= 0 && label < found.count) << label;
        ++pixels[label];
      }
      for (size_t i = 0; i < image.size(); ++i) {
        EXPECT_EQ(reach(found.label, height, width, i), pixels[found.label[i]]);
      }
    }
  }
}

// By hand: centres at 1 and 3 of both sides, pixel 2 is as far from both and goes to the first; the
// corner alone is below half of the mean size 4 and goes to the neighbour above, asked last.
TEST(Slic, FlatImageIsCutAsComputedByHand) {
  const std::vector<float> image(16, 0.5f);
  const Superpixels found = slic(image.data(), 4, 4, 4, 0.25);
  EXPECT_EQ(found.count, 3);
  EXPECT_THAT(found.label, ::testing::ElementsAre(0, 0, 0, 1,  //
                                                  0, 0, 0, 1,  //
                                                  0, 0, 0, 1,  //
                                                  2, 2, 2, 1));
}

// The contrast 1 / 0.25^2 = 16 is above any distance inside a window, (6^2 + 6^2) / 3^2 = 8.
TEST(Slic, NoSuperpixelCrossesAStrongEdge) {
  std::vector<float> image(28 * 28, 0);
  for (int64_t i = 0; i < 28 * 28; ++i) image[i] = i % 28 < 14 ? 0.0f : 1.0f;
  const Superpixels found = slic(image.data(), 28, 28, 95, 0.25);
  std::set<int32_t> left, right;
  for (int64_t i = 0; i < 28 * 28; ++i) (i % 28 < 14 ? left : right).insert(found.label[i]);
  EXPECT_EQ(static_cast<int32_t>(left.size() + right.size()), found.count);
}

TEST(Slic, ContrastIsStretchedSoBrightnessAndGainDoNotMatter) {
  const std::vector<float> image = blobs(28, 28, 5);
  std::vector<float> dim(image.size());
  for (size_t i = 0; i < image.size(); ++i) dim[i] = 0.25f * image[i] + 0.5f;
  EXPECT_EQ(slic(dim.data(), 28, 28, 95, 0.25).label, slic(image.data(), 28, 28, 95, 0.25).label);
}

TEST(Slic, LoweringTheRequestGivesTheFirstResultThatIsSmallEnough) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<float> image = blobs(28, 28, seed);
    for (const int64_t most : {75, 60, 30, 1}) {
      int64_t segments = 95;
      Superpixels expected = slic(image.data(), 28, 28, segments, 0.25);
      while (expected.count > most) expected = slic(image.data(), 28, 28, --segments, 0.25);
      const Superpixels found = slic_at_most(image.data(), 28, 28, 95, most, 0.25);
      EXPECT_EQ(found.count, expected.count);
      EXPECT_EQ(found.label, expected.label);
    }
  }
}

TEST(Slic, ImpossibleRequestsAreErrors) {
  std::vector<float> image(16, 0);
  for (const auto& [segments, compactness] : {std::pair<int64_t, double>{0, 0.25}, {4, 0.0}}) {
    test::error_of(ErrorKind::shape,
                   [&, s = segments, c = compactness] { slic(image.data(), 4, 4, s, c); });
  }
  test::error_of(ErrorKind::shape, [&] { slic_at_most(image.data(), 4, 4, 4, 0, 0.25); });
  image[3] = NAN;
  EXPECT_THAT(test::data_error([&] { slic(image.data(), 4, 4, 4, 0.25); }),
              ::testing::HasSubstr("pixel 3"));
}

// The yardstick is scikit-image's own result; all 2,000 images agree where no multiply-add is
// fused. The bound leaves room for machines that round otherwise.
TEST(SlicReal, SuperpixelsAreThoseOfScikitImage) {
  REAL_DATA_OR_SKIP(root);
  const test::SuperpixelReference reference(root + "/mnist75sp/mnist75sp_test_first2000.bin");
  const torch::Tensor images = io::read_idx(root + "/mnist/t10k-images-idx3-ubyte.gz", 3);
  int64_t same = 0;
  for (int64_t image = 0; image < reference.images(); ++image) {
    const uint8_t* pixel = images.data_ptr<uint8_t>() + image * 28 * 28;
    std::vector<float> gray(28 * 28);
    for (size_t i = 0; i < gray.size(); ++i) gray[i] = static_cast<float>(pixel[i] / 255.0);
    const Superpixels found = slic_at_most(gray.data(), 28, 28, 95, 75, 0.25);
    EXPECT_LE(found.count, 75);
    if (found.count != reference.nodes(image)) continue;
    std::vector<std::array<double, 4>> sum(found.count, {0, 0, 0, 0});
    for (int64_t i = 0; i < 28 * 28; ++i) {
      const std::array<double, 4> part = {gray[i], double(i / 28), double(i % 28), 1};
      for (size_t c = 0; c < 4; ++c) sum[found.label[i]][c] += part[c];
    }
    bool equal = true;
    for (int32_t k = 0; k < found.count; ++k) {
      const float* node = reference.node.data() + 3 * (reference.offset[image] + k);
      for (size_t c = 0; c < 3; ++c) {
        equal = equal && std::abs(sum[k][c] / sum[k][3] - node[c]) < 1e-5;
      }
    }
    same += equal;
  }
  EXPECT_EQ(reference.images(), 2000);
  EXPECT_GE(same, 1980) << "images whose superpixels all agree, in order";
  RecordProperty("agreeing_images", static_cast<int>(same));
}

}  // namespace
}  // namespace grm
