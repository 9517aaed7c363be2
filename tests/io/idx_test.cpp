#include "io/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/idx_writer.h"
#include "support/real_data.h"
#include "support/temp_folder.h"

namespace grm::io {
namespace {

using test::gzipped;
using test::idx_bytes;
using ::testing::HasSubstr;

torch::Tensor small_images() {
  return (torch::arange(2 * 3 * 4, torch::kInt64) * 11).to(torch::kUInt8).reshape({2, 3, 4});
}

// The Error(data) for these bytes; it must name the file.
std::string error_for(const std::string& bytes, int64_t dimensions = 3) {
  const test::TempFolder folder;
  const std::string path = folder.write("a-idx3-ubyte", bytes);
  const std::string message = test::error_of(ErrorKind::data, [&] { read_idx(path, dimensions); });
  EXPECT_THAT(message, HasSubstr(path));
  return message;
}

TEST(Idx, PlainAndGzippedFilesGiveTheSameArray) {
  const test::TempFolder folder;
  const std::string bytes = idx_bytes(small_images());
  for (const std::string& content : {bytes, gzipped(bytes)}) {
    const torch::Tensor read = read_idx(folder.write("a", content), 3);
    EXPECT_EQ(read.scalar_type(), torch::kUInt8);
    EXPECT_TRUE(torch::equal(read, small_images()));
  }
}

// Bytes written out by hand: sizes are big-endian, values in C order.
TEST(Idx, ReadsTheBytesOfTheFormat) {
  const test::TempFolder folder;
  const std::string bytes("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\x01\x02\x03\x04\x05\xff", 18);
  const torch::Tensor read = read_idx(folder.write("a", bytes), 2);
  EXPECT_TRUE(torch::equal(read.to(torch::kInt64), torch::tensor({{1, 2, 3}, {4, 5, 255}})));
}

TEST(Idx, SizesAboveOneByteAreRead) {
  const test::TempFolder folder;
  const torch::Tensor labels = torch::zeros({70000}, torch::kUInt8);
  EXPECT_EQ(read_idx(folder.write("a", idx_bytes(labels)), 1).numel(), 70000);
}

TEST(Idx, TruncatedFileIsAnErrorAtEveryLength) {
  const std::string bytes = idx_bytes(small_images());
  const std::string packed = gzipped(bytes);
  for (size_t size = 0; size < bytes.size(); ++size) error_for(bytes.substr(0, size));
  for (size_t size = 0; size < packed.size(); ++size) error_for(packed.substr(0, size));
  EXPECT_THAT(error_for(bytes.substr(0, bytes.size() - 1)), HasSubstr("23 bytes"));
}

TEST(Idx, LongerFileThanAnnouncedIsAnError) {
  EXPECT_THAT(error_for(idx_bytes(small_images()) + '\0'), HasSubstr("more bytes"));
}

TEST(Idx, OtherTypesDimensionsAndFormatsAreNamed) {
  std::string floats = idx_bytes(small_images());
  floats[2] = 0x0d;
  EXPECT_THAT(error_for(floats), HasSubstr("begins with 00000d03, expected 00000803"));
  EXPECT_THAT(error_for(idx_bytes(small_images()), 1), HasSubstr("expected 00000801"));
  EXPECT_THAT(error_for("label,pixel\n1,2\n"), HasSubstr("begins with 6c616265"));
}

TEST(Idx, ImpossibleSizesAreNamedWithoutAllocating) {
  std::string empty = idx_bytes(small_images()), huge = empty;
  empty[7] = 0;
  EXPECT_THAT(error_for(empty), HasSubstr("dimension 1 has size 0"));
  for (size_t k = 4; k < 16; ++k) huge[k] = '\xff';
  EXPECT_THAT(error_for(huge), HasSubstr("dimension 2 has size 4294967295"));
}

TEST(Idx, DamagedGzipStreamIsAnError) {
  std::string packed = gzipped(idx_bytes(small_images()));
  packed[packed.size() - 6] ^= 0x55;  // inside the checksum
  EXPECT_THAT(error_for(packed), HasSubstr("reading failed"));
}

TEST(Idx, MissingFileAndFolderAreNamed) {
  const test::TempFolder folder;
  for (const std::string& path : {folder.file("none"), folder.path()}) {
    EXPECT_THAT(test::error_of(ErrorKind::io, [&] { read_idx(path, 1); }), HasSubstr(path));
  }
}

// 10,000 images of 28 x 28 pixels with labels 0..9: the description of the files.
TEST(IdxReal, MnistTestFilesHaveThePublishedShape) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  const torch::Tensor images = read_idx(*root + "/mnist/t10k-images-idx3-ubyte.gz", 3);
  EXPECT_EQ(images.sizes().vec(), (std::vector<int64_t>{10000, 28, 28}));
  const torch::Tensor labels = read_idx(*root + "/mnist/t10k-labels-idx1-ubyte.gz", 1);
  EXPECT_EQ(labels.numel(), 10000);
  EXPECT_EQ(labels.max().item<int64_t>(), 9);
}

}  // namespace
}  // namespace grm::io
