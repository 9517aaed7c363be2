#include "io/npz_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "io/npz.h"
#include "support/expect_error.h"
#include "support/npz_writer.h"
#include "support/temp_folder.h"

namespace grm::io::npz_write_tests {
namespace {

using test::error_of;
using ::testing::HasSubstr;
using Arrays = std::map<std::string, torch::Tensor>;

Arrays sample() {
  return {{"bool", torch::tensor({1, 0, 1}, torch::kUInt8).to(torch::kBool)},
          {"i1", torch::tensor({-128, 127}, torch::kInt8)},
          {"i2", torch::tensor({-32768, 32767}, torch::kInt16)},
          {"i4", torch::tensor({INT32_MIN, INT32_MAX}, torch::kInt32)},
          {"i8", torch::tensor({INT64_MIN, INT64_MAX}, torch::kInt64)},
          {"f4", torch::tensor({1.5f, -0.0f, 1e-40f}).view({3, 1})},
          {"f8", torch::tensor({0.1, -1e300, 7.0, 8.0}, torch::kFloat64).view({2, 2})},
          {"scalar", torch::tensor(int64_t{7})},
          {"empty", torch::empty({0, 4})},
          {"deep", torch::arange(24, torch::kInt64).view({2, 3, 4})}};
}

TEST(NpzWrite, EveryTypeAndShapeComesBackBitForBit) {
  const test::TempFolder folder;
  const std::string path = folder.file("all.npz");
  write_npz(path, sample());
  const Npz read = read_npz(path);
  EXPECT_TRUE(read.unread.empty());
  ASSERT_EQ(read.arrays.size(), sample().size());
  for (const auto& [name, array] : sample()) {
    const torch::Tensor& got = read.at(name);
    EXPECT_EQ(got.scalar_type(), array.scalar_type()) << name;
    EXPECT_EQ(got.sizes(), array.sizes()) << name;
    EXPECT_TRUE(torch::equal(got, array)) << name;
  }
}

TEST(NpzWrite, BytesComeBackInTheWiderTypeOfTheReader) {
  const test::TempFolder folder;
  write_npz(folder.file("u1.npz"), {{"u", torch::tensor({0, 255}, torch::kUInt8)}});
  const torch::Tensor got = read_npz(folder.file("u1.npz")).at("u");
  EXPECT_TRUE(torch::equal(got, torch::tensor({0, 255}, torch::kInt16)));
}

TEST(NpzWrite, TransposedAndSlicedTensorsAreWrittenInTheOrderOfTheirElements) {
  const torch::Tensor whole = torch::arange(12, torch::kInt32).view({3, 4});
  const test::TempFolder folder;
  write_npz(folder.file("v.npz"), {{"t", whole.t()}, {"s", whole.slice(1, 1, 4, 2)}});
  const Npz read = read_npz(folder.file("v.npz"));
  EXPECT_TRUE(torch::equal(read.at("t"), whole.t()));
  EXPECT_TRUE(torch::equal(read.at("s"), whole.slice(1, 1, 4, 2)));
}

// The archive that the hand-written writer of the tests makes of the same arrays, with headers as
// NumPy's numpy/lib/format.py describes them: 64 divides the place where the data begins.
TEST(NpzWrite, BytesAreThoseOfAHandMadeArchive) {
  const auto padded = [](std::string header) {
    header.resize(128 - 10 - 1, ' ');
    return header;
  };
  const std::string a =
      test::npy_with_header(padded("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }"),
                            test::bytes_of<int32_t>({1, 2, 3, 4, 5, 6}));
  const std::string b =
      test::npy_with_header(padded("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }"),
                            test::bytes_of<double>({0.5}));
  EXPECT_EQ(to_npz({{"a", torch::tensor({1, 2, 3, 4, 5, 6}, torch::kInt32).view({2, 3})},
                    {"b", torch::tensor({0.5}, torch::kFloat64)}},
                   "test"),
            test::zip({{"a.npy", a}, {"b.npy", b}}));
}

TEST(NpzWrite, AnArchiveWithoutArraysIsAnArchive) {
  const test::TempFolder folder;
  write_npz(folder.file("none.npz"), {});
  EXPECT_TRUE(read_npz(folder.file("none.npz")).arrays.empty());
}

TEST(NpzWrite, TypesOutsideTheFormatAreNamed) {
  const std::string message = error_of(ErrorKind::data, [] {
    to_npz({{"half", torch::zeros({2}, torch::kFloat16)}}, "file.npz");
  });
  EXPECT_THAT(message, HasSubstr("file.npz: array 'half'"));
  EXPECT_THAT(message, HasSubstr("Half"));
}

// One number that is 2^30 numbers by its strides: refused before anything is copied.
TEST(NpzWrite, MoreThanFourGibibytesAreRefusedBeforeTheyAreCopied) {
  const torch::Tensor huge = torch::zeros({1}).expand({int64_t{1} << 30});
  const test::TempFolder folder;
  const std::string message = error_of(ErrorKind::data, [&] {
    write_npz(folder.file("huge.npz"), {{"x", huge}});
  });
  EXPECT_THAT(message, HasSubstr("array 'x'"));
  EXPECT_THAT(message, HasSubstr("4 GiB"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace grm::io::npz_write_tests
