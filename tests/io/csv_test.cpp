#include "io/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>

#include "core/files.h"
#include "support/expect_error.h"
#include "support/real_data.h"
#include "support/temp_folder.h"

namespace grm::io {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Row = std::vector<std::string>;

struct Record {
  int64_t line;
  Row columns;
};

std::vector<Record> read(const std::string& path, char separator = ',') {
  std::vector<Record> records;
  read_csv(
      path,
      [&](const CsvRow& row) {
        records.push_back({row.line, Row(row.columns.begin(), row.columns.end())});
      },
      separator);
  return records;
}

std::vector<Record> read_text(const std::string& text, char separator = ',') {
  const test::TempFolder folder;
  return read(folder.write("a.csv", text), separator);
}

std::string gzip(const std::string& text, const test::TempFolder& folder) {
  const std::string path = folder.file("packed.csv.gz");
  gzFile out = gzopen(path.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  return path;
}

// Runs `use` on the only row of a one-line file.
void with_row(const std::string& text, const std::function<void(const CsvRow&)>& use) {
  const test::TempFolder folder;
  read_csv(folder.write("data.csv", text), use);
}

TEST(Csv, SplitsPlainLinesWithAnyLineEnd) {
  for (const char* text : {"a,b,\n1,,3\n", "a,b,\r\n1,,3\r\n", "a,b,\n1,,3"}) {
    const auto records = read_text(text);
    ASSERT_EQ(records.size(), 2u);
    EXPECT_THAT(records[0].columns, ElementsAre("a", "b", ""));
    EXPECT_THAT(records[1].columns, ElementsAre("1", "", "3"));
    EXPECT_EQ(records[1].line, 2);
  }
  EXPECT_TRUE(read_text("").empty());
  EXPECT_THAT(read_text("\xEF\xBB\xBFid\tx\n", '\t')[0].columns, ElementsAre("id", "x"));
}

TEST(Csv, QuotedColumnsHoldSeparatorsQuotesAndLineBreaks) {
  const auto records = read_text("x,\"a,b\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"\",y\nlast,1,2\n");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_THAT(records[0].columns, ElementsAre("x", "a,b", "say \"hi\""));
  EXPECT_THAT(records[1].columns, ElementsAre("two\nlines", "", "y"));
  EXPECT_EQ(records[1].line, 2);
  EXPECT_EQ(records[2].line, 4);
}

TEST(Csv, EmptyLinesCountOnlyBeforeTheEnd) {
  EXPECT_EQ(read_text("1\n2\n\n\r\n\n").size(), 2u);
  const auto records = read_text("1\n\n\n4\n");
  ASSERT_EQ(records.size(), 4u);
  EXPECT_THAT(records[1].columns, ElementsAre(""));
  EXPECT_EQ(records[1].line, 2);
  EXPECT_EQ(records[2].line, 3);
  EXPECT_EQ(records[3].line, 4);
}

TEST(Csv, MalformedQuotesAreErrorsWithTheirLine) {
  for (const char* text : {"ok\na\"b\n", "ok\n\"open\nnever closed\n", "ok\n\"a\"b\n"}) {
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read_text(text); }), HasSubstr("a.csv:2:")) << text;
  }
}

TEST(Csv, LinesLongerThanAnyBufferAndManyOfThemArrive) {
  std::string text;
  std::vector<size_t> sizes;
  for (size_t i = 0; i < 60; ++i) {
    sizes.push_back(i * i * i);
    text += "begin," + std::string(sizes.back(), 'x') + ",end\n";
  }
  const test::TempFolder folder;
  for (const std::string& path : {folder.write("long.csv", text), gzip(text, folder)}) {
    const auto records = read(path);
    ASSERT_EQ(records.size(), sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      ASSERT_EQ(records[i].columns.size(), 3u);
      EXPECT_EQ(records[i].columns[0], "begin");
      EXPECT_EQ(records[i].columns[1].size(), sizes[i]);
      EXPECT_EQ(records[i].columns[2], "end");
    }
  }
}

TEST(Csv, TruncatedGzipIsAnError) {
  const test::TempFolder folder;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919 % 10007) + ",1\n";
  const std::string packed = read_file(gzip(text, folder));
  ASSERT_EQ(read(folder.file("packed.csv.gz")).size(), 5000u);
  for (size_t size = 3; size < packed.size(); size += 97) {
    const std::string path = folder.write("cut.csv.gz", packed.substr(0, size));
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read(path); }), HasSubstr("cut.csv.gz")) << size;
  }
}

TEST(Csv, NumbersParseExactlyOrNameFileLineAndColumn) {
  with_row("-9223372036854775808,0.1,1e-3,nan,7", [](const CsvRow& row) {
    EXPECT_EQ(row.parse_int(0), INT64_MIN);
    EXPECT_EQ(row.parse_double(1), 0.1);
    EXPECT_EQ(row.parse_double(2), 1e-3);
    EXPECT_TRUE(std::isnan(row.parse_double(3)));
    EXPECT_EQ(row.parse_double(4), 7.0);
  });
  with_row("abc,1.5,,9223372036854775808, 1,1 ,1x", [](const CsvRow& row) {
    EXPECT_THAT(error_of(ErrorKind::data, [&] { row.parse_int(0); }),
                HasSubstr("data.csv:1 column 1: 'abc' is not a whole number"));
    for (int64_t k = 1; k < 7; ++k) {
      EXPECT_THAT(error_of(ErrorKind::data, [&] { row.parse_int(k); }),
                  HasSubstr("column " + std::to_string(k + 1)));
    }
    EXPECT_THAT(error_of(ErrorKind::data, [&] { row.parse_double(0); }),
                HasSubstr("data.csv:1 column 1: 'abc' is not a number"));
    EXPECT_THAT(error_of(ErrorKind::data, [&] { row.parse_int(7); }),
                HasSubstr("data.csv:1: has 7 columns, column 8 is needed"));
  });
}

TEST(Csv, HeaderAndWidthAreChecked) {
  with_row("from,to", [](const CsvRow& row) {
    row.expect({"from", "to"});
    row.expect_size(2);
    EXPECT_THAT(error_of(ErrorKind::data,
                         [&] {
                           row.expect({"source", "target"});
                         }),
                HasSubstr("'from,to', expected 'source,target'"));
    error_of(ErrorKind::data, [&] { row.expect({"from"}); });
    error_of(ErrorKind::data, [&] { row.expect_size(3); });
  });
}

TEST(Csv, MissingFileAndFolderAreErrorsOfKindIo) {
  const test::TempFolder folder;
  EXPECT_THAT(error_of(ErrorKind::io, [&] { read(folder.file("none.csv")); }),
              HasSubstr("none.csv"));
  error_of(ErrorKind::io, [&] { read(folder.path()); });
}

TEST(Csv, AnExceptionOfTheCallbackComesThrough) {
  EXPECT_THROW(with_row("1", [](const CsvRow&) { throw std::out_of_range("mine"); }),
               std::out_of_range);
}

// Counts as published with the files (twitch DE; ogbg-molhiv).
TEST(Csv, RealFilesHaveTheirPublishedCounts) {
  const auto root = test::real_data_root();
  if (!root) GTEST_SKIP() << "needs real data: set GRM_DATA";
  int64_t edges = -1;
  read_csv(*root + "/twitch/DE/musae_DE_edges.csv", [&](const CsvRow& row) {
    if (++edges == 0) row.expect({"from", "to"});
  });
  EXPECT_EQ(edges, 153138);
  int64_t atoms = 0;
  read_csv(*root + "/molhiv/raw/node-feat.csv.gz", [&](const CsvRow& row) {
    row.expect_size(9);
    ++atoms;
  });
  EXPECT_EQ(atoms, 1049163);
}

}  // namespace
}  // namespace grm::io
