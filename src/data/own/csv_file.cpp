#include "data/own/csv_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>

#include "grm/core/options.h"

namespace grm::own {
namespace {

constexpr char kSaveAsUtf8[] = "save the file as UTF-8";
constexpr size_t kMostColumns = 100000;  // each costs some hundred bytes, here and in a model
struct Enough {};

// Names of items, categories and classes end up in JSON and HTML, which are UTF-8.
bool is_utf8(std::string_view text) {
  size_t follow = 0;
  unsigned char least = 0x80, most = 0xBF;  // of the next byte that follows
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (follow > 0) {
      if (byte < least || byte > most) return false;
      least = 0x80;
      most = 0xBF;
      --follow;
    } else if (byte >= 0x80) {
      if (byte < 0xC2 || byte > 0xF4) return false;
      follow = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
      if (byte == 0xE0) least = 0xA0;  // overlong
      if (byte == 0xED) most = 0x9F;   // surrogates
      if (byte == 0xF0) least = 0x90;
      if (byte == 0xF4) most = 0x8F;
    }
  }
  return follow == 0;
}

bool same_letters(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

// The first column that is not, or -1.
int64_t not_utf8(const io::CsvRow& row) {
  for (size_t k = 0; k < row.columns.size(); ++k) {
    if (!is_utf8(row.columns[k])) return static_cast<int64_t>(k);
  }
  return -1;
}

}  // namespace

std::string_view trimmed(std::string_view cell) {
  const size_t begin = cell.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return cell.substr(begin, cell.find_last_not_of(" \t") - begin + 1);
}

bool is_missing(std::string_view cell) {
  return cell.empty() || same_letters(cell, "na") || same_letters(cell, "nan") ||
         same_letters(cell, "null");
}

Number read_number(std::string_view text, double& value) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || code == std::errc::invalid_argument) return Number::wrong;
  // from_chars calls numbers that round to zero out of range, too; they are rare enough to refuse.
  if (code != std::errc() || !(std::abs(value) <= FLT_MAX)) return Number::too_large;
  return Number::ok;
}

CsvFile::CsvFile(std::string path, char separator, Problems& problems)
    : path_(std::move(path)), separator_(separator), problems_(problems) {
  try {
    io::read_csv(
        path_,
        [&](const io::CsvRow& row) {
          for (const std::string_view cell : row.columns) header_.emplace_back(trimmed(cell));
          throw Enough{};
        },
        separator_);
  } catch (const Enough&) {
  } catch (const Error& error) {
    problems_.stop(path_, error);
  }
  if (header_.empty()) {
    problems_.stop({path_, 1, 0, "the file is empty", "its first line names the columns"});
  }
  if (header_.size() > kMostColumns) {
    problems_.stop({path_, 1, 0,
                    fmt::format("{} columns; at most {} are read", header_.size(), kMostColumns),
                    "save wide features as sparse arrays in an .npz file: see 'grm data init'"});
  }
  const int64_t before = problems_.count();
  for (size_t k = 0; k < header_.size(); ++k) {
    const auto at = static_cast<int64_t>(k);
    if (!is_utf8(header_[k])) {
      problems_.stop({path_, 1, at + 1, "the text is not UTF-8", kSaveAsUtf8});
    } else if (header_[k].empty()) {
      problems_.add({path_, 1, at + 1, "this column has no name", "name it in the first line"});
    } else if (names_.add(header_[k]) < at) {
      problems_.add({path_, 1, at + 1, fmt::format("a second column '{}'", shown(header_[k])),
                     "give it another name, or remove it"});
    }
  }
  problems_.stop_if_more_than(before);
}

int64_t CsvFile::find(const std::string& name) const {
  return names_.find(name);
}

int64_t CsvFile::need(const std::string& name, const std::string& key) const {
  const int64_t at = find(name);
  if (at >= 0) return at;
  std::string fix = fmt::format("add it, or write {} = \"...\" with the column's name", key);
  if (header_.size() == 1) {
    for (const char other : {';', '\t', '|', ',', ' '}) {
      if (other == separator_ || header_[0].find(other) == std::string::npos) continue;
      fix = fmt::format("write [csv] separator = \"{}\"",
                        other == '\t' ? "tab" : std::string(1, other));
      break;
    }
  }
  problems_.add(
      {path_, 1, 0,
       fmt::format("there is no column '{}'{}; there are: {}", name, did_you_mean(name, header_),
                   shown(fmt::format("{}", fmt::join(header_, ", ")))),
       fix});
  return -1;
}

int64_t CsvFile::each_row(const std::function<void(const io::CsvRow&)>& row) const {
  bool first = true;
  int64_t skipped = 0;
  const auto width = static_cast<int64_t>(header_.size());
  try {
    io::read_csv(
        path_,
        [&](const io::CsvRow& record) {
          if (first) {
            first = false;
          } else if (record.size() != width) {
            ++skipped;
            const bool empty = record.size() == 1 && record.columns[0].empty();
            problems_.add(
                {path_, record.line, 0,
                 empty ? "the line is empty"
                       : fmt::format("{} columns, but the header has {}", record.size(), width),
                 empty ? "remove it"
                       : "put a cell that holds the separator into \"quotes\", leave "
                         "a missing one empty"});
          } else if (const int64_t bad = not_utf8(record); bad >= 0) {
            ++skipped;
            problems_.add({path_, record.line, bad + 1, "the text is not UTF-8", kSaveAsUtf8});
          } else {
            row(record);
          }
        },
        separator_);
  } catch (const FirstProblem&) {
    throw;
  } catch (const Error& error) {
    problems_.stop(path_, error, "close the quote, or save the file again");
  }
  return skipped;
}

}  // namespace grm::own
