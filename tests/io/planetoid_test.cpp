#include "io/planetoid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/files.h"
#include "io/npz.h"
#include "support/expect_error.h"
#include "support/npz_writer.h"
#include "support/real_data.h"
#include "support/temp_folder.h"

namespace grm::io {
namespace {

using namespace std::string_literals;
using test::bytes_of;
using test::error_of;
using ::testing::HasSubstr;

// Pickles written opcode by opcode, as Python 2 writes them (see pickletools).
std::string integer(int64_t value) {
  return "J" + bytes_of<int32_t>({static_cast<int32_t>(value)});
}

std::string text(const std::string& value) {
  return "T" + bytes_of<int32_t>({static_cast<int32_t>(value.size())}) + value;
}

std::string array(const std::string& dtype, const std::vector<int64_t>& shape,
                  const std::string& data, const std::string& order = "<", bool fortran = false) {
  std::string sizes = "(";
  for (const int64_t size : shape) sizes += integer(size);
  return "cnumpy.core.multiarray\n_reconstruct\n" + "cnumpy\nndarray\n"s + "K\0\x85"s + "U\1b" +
         "\x87R" + "(K\1" + sizes + "t" + "cnumpy\ndtype\n" + text(dtype) + "K\0K\1\x87R"s +
         "(K\3" + text(order) + "NNN" + integer(-1) + integer(-1) + "K\0tb"s +
         (fortran ? "\x88" : "\x89") + text(data) + "tb";
}

std::string pickle(const std::string& body) {
  return "\x80\x02" + body + ".";
}

std::string csr(const std::vector<int64_t>& shape, const std::vector<int32_t>& indptr,
                const std::vector<int32_t>& indices, const std::vector<float>& data) {
  return "cscipy.sparse.csr\ncsr_matrix\n)\x81}(" + text("_shape") + integer(shape[0]) +
         integer(shape[1]) + "\x86" + text("indptr") +
         array("i4", {static_cast<int64_t>(indptr.size())}, bytes_of(indptr)) + text("indices") +
         array("i4", {static_cast<int64_t>(indices.size())}, bytes_of(indices)) + text("data") +
         array("f4", {static_cast<int64_t>(data.size())}, bytes_of(data)) + "ub";
}

// Four nodes: rows 0 and 1 known; the test rows stand in sorted order, test.index says 3, 2.
void write_tiny(const test::TempFolder& folder) {
  folder.write("ind.tiny.allx", pickle(csr({2, 3}, {0, 1, 3}, {0, 0, 1}, {1, 2, 3})));
  folder.write("ind.tiny.tx", pickle(csr({2, 3}, {0, 2, 3}, {2, 1, 0}, {4, 5, 6})));
  folder.write("ind.tiny.ally", pickle(array("i4", {2, 2}, bytes_of<int32_t>({1, 0, 0, 1}))));
  folder.write("ind.tiny.ty", pickle(array("i4", {2, 2}, bytes_of<int32_t>({0, 1, 0, 0}))));
  folder.write("ind.tiny.test.index", "3\n2\n");
  folder.write("ind.tiny.graph",
               pickle("ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\0](K\1K\1eK\1]q\1K\0a"
                      "K\2](K\2K\3eK\3]u"s));
}

TEST(Planetoid, TestRowsGoToTheNodesThatTheIndexNames) {
  const test::TempFolder folder;
  write_tiny(folder);
  const Planetoid tiny = read_planetoid(folder.path(), "tiny");
  EXPECT_EQ(tiny.features.cols, 3);
  // Node 3 gets the first test row, node 2 the second.
  EXPECT_TRUE(tiny.features.offsets.equal(torch::tensor({0, 1, 3, 4, 6}, torch::kInt64)));
  EXPECT_TRUE(tiny.features.indices.equal(torch::tensor({0, 0, 1, 0, 2, 1}, torch::kInt64)));
  EXPECT_TRUE(tiny.features.values.equal(torch::tensor({1.f, 2.f, 3.f, 6.f, 4.f, 5.f})));
  EXPECT_TRUE(tiny.labels.equal(torch::tensor({0, 1, -1, 1}, torch::kInt64)));
}

TEST(Planetoid, GraphPairsKeepDuplicatesSelfLoopsAndOrder) {
  const test::TempFolder folder;
  write_tiny(folder);
  const Planetoid tiny = read_planetoid(folder.path(), "tiny");
  EXPECT_TRUE(tiny.source.equal(torch::tensor({0, 0, 1, 2, 2}, torch::kInt64)));
  EXPECT_TRUE(tiny.target.equal(torch::tensor({1, 1, 0, 2, 3}, torch::kInt64)));
}

TEST(Planetoid, MembersThatDoNotFitAreErrors) {
  const auto refused = [](const char* file, const std::string& content, const char* expected) {
    const test::TempFolder folder;
    write_tiny(folder);
    folder.write(file, content);
    const std::string message =
        error_of(ErrorKind::data, [&] { read_planetoid(folder.path(), "tiny"); });
    EXPECT_THAT(message, HasSubstr(file));
    EXPECT_THAT(message, HasSubstr(expected));
  };
  refused("ind.tiny.test.index", "3\n3\n", "2 to 3");
  refused("ind.tiny.test.index", "3\n4\n", "2 to 3");
  refused("ind.tiny.test.index", "3\n", "2 to 3");
  refused("ind.tiny.test.index", "3\nx\n", ":2 column 1");
  refused("ind.tiny.tx", pickle(csr({2, 4}, {0, 2, 3}, {2, 1, 0}, {4, 5, 6})), "4 columns");
  refused("ind.tiny.tx", pickle(csr({2, 3}, {0, 2}, {2, 1}, {4, 5})), "indptr");
  refused("ind.tiny.tx", pickle(csr({2, 3}, {0, 3, 2}, {2, 1}, {4, 5})), "indptr");
  refused("ind.tiny.tx", pickle(csr({2, 3}, {0, 2, 3}, {2, 3, 0}, {4, 5, 6})), "column");
  refused("ind.tiny.tx", pickle(csr({2, 3}, {0, 2, 3}, {2, 1, 0}, {4, 5})), "differ");
  refused("ind.tiny.tx", pickle("]"), "csr_matrix");
  refused("ind.tiny.ty", pickle(array("i4", {2, 2}, bytes_of<int32_t>({1, 1, 0, 0}))), "row 0");
  refused("ind.tiny.ty", pickle(array("i4", {1, 2}, bytes_of<int32_t>({1, 0}))), "2 rows");
  refused("ind.tiny.ty", pickle(array("i4", {2, 3}, bytes_of<int32_t>({1, 0}))), "fill");
  refused("ind.tiny.ty", pickle(array("O8", {2}, "")), "dtype");
  refused("ind.tiny.ty", pickle(array("i4", {1}, "abcd", ">")), "little-endian");
  refused("ind.tiny.graph", pickle("}(K\0](K\4eu"s), "0 -> 4");
  refused("ind.tiny.graph", pickle("}(K\0K\1u"s), "number -> list");
  refused("ind.tiny.graph", pickle("}(K\0](Neu"s), "whole number");
}

TEST(Planetoid, FortranOrderedArraysAreReadByColumns) {
  const test::TempFolder folder;
  const std::string path = folder.write(
      "a", pickle(array("i4", {2, 3}, bytes_of<int32_t>({1, 4, 2, 5, 3, 6}), "<", true)));
  EXPECT_TRUE(read_pickled_array(path).equal(
      torch::tensor({1, 2, 3, 4, 5, 6}, torch::kInt64).view({2, 3})));
}

TEST(Pickle, NothingOutsideTheWhitelistIsAccepted) {
  const test::TempFolder folder;
  const auto refused = [&](const std::string& bytes) {
    const std::string path = folder.write("evil", bytes);
    const std::string message = error_of(ErrorKind::data, [&] { read_pickled_array(path); });
    EXPECT_THAT(message, HasSubstr("evil"));
    return message;
  };
  // The classic: os.system("...") through REDUCE.
  EXPECT_THAT(refused(pickle("cposix\nsystem\nU\4true\x85R")),
              HasSubstr("byte 2: opcode 0x63 'c': 'posix.system' is not a class"));
  EXPECT_THAT(refused(pickle("c__builtin__\neval\nU\1x\x85R")), HasSubstr("__builtin__.eval"));
  // Known classes may not be called in unknown ways.
  EXPECT_THAT(refused(pickle("c__builtin__\nlist\n)R")), HasSubstr("opcode 0x52 'R'"));
  EXPECT_THAT(refused(pickle("cnumpy\nndarray\n)\x81")), HasSubstr("opcode 0x81"));
  for (const std::string& body :
       {"i__builtin__\nlist\n"s, "o"s, "V\n"s, "I1\n"s, "L1L\n"s, "F1\n"s, "G12345678"s, "P1\n"s,
        "Q"s, "0"s, "1"s, "2"s, "\x82\1"s, "\x94"s, "\x95"s, "\x93"s, "\x96"s, "\x8d"s}) {
    EXPECT_THAT(refused(pickle(body)), HasSubstr("byte 2: opcode")) << body;
  }
  // The same by the opcodes of Python 3.
  EXPECT_THAT(refused(pickle("\x8c\5posix\x94\x8c\6system\x94\x93\x8c\4true\x85R")),
              HasSubstr("opcode 0x93: 'posix.system' is not a class"));
  EXPECT_THAT(refused(pickle("K\1\x8c\4list\x93")), HasSubstr("the name is not a text"));
  for (const std::string& size : {"\xff\xff\xff\xff\xff\xff\xff\xff"s,
                                  "\xff\xff\xff\xff\xff\xff\xff\x7f"s, "\xff\0\0\0\0\0\0\0"s}) {
    EXPECT_THAT(refused(pickle("\x8e" + size + "abc")), HasSubstr("the file ends here"));
  }
  EXPECT_THAT(refused("\x80\x05N."), HasSubstr("only the protocols 2 to 4 are read"));
}

TEST(Pickle, StackMarksAndMemoCannotBeMisused) {
  const test::TempFolder folder;
  for (const std::string& bytes : {""s,
                                   "."s,
                                   "\x80\x02"s,
                                   "\x80\x02."s,
                                   "\x80\x03N."s,
                                   "NN."s,
                                   "(N."s,
                                   "N.N"s,
                                   "t."s,
                                   "e."s,
                                   "]e."s,
                                   "K\1a."s,
                                   "a."s,
                                   "(a."s,
                                   "]("s,
                                   "](a."s,
                                   "}(Nu."s,
                                   "}Nu."s,
                                   "N(NNu."s,
                                   "Na."s,
                                   "Ns."s,
                                   "h\5."s,
                                   "j\5\0\0\0."s,
                                   "q\1."s,
                                   "(q\1N."s,
                                   "r\xff\xff\xff\xff."s,
                                   "R."s,
                                   "NR."s,
                                   "NNR."s,
                                   "N)R."s,
                                   "b."s,
                                   "Nb."s,
                                   "NNb."s,
                                   "\x81."s,
                                   "N)\x81."s,
                                   "\x85."s,
                                   "N\x86."s,
                                   "N(\x85."s,
                                   "U\5ab."s,
                                   "T\xff\xff\xff\xff."s,
                                   "T\4\0\0\0a."s,
                                   "cnumpy"s,
                                   "cnumpy\n"s,
                                   "K"s,
                                   "M\1"s,
                                   "J\1"s,
                                   "\x8a\x09"s,
                                   "\x8a\2\1."s,
                                   "]q\1h\1a."s}) {
    const std::string path = folder.write("bad", bytes);
    error_of(ErrorKind::data, [&] { read_pickled_array(path); });
    error_of(ErrorKind::data, [&] { read_pickled_csr(path); });
  }
}

TEST(Pickle, LongIntegersKeepTheirSign) {
  const test::TempFolder folder;
  // A shape of LONG1 numbers, as Python 2 wrote for "2L"; the four-byte form -1 must not fit.
  const std::string good = array("i1", {}, "ab");
  const size_t shape = good.find("(K\1(t") + 4;
  ASSERT_NE(shape, std::string::npos + 4);
  std::string with_long = good;
  with_long.insert(shape, "\x8a\1\2"s);
  EXPECT_TRUE(read_pickled_array(folder.write("long", pickle(with_long)))
                  .equal(torch::tensor({'a', 'b'}, torch::kInt64)));
  std::string negative = good;
  negative.insert(shape, "\x8a\1\xfe"s);
  const std::string path = folder.write("negative", pickle(negative));
  error_of(ErrorKind::data, [&] { read_pickled_array(path); });
}

TEST(Pickle, TruncationAndFlippedBitsNeverCrash) {
  const test::TempFolder folder;
  const std::string whole = pickle(csr({2, 3}, {0, 2, 3}, {2, 1, 0}, {4, 5, 6}));
  read_pickled_csr(folder.write("whole", whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string path = folder.write("cut", whole.substr(0, size));
    error_of(ErrorKind::data, [&] { read_pickled_csr(path); });
  }
  int errors = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); bit += 5) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const std::string path = folder.write("flip", damaged);
    errors += test::throws_error([&] { read_pickled_csr(path); });
  }
  EXPECT_GT(errors, 0);
}

// Undirected edges without self-loops and duplicates.
std::set<std::pair<int64_t, int64_t>> undirected(const torch::Tensor& source,
                                                 const torch::Tensor& target) {
  std::set<std::pair<int64_t, int64_t>> pairs;
  for (int64_t i = 0; i < source.size(0); ++i) {
    const int64_t u = source.data_ptr<int64_t>()[i], v = target.data_ptr<int64_t>()[i];
    if (u != v) pairs.insert(std::minmax(u, v));
  }
  return pairs;
}

std::vector<int64_t> sorted_degrees(const std::set<std::pair<int64_t, int64_t>>& pairs, int64_t n) {
  std::vector<int64_t> degree(n);
  for (const auto& [u, v] : pairs) ++degree[u], ++degree[v];
  std::sort(degree.begin(), degree.end());
  return degree;
}

// Published counts; cora.npz holds the same graph from another source in another node order, so the
// sorted degrees, row lengths and class sizes must agree.
TEST(Planetoid, RealCoraHasItsPublishedCountsAndAgreesWithTheNpzFile) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  const Planetoid cora = read_planetoid(*root + "/cora", "cora");
  EXPECT_EQ(cora.features.rows(), 2708);
  EXPECT_EQ(cora.features.cols, 1433);
  EXPECT_EQ(cora.features.indices.size(0), 49216);
  EXPECT_TRUE(cora.features.values.eq(1).all().item<bool>());
  const auto edges = undirected(cora.source, cora.target);
  EXPECT_EQ(edges.size(), 5278u);

  const Npz npz = read_npz(*root + "/cora/cora.npz");
  const auto sorted = [](const torch::Tensor& t) { return std::get<0>(t.sort()); };
  const auto row_sizes = [](const torch::Tensor& offsets) {
    return offsets.slice(0, 1).to(torch::kInt64) - offsets.slice(0, 0, -1).to(torch::kInt64);
  };
  EXPECT_TRUE(
      sorted(row_sizes(cora.features.offsets)).equal(sorted(row_sizes(npz.at("attr_indptr")))));
  EXPECT_TRUE(sorted(torch::bincount(cora.labels))
                  .equal(sorted(torch::bincount(npz.at("labels").to(torch::kInt64)))));
  const torch::Tensor rows = torch::arange(2708).repeat_interleave(row_sizes(npz.at("adj_indptr")));
  const auto other = undirected(rows, npz.at("adj_indices").to(torch::kInt64));
  EXPECT_EQ(sorted_degrees(edges, 2708), sorted_degrees(other, 2708));
}

// The order matters: 81 % of Cora's edges join equal classes (H2GCN, Zhu et al., 2020), and
// a wrong permutation of the test rows would lower it.
TEST(Planetoid, RealCoraIsHomophilousInTheAssembledOrder) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  const Planetoid cora = read_planetoid(*root + "/cora", "cora");
  int64_t same = 0;
  const auto edges = undirected(cora.source, cora.target);
  const auto* label = cora.labels.data_ptr<int64_t>();
  for (const auto& [u, v] : edges) same += label[u] == label[v];
  EXPECT_NEAR(static_cast<double>(same) / static_cast<double>(edges.size()), 0.81, 0.005);
}

// x and y are the first 140 rows of allx and ally.
TEST(Planetoid, RealTrainingRowsAreTheFirstKnownRows) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  const std::string stem = *root + "/cora/ind.cora.";
  const CsrMatrix x = read_pickled_csr(stem + "x"), all = read_pickled_csr(stem + "allx");
  EXPECT_EQ(x.rows(), 140);
  EXPECT_TRUE(x.offsets.equal(all.offsets.slice(0, 0, 141)));
  EXPECT_TRUE(x.indices.equal(all.indices.slice(0, 0, x.indices.size(0))));
  EXPECT_TRUE(
      read_pickled_array(stem + "y").equal(read_pickled_array(stem + "ally").slice(0, 0, 140)));
}

}  // namespace
}  // namespace grm::io
