#include "io/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "support/expect_error.h"
#include "support/golden.h"
#include "support/npz_writer.h"
#include "support/real_data.h"
#include "support/temp_folder.h"

namespace grm::io {
namespace {

using test::bytes_of;
using test::error_of;
using test::npy;
using test::npy_with_header;
using ::testing::HasSubstr;

// One array through an archive.
torch::Tensor round_trip(const std::string& npy_bytes, bool deflated = false) {
  const test::TempFolder folder;
  return read_npz(folder.write("a.npz", test::zip({{"a.npy", npy_bytes}}, deflated))).at("a");
}

template <class T>
void expect_values(const torch::Tensor& tensor, torch::ScalarType type,
                   const std::vector<int64_t>& shape, const std::vector<T>& values) {
  EXPECT_EQ(tensor.scalar_type(), type);
  EXPECT_EQ(tensor.sizes().vec(), shape);
  EXPECT_TRUE(tensor.is_contiguous());
  const torch::Tensor flat = tensor.reshape({-1});
  ASSERT_EQ(flat.numel(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(flat[i].item<T>(), values[i]) << i;
}

TEST(Npz, ReadsEverySignedAndFloatTypeAsItIs) {
  expect_values<int64_t>(round_trip(npy("|i1", "(3,)", bytes_of<int8_t>({-128, 0, 127}))),
                         torch::kInt8, {3}, {-128, 0, 127});
  expect_values<int64_t>(round_trip(npy("<i2", "(2,)", bytes_of<int16_t>({-32768, 32767}))),
                         torch::kInt16, {2}, {-32768, 32767});
  expect_values<int64_t>(round_trip(npy("<i4", "(2,)", bytes_of<int32_t>({INT32_MIN, INT32_MAX}))),
                         torch::kInt32, {2}, {INT32_MIN, INT32_MAX});
  expect_values<int64_t>(round_trip(npy("<i8", "(2,)", bytes_of<int64_t>({INT64_MIN, INT64_MAX}))),
                         torch::kInt64, {2}, {INT64_MIN, INT64_MAX});
  expect_values<double>(round_trip(npy("<f4", "(2,)", bytes_of<float>({1.5f, -0.25f}))),
                        torch::kFloat32, {2}, {1.5, -0.25});
  expect_values<double>(round_trip(npy("<f8", "(2,)", bytes_of<double>({0.1, -1e300}))),
                        torch::kFloat64, {2}, {0.1, -1e300});
}

TEST(Npz, WidensUnsignedIntegersToASignedTypeThatHoldsThem) {
  expect_values<int64_t>(round_trip(npy("|u1", "(2,)", bytes_of<uint8_t>({0, 255}))), torch::kInt16,
                         {2}, {0, 255});
  expect_values<int64_t>(round_trip(npy("<u2", "(2,)", bytes_of<uint16_t>({1, 65535}))),
                         torch::kInt32, {2}, {1, 65535});
  expect_values<int64_t>(round_trip(npy("<u4", "(2,)", bytes_of<uint32_t>({1, UINT32_MAX}))),
                         torch::kInt64, {2}, {1, UINT32_MAX});
  expect_values<int64_t>(round_trip(npy("<u8", "(2,)", bytes_of<uint64_t>({1, INT64_MAX}))),
                         torch::kInt64, {2}, {1, INT64_MAX});
  EXPECT_THAT(error_of(ErrorKind::data,
                       [] { round_trip(npy("<u8", "(1,)", bytes_of<uint64_t>({UINT64_MAX}))); }),
              HasSubstr("2^63"));
}

TEST(Npz, ReadsBooleansScalarsAndEmptyArrays) {
  expect_values<bool>(round_trip(npy("|b1", "(3,)", bytes_of<uint8_t>({0, 1, 1}))), torch::kBool,
                      {3}, {false, true, true});
  expect_values<int64_t>(round_trip(npy("<i8", "()", bytes_of<int64_t>({7}))), torch::kInt64, {},
                         {7});
  expect_values<int64_t>(round_trip(npy("<i8", "(0, 5)", "")), torch::kInt64, {0, 5}, {});
}

TEST(Npz, FortranOrderGivesTheSameMatrixAsCOrder) {
  // [[1 2 3], [4 5 6]]: by rows, and by columns.
  expect_values<int64_t>(round_trip(npy("<i4", "(2, 3)", bytes_of<int32_t>({1, 2, 3, 4, 5, 6}))),
                         torch::kInt32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values<int64_t>(
      round_trip(npy("<i4", "(2, 3)", bytes_of<int32_t>({1, 4, 2, 5, 3, 6}), true)), torch::kInt32,
      {2, 3}, {1, 2, 3, 4, 5, 6});
  // Three axes: element (i, j, k) of shape (2, 3, 2) lies at i + 2 j + 6 k.
  std::vector<int16_t> by_columns(12);
  std::vector<int64_t> by_rows;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 2; ++k) {
        by_columns[i + 2 * j + 6 * k] = static_cast<int16_t>(100 * i + 10 * j + k);
        by_rows.push_back(100 * i + 10 * j + k);
      }
    }
  }
  expect_values<int64_t>(round_trip(npy("<i2", "(2, 3, 2)", bytes_of(by_columns), true)),
                         torch::kInt16, {2, 3, 2}, by_rows);
}

TEST(Npz, ReadsHeaderVersionsOneToThreeAndAnyKeyOrder) {
  for (const int version : {1, 2, 3}) {
    expect_values<int64_t>(
        round_trip(npy("<i4", "(2,)", bytes_of<int32_t>({5, 6}), false, version)), torch::kInt32,
        {2}, {5, 6});
  }
  const std::string data = bytes_of<int32_t>({5, 6});
  expect_values<int64_t>(
      round_trip(npy_with_header("{\"shape\": (2L,), 'descr' : '<i4', 'fortran_order':False}      ",
                                 data)),
      torch::kInt32, {2}, {5, 6});
}

TEST(Npz, ReadsDeflatedEntries) {
  const std::vector<int64_t> many(10000, 3);
  const torch::Tensor read = round_trip(npy("<i8", "(100, 100)", bytes_of(many)), true);
  EXPECT_TRUE(read.equal(torch::full({100, 100}, 3, torch::kInt64)));
}

TEST(Npz, ArraysThatAreNotNumericDoNotHideTheOthers) {
  const test::TempFolder folder;
  const std::string path = folder.write(
      "mixed.npz",
      test::zip({{"names.npy", npy("<U2", "(1,)", std::string(8, 'x'))},
                 {"objects.npy", npy("|O", "(1,)", "pickle")},
                 {"records.npy",
                  npy_with_header("{'descr': [('a', '<i4'), ('b]', '<f8')], 'fortran_order': "
                                  "False, 'shape': (1,), }",
                                  std::string(12, 'x'))},
                 {"big.npy", npy(">f8", "(1,)", std::string(8, 'x'))},
                 {"good.npy", npy("<i4", "(1,)", bytes_of<int32_t>({9}))},
                 {"readme.txt", "not an array"}}));
  const Npz npz = read_npz(path);
  EXPECT_EQ(npz.at("good").item<int64_t>(), 9);
  EXPECT_TRUE(npz.has("good"));
  EXPECT_FALSE(npz.has("names"));
  EXPECT_EQ(npz.arrays.size(), 1u);
  EXPECT_EQ(npz.unread.at("records"), "[('a', '<i4'), ('b]', '<f8')]");
  for (const auto& [name, dtype] : npz.unread) {
    const std::string message = error_of(ErrorKind::data, [&, n = name] { npz.at(n); });
    EXPECT_THAT(message, HasSubstr(path));
    EXPECT_THAT(message, HasSubstr("'" + name + "'"));
    EXPECT_THAT(message, HasSubstr(dtype));
  }
  const std::string message = error_of(ErrorKind::data, [&] { npz.at("absent"); });
  EXPECT_THAT(message, HasSubstr("absent"));
  EXPECT_THAT(message, HasSubstr("good"));
}

TEST(Npz, RefusesShapesThatDoNotFillTheData) {
  const std::string data = bytes_of<int64_t>({1, 2, 3, 4});
  for (const char* shape :
       {"(3,)", "(5,)", "(2, 3)", "(-4,)", "(-2, -2)", "(0,)", "(4294967296, 4294967296, 4)",
        "(9223372036854775807, 2)", "(0, 9223372036854775807, 9223372036854775807)"}) {
    const std::string message =
        error_of(ErrorKind::data, [&] { round_trip(npy("<i8", shape, data)); });
    EXPECT_THAT(message, HasSubstr("'a'")) << shape;
  }
  for (const char* shape : {"4", "(4", "('4',)", "(4.0,)", "(99999999999999999999,)"}) {
    EXPECT_THAT(error_of(ErrorKind::data, [&] { round_trip(npy("<i8", shape, data)); }),
                HasSubstr("header"))
        << shape;
  }
}

TEST(Npz, RefusesBrokenHeaders) {
  const std::string data = bytes_of<int64_t>({1});
  for (const char* header :
       {"", "{", "{}", "{'descr': '<i8'}", "{'descr': '<i8', 'fortran_order': 1, 'shape': (1,)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<i8, 'fortran_order': False, 'shape': (1,)}", "{'descr': [[[[[", "{'descr"}) {
    EXPECT_THAT(error_of(ErrorKind::data, [&] { round_trip(npy_with_header(header, data)); }),
                HasSubstr("header"))
        << header;
  }
  error_of(ErrorKind::data, [] { round_trip(""); });
  error_of(ErrorKind::data, [] { round_trip("\x93NUMPY"); });
  error_of(ErrorKind::data, [] { round_trip(std::string("\x93NUMPY\x04\0\x10\0{}", 12)); });
  error_of(ErrorKind::data, [] { round_trip(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12)); });
}

TEST(Npz, RefusesEntriesThatDeclareMoreThanTheyCanHold) {
  const std::string body = npy("<i8", "(1,)", bytes_of<int64_t>({1}));
  std::string archive = test::zip({{"a.npy", body}});
  // The size fields of the central directory entry: packed at +20, unpacked at +24.
  const size_t directory = archive.find("PK\x01\x02");
  archive.replace(directory + 24, 4, "\xff\xff\xff\x7f");
  const test::TempFolder folder;
  const std::string path = folder.write("lie.npz", archive);
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_npz(path); }), HasSubstr("2147483647"));
}

TEST(Npz, NamesADuplicateArray) {
  const std::string body = npy("<i8", "(1,)", bytes_of<int64_t>({1}));
  const test::TempFolder folder;
  const std::string path = folder.write("twice.npz", test::zip({{"a.npy", body}, {"a.npy", body}}));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_npz(path); }), HasSubstr("'a'"));
}

TEST(Npz, MissingFileAndFolderAreErrorsOfKindIo) {
  const test::TempFolder folder;
  EXPECT_THAT(error_of(ErrorKind::io, [&] { read_npz(folder.file("none.npz")); }),
              HasSubstr("none.npz"));
  error_of(ErrorKind::io, [&] { read_npz(folder.path()); });
}

TEST(Npz, TruncationAnywhereIsAnErrorThatNamesTheFile) {
  const test::TempFolder folder;
  const std::string whole = read_file(GRM_SOURCE_DIR "/tests/fixtures/influence.npz");
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 211) {
    const std::string path = folder.write("cut.npz", whole.substr(0, size));
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read_npz(path); }), HasSubstr("cut.npz")) << size;
  }
}

TEST(Npz, FlippedBitsGiveAnErrorOrArraysButNeverACrash) {
  const test::TempFolder folder;
  const std::string whole =
      test::zip({{"a.npy", npy("<i4", "(4, 25)", bytes_of(std::vector<int32_t>(100, 7)))},
                 {"b.npy", npy("<U1", "(2,)", "12345678")}},
                true);
  int errors = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); bit += 5) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const std::string path = folder.write("flip.npz", damaged);
    errors += test::throws_error([&] { read_npz(path); });
  }
  EXPECT_GT(errors, 0);
}

// Names and shapes as listed beside the archive; made by PyTorch Geometric.
TEST(Npz, GoldenLayersLoad) {
  const test::Golden golden("layers.npz");
  EXPECT_EQ(golden.at("graph__edge_index").sizes().vec(), (std::vector<int64_t>{2, 17}));
  EXPECT_EQ(golden.at("graph__edge_index").scalar_type(), torch::kInt64);
  EXPECT_EQ(golden.at("graph__x").sizes().vec(), (std::vector<int64_t>{9, 5}));
  for (const char* name :
       {"gcn_kipf", "gcn_kipf_weighted", "gcn_sum", "gcn_sum_weighted", "sage_mean", "gat_concat",
        "gat_mean", "gin", "graphconv", "graphconv_weighted", "leconv", "leconv_weighted", "arma",
        "arma_weighted", "sgc_k2", "gcn2_layer3", "appnp_k10_a01"}) {
    const torch::Tensor& out = golden.at(std::string(name) + "__out");
    EXPECT_EQ(out.scalar_type(), torch::kFloat64) << name;
    EXPECT_EQ(out.size(0), 9) << name;
    EXPECT_TRUE(out.isfinite().all().item<bool>()) << name;
    EXPECT_TRUE(out.sizes().equals(golden.at(std::string(name) + "__cotangent").sizes())) << name;
  }
  // Node 8 is isolated, and 3 -> 3 is the one self-loop.
  const torch::Tensor& edges = golden.at("graph__edge_index");
  EXPECT_FALSE(edges.eq(8).any().item<bool>());
  const torch::Tensor loops = edges[0].eq(edges[1]).nonzero();
  ASSERT_EQ(loops.numel(), 1);
  EXPECT_EQ(edges[0][loops.item<int64_t>()].item<int64_t>(), 3);
}

// Zachary's karate club is known to have 34 members and 78 ties; the array is in Fortran order.
TEST(Npz, GoldenInfluenceLoads) {
  const test::Golden golden("influence.npz");
  EXPECT_EQ(golden.at("karate__nodes").item<int64_t>(), 34);
  const torch::Tensor& edges = golden.at("karate__edges");
  EXPECT_EQ(edges.sizes().vec(), (std::vector<int64_t>{2, 78}));
  EXPECT_EQ(edges.min().item<int64_t>(), 0);
  EXPECT_EQ(edges.max().item<int64_t>(), 33);
  // The instructor (0) has 16 ties and the president (33) has 17.
  EXPECT_EQ(edges.eq(0).sum().item<int64_t>(), 16);
  EXPECT_EQ(edges.eq(33).sum().item<int64_t>(), 17);
  EXPECT_EQ(golden.at("karate__selected").scalar_type(), torch::kBool);
}

// Counts as published with the files.
TEST(Npz, RealCoraAndPhotoHaveTheirPublishedCounts) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  const Npz cora = read_npz(*root + "/cora/cora.npz");
  EXPECT_EQ(cora.at("adj_indptr").size(0), 2708 + 1);
  EXPECT_EQ(cora.at("attr_indices").size(0), 49216);
  EXPECT_EQ(cora.at("attr_shape")[1].item<int64_t>(), 1433);
  EXPECT_EQ(cora.at("labels").size(0), 2708);
  EXPECT_EQ(cora.unread.at("class_names"), "<U22");
  const Npz photo = read_npz(*root + "/amazon-photo/amazon_electronics_photo.npz");
  EXPECT_EQ(photo.at("adj_indptr").size(0), 7650 + 1);
  EXPECT_EQ(photo.at("attr_indices").size(0), 1979909);
  EXPECT_EQ(photo.at("attr_shape")[1].item<int64_t>(), 745);
}

}  // namespace
}  // namespace grm::io
