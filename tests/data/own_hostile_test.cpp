// Small files that ask for much: memory stays within a few times the file, and time within reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/clock.h"
#include "io/npz_archive.h"
#include "own_files.h"

namespace grm {
namespace {

using test::Arrays;
using test::data_error;
using test::Files;
using test::int_array;
using test::npy;
using test::TempFolder;
using test::write_files;
using ::testing::HasSubstr;

Arrays sparse_arrays(int64_t width) {
  Arrays arrays = test::node_arrays();
  arrays.list.erase("x");
  arrays.list["x_indptr"] = int_array("(5,)", {0, 1, 2, 3, 4});
  arrays.list["x_indices"] = int_array("(4,)", {0, 1, 2, 12});
  arrays.list["x_width"] = int_array("(1,)", {width});
  return arrays;
}

TEST(Trust15Npz, AWidthThatNobodyUsesIsNotPaidFor) {
  const double before = peak_memory_mib();
  for (const int64_t width : {int64_t{INT32_MAX}, int64_t{1} << 26}) {
    const TempFolder folder;
    const std::string message = data_error(
        [&] { load_own(write_files(folder, test::array_folder(sparse_arrays(width)))); });
    EXPECT_THAT(message, HasSubstr(fmt::format("x_width is {}, but the largest column in use is 12",
                                               width)));
    EXPECT_THAT(message, HasSubstr("save the number of columns"));
  }
  EXPECT_LT(peak_memory_mib() - before, 64.0);
  const TempFolder folder;
  Files files = test::array_folder();
  for (const char* name : {"a.npz", "b.npz", "c.npz"}) files[name] = sparse_arrays(100000).npz();
  EXPECT_EQ(load_own(write_files(folder, files)).features(), 100000);
}

// An array whose numbers are damaged is an error for whoever needs it and nothing for others: it is
// not unpacked at all.
TEST(Trust15Npz, WhatNobodyNeedsIsNotUnpacked) {
  const auto damaged = [](const std::string& name) {
    Arrays arrays = test::node_arrays();
    const std::string marker = "THESE ARE THE NUMBERS OF AN ARRAY";
    arrays.list[name] = npy("|i1", fmt::format("({},)", marker.size()), marker);
    std::string bytes = arrays.npz();
    bytes[bytes.find(marker) + 3] ^= 1;  // the checksum does not fit any more
    return bytes;
  };
  const TempFolder folder;
  Files files = test::array_folder();
  files["a.npz"] = damaged("junk");
  const std::string path = write_files(folder, files);
  EXPECT_NO_THROW(load_own(path));
  const io::NpzArchive archive(path + "/a.npz");
  EXPECT_THAT(data_error([&] { archive.read("junk"); }), HasSubstr("array 'junk': is damaged"));
  EXPECT_EQ(archive.about("junk").shape, (std::vector<int64_t>{33}));
}

// Ones, packed a thousandfold: 400 MB of numbers in 400 kB.
TEST(Trust15Npz, NumbersOutOfProportionAreRefused) {
  constexpr int64_t kRows = 100000, kColumns = 1000;
  const TempFolder folder;
  folder.write("dataset.toml", test::description());
  {
    const std::string x = npy("<f4", fmt::format("({}, {})", kRows, kColumns),
                              test::bytes_of(std::vector<float>(kRows * kColumns, 1.0F)));
    const std::string npz = test::zip({{"x.npy", x}}, true);
    ASSERT_LT(npz.size(), size_t{1} << 20);
    for (const char* name : {"a.npz", "b.npz", "c.npz"}) folder.write(name, npz);
  }
  const std::string message = data_error([&] { load_own(folder.path()); });
  EXPECT_THAT(message, HasSubstr("array 'x' would take 381 MiB of memory"));
  EXPECT_THAT(message, HasSubstr("numpy.savez, which does not pack"));
}

std::string header_of(int64_t columns) {
  std::string nodes = "id,label";
  for (int64_t k = 0; k < columns; ++k) nodes += fmt::format(",c{}", k);
  return nodes + "\n";
}

TEST(Trust15Csv, NineHundredThousandColumnsAreRefusedAtOnce) {
  const TempFolder folder;
  Files files = test::table_folder();
  files["a/nodes.csv"] = header_of(900000);
  const Stopwatch watch;
  const std::string message = data_error([&] { load_own(write_files(folder, files)); });
  EXPECT_THAT(message, HasSubstr("a/nodes.csv:1: 900002 columns; at most 100000 are read"));
  EXPECT_THAT(message, HasSubstr("sparse arrays in an .npz file"));
  EXPECT_LT(watch.seconds(), 20.0);
}

// Looking each name up among all others took minutes.
TEST(Trust15Csv, AWideTableIsReadInLinearTime) {
  constexpr int64_t kColumns = 60000;
  const TempFolder folder;
  Files files = test::table_folder();
  std::string nodes = header_of(kColumns);
  for (int64_t i = 0; i < 4; ++i) {
    nodes += fmt::format("n{},{}", i + 1, i % 2);
    for (int64_t k = 0; k < kColumns; ++k) nodes += k % 1000 == i ? ",1" : ",0";
    nodes += "\n";
  }
  for (const char* domain : {"a", "b", "c"}) files[std::string(domain) + "/nodes.csv"] = nodes;
  const Stopwatch watch;
  const Task task = load_own(write_files(folder, files));
  EXPECT_LT(watch.seconds(), 30.0);
  EXPECT_EQ(task.features(), kColumns);
}

}  // namespace
}  // namespace grm
