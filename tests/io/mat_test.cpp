#include "io/mat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "core/files.h"
#include "support/expect_error.h"
#include "support/npz_writer.h"
#include "support/real_data.h"
#include "support/temp_folder.h"

namespace grm::io {
namespace {

using test::bytes_of;
using test::error_of;
using ::testing::HasSubstr;

// MATLAB version 5 files written by hand, after MathWorks' "MAT-File Format".
enum { kInt8 = 1, kInt32 = 5, kUInt32 = 6, kDouble = 9, kMatrix = 14, kCompressed = 15 };
enum { kCellClass = 1, kStructClass = 2, kCharClass = 4, kSparseClass = 5, kDoubleClass = 6 };

std::string element(uint32_t type, std::string data, bool pad = true) {
  const std::string tag = bytes_of<uint32_t>({type, static_cast<uint32_t>(data.size())});
  if (pad) data.resize((data.size() + 7) / 8 * 8);
  return tag + data;
}

std::string matrix(uint32_t array_class, uint32_t nzmax, int32_t rows, int32_t cols,
                   const std::string& name, const std::string& parts) {
  return element(kMatrix, element(kUInt32, bytes_of<uint32_t>({array_class, nzmax})) +
                              element(kInt32, bytes_of<int32_t>({rows, cols})) +
                              element(kInt8, name) + parts);
}

std::string dense(const std::string& name, int32_t rows, int32_t cols,
                  const std::vector<double>& by_columns) {
  return matrix(kDoubleClass, 0, rows, cols, name, element(kDouble, bytes_of(by_columns)));
}

std::string sparse(const std::string& name, int32_t rows, int32_t cols,
                   const std::vector<int32_t>& row, const std::vector<int32_t>& column_start,
                   const std::vector<double>& values) {
  return matrix(kSparseClass, static_cast<uint32_t>(row.size()), rows, cols, name,
                element(kInt32, bytes_of(row)) + element(kInt32, bytes_of(column_start)) +
                    element(kDouble, bytes_of(values)));
}

std::string compressed(const std::string& plain) {
  std::string packed(compressBound(plain.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(plain.data()), plain.size());
  packed.resize(size);
  return element(kCompressed, packed, false);
}

std::string mat_file(const std::string& elements) {
  std::string header = "MATLAB 5.0 MAT-file, by hand";
  header.resize(124, ' ');
  return header + std::string("\x00\x01IM", 4) + elements;
}

// [[0 2 0], [1 0 0], [0 3 0]] and [[1 2], [3 4], [5 6]].
std::string sample(bool packed) {
  const std::string a = sparse("A", 3, 3, {1, 0, 2}, {0, 1, 3, 3}, {1, 2, 3});
  const std::string info = dense("local_info", 3, 2, {1, 3, 5, 2, 4, 6});
  return mat_file(packed ? compressed(a) + compressed(info) : a + info);
}

TEST(Mat, ReadsSparseAndDensePlainAndCompressed) {
  const test::TempFolder folder;
  for (const bool packed : {false, true}) {
    const std::string path = folder.write("a.mat", sample(packed));
    const MatSparse a = read_mat_sparse(path, "A");
    EXPECT_EQ(a.rows, 3);
    EXPECT_EQ(a.cols, 3);
    EXPECT_TRUE(a.row.equal(torch::tensor({1, 0, 2}, torch::kInt64)));
    EXPECT_TRUE(a.col.equal(torch::tensor({0, 1, 1}, torch::kInt64)));
    EXPECT_TRUE(a.value.equal(torch::tensor({1., 2., 3.}, torch::kFloat64)));
    const torch::Tensor expected = torch::tensor({1, 2, 3, 4, 5, 6}, torch::kInt64).view({3, 2});
    EXPECT_TRUE(read_mat_integers(path, "local_info").equal(expected));
    EXPECT_TRUE(read_mat_dense(path, "local_info").equal(expected.to(torch::kFloat64)));
  }
}

TEST(Mat, WrongNamesKindsAndValuesAreNamed) {
  const test::TempFolder folder;
  const std::string path = folder.write("a.mat", sample(false) + dense("half", 1, 2, {1, 0.5}));
  const std::string message = error_of(ErrorKind::data, [&] { read_mat_sparse(path, "B"); });
  EXPECT_THAT(message, HasSubstr("'B'"));
  EXPECT_THAT(message, HasSubstr("local_info"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_mat_sparse(path, "local_info"); }),
              HasSubstr("not a sparse matrix"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_mat_dense(path, "A"); }),
              HasSubstr("not a full matrix"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_mat_integers(path, "half"); }),
              HasSubstr("row 1 column 2: 0.5 is not a whole number"));
}

// MATLAB stores whole numbers of class double in the smallest type that holds them.
TEST(Mat, ReadsNumbersOfEveryType) {
  const test::TempFolder folder;
  const auto values_of = [&](uint32_t type, const std::string& data) {
    const std::string path = folder.write(
        "types.mat", mat_file(matrix(kDoubleClass, 0, 1, 2, "x", element(type, data))));
    const torch::Tensor x = read_mat_dense(path, "x");
    return std::pair(x.data_ptr<double>()[0], x.data_ptr<double>()[1]);
  };
  EXPECT_EQ(values_of(1, bytes_of<int8_t>({-128, 127})), std::pair(-128., 127.));
  EXPECT_EQ(values_of(2, bytes_of<uint8_t>({0, 255})), std::pair(0., 255.));
  EXPECT_EQ(values_of(3, bytes_of<int16_t>({-32768, 32767})), std::pair(-32768., 32767.));
  EXPECT_EQ(values_of(4, bytes_of<uint16_t>({0, 65535})), std::pair(0., 65535.));
  EXPECT_EQ(values_of(5, bytes_of<int32_t>({-7, 1 << 30})), std::pair(-7., 1073741824.));
  EXPECT_EQ(values_of(6, bytes_of<uint32_t>({7, 4294967295u})), std::pair(7., 4294967295.));
  EXPECT_EQ(values_of(7, bytes_of<float>({0.5f, -3.f})), std::pair(0.5, -3.));
  EXPECT_EQ(values_of(9, bytes_of<double>({0.1, -3})), std::pair(0.1, -3.));
  EXPECT_EQ(values_of(12, bytes_of<int64_t>({-1, int64_t{1} << 40})), std::pair(-1., 0x1p40));
  EXPECT_EQ(values_of(13, bytes_of<uint64_t>({1, uint64_t{1} << 63})), std::pair(1., 0x1p63));
  for (const uint32_t type : {0, 8, 10, 11, 14, 16, 18}) {
    EXPECT_THAT(error_of(ErrorKind::data, [&] { values_of(type, std::string(16, 'a')); }),
                HasSubstr("types.mat"));
  }
}

// Larger than one block of the reader; columns are stored one after the other.
TEST(Mat, LargeMatricesAreWhole) {
  const test::TempFolder folder;
  const int64_t rows = 701, cols = 13;
  std::vector<double> by_columns;
  for (int64_t i = 0; i < rows * cols; ++i) by_columns.push_back(static_cast<double>(i) / 7);
  for (const bool packed : {false, true}) {
    const std::string x = dense("x", rows, cols, by_columns);
    const std::string path = folder.write("large.mat", mat_file(packed ? compressed(x) : x));
    const torch::Tensor expected =
        torch::arange(rows * cols, torch::kFloat64).div(7).view({cols, rows}).t();
    EXPECT_TRUE(read_mat_dense(path, "x").equal(expected));
  }
}

TEST(Mat, InconsistentSparseMatricesAreErrors) {
  const test::TempFolder folder;
  const auto refused = [&](const std::string& bytes) {
    const std::string path = folder.write("bad.mat", mat_file(bytes));
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read_mat_sparse(path, "A"); }),
                HasSubstr("bad.mat"));
  };
  refused(sparse("A", 3, 3, {1, 0, 3}, {0, 1, 3, 3}, {1, 2, 3}));
  refused(sparse("A", 3, 3, {1, 0, -1}, {0, 1, 3, 3}, {1, 2, 3}));
  refused(sparse("A", 3, 3, {1, 0, 2}, {0, 3, 1, 3}, {1, 2, 3}));
  refused(sparse("A", 3, 3, {1, 0, 2}, {0, 1, 3, 9}, {1, 2, 3}));
  refused(sparse("A", 3, 3, {1, 0, 2}, {1, 1, 3, 3}, {1, 2, 3}));
  refused(sparse("A", 3, 9, {1, 0, 2}, {0, 1, 3, 3}, {1, 2, 3}));
  refused(sparse("A", 3, 3, {1, 0, 2}, {0, 1, 3, 3}, {1, 2}));
}

// No memory is reserved for what they declare: here 2^40 parts.
TEST(Mat, CellsStructuresAndTextAreSkipped) {
  const test::TempFolder folder;
  const std::string x = dense("x", 1, 2, {4, 7});
  for (const uint32_t array_class : {kCellClass, kStructClass}) {
    const std::string large = matrix(array_class, 0, 1 << 20, 1 << 20, "large", x);
    for (const std::string& elements : {large + x, x + large, compressed(large) + compressed(x)}) {
      const std::string path = folder.write("with.mat", mat_file(elements));
      EXPECT_TRUE(read_mat_dense(path, "x").equal(torch::tensor({{4., 7.}}, torch::kFloat64)));
      EXPECT_THAT(error_of(ErrorKind::data, [&] { read_mat_dense(path, "large"); }),
                  HasSubstr("'large' is not a real matrix"));
    }
  }
  const std::string text = matrix(kCharClass, 0, 1, 2, "text", element(kInt8, "ab"));
  const std::string path = folder.write("text.mat", mat_file(text + x));
  EXPECT_EQ(read_mat_dense(path, "x").numel(), 2);
}

TEST(Mat, OtherFilesAreRefused) {
  const test::TempFolder folder;
  error_of(ErrorKind::io, [&] { read_mat_dense(folder.file("none.mat"), "A"); });
  error_of(ErrorKind::io, [&] { read_mat_dense(folder.path(), "A"); });
  const std::string hdf = "MATLAB 7.3 MAT-file" + sample(false).substr(19);
  for (const std::string& bytes :
       {std::string(), std::string("text"), std::string(300, 'x'), hdf}) {
    const std::string path = folder.write("other.mat", bytes);
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read_mat_dense(path, "A"); }),
                HasSubstr("other.mat"));
  }
}

TEST(Mat, TruncationIsAnErrorAndNothingIsPrinted) {
  const test::TempFolder folder;
  for (const bool packed : {false, true}) {
    const std::string whole = sample(packed);
    ::testing::internal::CaptureStderr();
    for (size_t size = 0; size < whole.size(); size += 3) {
      const std::string path = folder.write("cut.mat", whole.substr(0, size));
      EXPECT_THAT(error_of(ErrorKind::data, [&] { read_mat_dense(path, "local_info"); }),
                  HasSubstr("cut.mat"))
          << size;
    }
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  }
}

TEST(Mat, FlippedBitsGiveAnErrorOrAMatrixButNeverACrashOrAPrint) {
  const test::TempFolder folder;
  for (const bool packed : {false, true}) {
    const std::string whole = sample(packed);
    ::testing::internal::CaptureStderr();
    for (size_t bit = 8 * 120; bit < 8 * whole.size(); bit += 7) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const std::string path = folder.write("flip.mat", damaged);
      test::throws_error([&] { read_mat_sparse(path, "A"); });
      test::throws_error([&] { read_mat_dense(path, "local_info"); });
    }
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  }
}

// Nodes and undirected edges as published with the files.
TEST(Mat, RealFacebookGraphsHaveTheirPublishedCounts) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  const std::tuple<const char*, int64_t, int64_t> expected[] = {
      {"Caltech36", 769, 16656},   {"Amherst41", 2235, 90954},    {"JohnsHopkins55", 5180, 186586},
      {"Cornell5", 18660, 790777}, {"Yale4", 8578, 405450},       {"Brown11", 8600, 384526},
      {"Duke14", 9895, 506442},    {"Princeton12", 6596, 293320}, {"Bingham82", 10004, 362894},
      {"WashU32", 7755, 367541},   {"Brandeis99", 3898, 137567},  {"Carnegie49", 6637, 249967}};
  for (const auto& [name, nodes, edges] : expected) {
    const std::string path = *root + "/facebook100/" + name + ".mat";
    const MatSparse a = read_mat_sparse(path, "A");
    EXPECT_EQ(a.rows, nodes) << name;
    EXPECT_EQ(a.cols, nodes) << name;
    EXPECT_EQ(a.row.size(0), 2 * edges) << name;
    EXPECT_TRUE(a.value.eq(1).all().item<bool>()) << name;
    EXPECT_EQ(read_mat_integers(path, "local_info").sizes().vec(), (std::vector<int64_t>{nodes, 7}))
        << name;
  }
}

}  // namespace
}  // namespace grm::io
