#include "io/csv.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "grm/core/error.h"
#include "io/gz_file.h"

namespace grm::io {
namespace {

// A record longer than this is a broken file (most likely an open quote), not data.
constexpr size_t kLongestRecord = size_t{16} << 20;
// Every column costs a view, so a line of separators would take many times its own size.
constexpr size_t kMostColumns = size_t{1} << 20;
constexpr size_t kChunk = size_t{1} << 16;
// What a packed file may unpack to: this much, and so many times its own size. Tables of zeros pack
// that well; beyond it are a few rows repeated for ever.
constexpr int64_t kAnyUnpacked = int64_t{64} << 20;
constexpr int64_t kMostUnpacked = 200;

// Physical lines of a plain or gzipped file.
class LineReader {
 public:
  explicit LineReader(const std::string& path) : path_(path), file_(open_gz(path)) {
    gzbuffer(file_.get(), 1 << 17);
  }

  // The next line without its end, valid until the next call; false at the end of the file.
  bool next(std::string_view& line) {
    size_t searched = begin_;
    while (true) {
      const char* start = buffer_.data() + searched;
      const void* found = std::memchr(start, '\n', end_ - searched);
      if (found != nullptr) {
        const auto stop = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
        line = take(stop, stop + 1);
        return true;
      }
      searched = end_;
      if (!fill(searched)) break;
    }
    if (begin_ == end_) return false;
    line = take(end_, end_);
    return true;
  }

  int64_t line() const { return line_; }  // number of the line handed out last

 private:
  std::string_view take(size_t stop, size_t next_begin) {
    std::string_view text(buffer_.data() + begin_, stop - begin_);
    begin_ = next_begin;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (++line_ == 1 && text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
    return text;
  }

  // Appends bytes to the buffer, whose unread part moves to the front; `searched` moves with it.
  bool fill(size_t& searched) {
    if (finished_) return false;
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      searched -= begin_;
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ > kLongestRecord) {
      fail(ErrorKind::data, "{}:{}: a line of more than {} bytes", path_, line_ + 1,
           kLongestRecord);
    }
    if (buffer_.size() < end_ + kChunk) buffer_.resize(std::max(2 * buffer_.size(), end_ + kChunk));
    const int got = gzread(file_.get(), buffer_.data() + end_, static_cast<unsigned>(kChunk));
    if (got < static_cast<int>(kChunk)) check_end();
    finished_ = got <= 0;
    unpacked_ += std::max(got, 0);
    if (unpacked_ > kAnyUnpacked && unpacked_ / kMostUnpacked > gzoffset(file_.get())) {
      fail(ErrorKind::data,
           "{}:{}: unpacks to more than {} times its size; if that is right, unpack it with gunzip",
           path_, line_, kMostUnpacked);
    }
    if (!finished_) end_ += static_cast<size_t>(got);
    return !finished_;
  }

  // A gzip stream that stops early is only visible as an error code beside the short read.
  void check_end() const {
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code == Z_OK || code == Z_STREAM_END) return;
    fail(code == Z_ERRNO ? ErrorKind::io : ErrorKind::data, "{}: reading failed after line {}: {}",
         path_, line_, code == Z_BUF_ERROR ? "the gzip stream is truncated" : text);
  }

  const std::string& path_;
  GzFile file_;
  std::vector<char> buffer_ = std::vector<char>(kChunk);
  size_t begin_ = 0;
  size_t end_ = 0;
  int64_t line_ = 0;
  int64_t unpacked_ = 0;  // bytes
  bool finished_ = false;
};

[[noreturn]] void too_many_columns(const std::string& path, int64_t line) {
  fail(ErrorKind::data, "{}:{}: more than {} columns", path, line, kMostColumns);
}

// False if there are more columns than anyone has.
bool split(std::string_view line, char separator, std::vector<std::string_view>& columns) {
  columns.clear();
  while (true) {
    const size_t stop = line.find(separator);
    columns.push_back(line.substr(0, stop));
    if (stop == std::string_view::npos) return true;
    if (columns.size() == kMostColumns) return false;
    line.remove_prefix(stop + 1);
  }
}

// Records that hold quotes: columns are copied without their quotes into one text.
class QuotedRecord {
 public:
  QuotedRecord(const std::string& path, char separator) : path_(path), separator_(separator) {}

  // `line` is the record's first line; further ones are taken from `lines` while a quote is open.
  void parse(std::string_view line, LineReader& lines, std::vector<std::string_view>& columns) {
    first_line_ = lines.line();
    text_.clear();
    ends_.clear();
    size_t at = 0;
    while (true) {
      if (at < line.size() && line[at] == '"') {
        ++at;
        quoted(line, at, lines);
      } else {
        const size_t stop = std::min(line.find(separator_, at), line.size());
        const std::string_view plain = line.substr(at, stop - at);
        if (plain.find('"') != std::string_view::npos) broken("a quote inside an unquoted column");
        text_ += plain;
        at = stop;
      }
      if (ends_.size() == kMostColumns) too_many_columns(path_, first_line_);
      ends_.push_back(text_.size());
      if (at == line.size()) break;
      if (line[at] != separator_) broken("text after a closing quote");
      ++at;
    }
    columns.clear();
    size_t begin = 0;
    for (const size_t end : ends_) {
      columns.push_back(std::string_view(text_).substr(begin, end - begin));
      begin = end;
    }
  }

 private:
  // Copies up to the closing quote and leaves `at` behind it.
  void quoted(std::string_view& line, size_t& at, LineReader& lines) {
    while (true) {
      const size_t quote = line.find('"', at);
      if (quote == std::string_view::npos) {
        text_ += line.substr(at);
        text_ += '\n';
        at = 0;
        if (text_.size() > kLongestRecord || !lines.next(line)) broken("a quote is not closed");
        continue;
      }
      text_ += line.substr(at, quote - at);
      at = quote + 1;
      if (at == line.size() || line[at] != '"') return;
      text_ += '"';
      ++at;
    }
  }

  [[noreturn]] void broken(const char* what) const {
    fail(ErrorKind::data, "{}:{}: {}", path_, first_line_, what);
  }

  const std::string& path_;
  char separator_;
  int64_t first_line_ = 0;
  std::string text_;
  std::vector<size_t> ends_;
};

template <class T>
T parse(const CsvRow& row, int64_t k, const char* expected) {
  const std::string_view text = row.text(k);
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    fail(ErrorKind::data, "{}:{} column {}: '{}' is not {}", row.path, row.line, k + 1,
         text.substr(0, 60), expected);
  }
  return value;
}

}  // namespace

std::string_view CsvRow::text(int64_t k) const {
  if (k < 0 || k >= size()) {
    fail(ErrorKind::data, "{}:{}: has {} columns, column {} is needed", path, line, size(), k + 1);
  }
  return columns[static_cast<size_t>(k)];
}

int64_t CsvRow::parse_int(int64_t k) const {
  return parse<int64_t>(*this, k, "a whole number");
}

double CsvRow::parse_double(int64_t k) const {
  return parse<double>(*this, k, "a number");
}

void CsvRow::expect_size(int64_t count) const {
  if (size() != count) {
    fail(ErrorKind::data, "{}:{}: has {} columns, expected {}", path, line, size(), count);
  }
}

void CsvRow::expect(std::initializer_list<std::string_view> header) const {
  if (!std::equal(columns.begin(), columns.end(), header.begin(), header.end())) {
    const std::string found = fmt::format("{}", fmt::join(columns, ","));
    fail(ErrorKind::data, "{}:{}: the header is '{}', expected '{}'", path, line,
         found.substr(0, 200), fmt::join(header, ","));
  }
}

void read_csv(const std::string& path, const std::function<void(const CsvRow&)>& row,
              char separator) {
  LineReader lines(path);
  QuotedRecord record(path, separator);
  std::vector<std::string_view> columns;
  int64_t empty_lines = 0;  // held back: at the end of the file they mean nothing
  const std::vector<std::string_view> one_empty_column = {std::string_view()};
  std::string_view line;
  while (lines.next(line)) {
    if (line.empty()) {
      ++empty_lines;
      continue;
    }
    const int64_t first = lines.line();
    for (; empty_lines > 0; --empty_lines) row({path, first - empty_lines, one_empty_column});
    if (line.find('"') == std::string_view::npos) {
      if (!split(line, separator, columns)) too_many_columns(path, first);
    } else {
      record.parse(line, lines, columns);
    }
    row({path, first, columns});
  }
}

}  // namespace grm::io
