// Tables of text on stdout, as wide as they like or cut to the width of a terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli.h"
#include "grm/core/text.h"
#include "terminal.h"

namespace grm::cli {
namespace {

constexpr size_t kGap = 2;
// A column that is wider, and has spaces, holds sentences: it is wrapped rather than set aside.
constexpr size_t kSentence = 24;

using Rows = std::vector<std::vector<std::string>>;

struct Column {
  size_t index = 0, width = 0;
  bool sentences = false;
};

std::vector<Column> measure(const Rows& rows) {
  std::vector<Column> columns;
  for (const auto& row : rows) {
    while (columns.size() < row.size()) columns.push_back({columns.size()});
    for (size_t c = 0; c < row.size(); ++c) {
      const size_t width = shown_width(row[c]);
      columns[c].width = std::max(columns[c].width, width);
      if (width > kSentence && row[c].find(' ') != std::string::npos) columns[c].sentences = true;
    }
  }
  return columns;
}

size_t width_of(const std::vector<Column>& block) {
  size_t total = 0;
  for (const Column& column : block) total += column.width + (total > 0 ? kGap : 0);
  return total;
}

// Cuts the columns into blocks that fit; each begins with the first column.
std::vector<std::vector<Column>> cut(std::vector<Column> columns, size_t width) {
  if (width == 0 || width_of(columns) <= width) return {columns};
  Column first = columns.front();
  size_t widest = 0;  // of the other columns, without sentences
  for (size_t c = 1; c < columns.size(); ++c) {
    if (!columns[c].sentences) widest = std::max(widest, columns[c].width);
  }
  const size_t part = columns.size() == 2 && !columns[1].sentences
                          ? width - std::min(width - 10, widest + kGap)
                          : std::max<size_t>(10, width * 2 / 5);
  first.width = std::min(first.width, columns.size() == 1 ? width : part);
  std::vector<std::vector<Column>> blocks = {{first}};
  for (size_t c = 1; c < columns.size(); ++c) {
    Column column = columns[c];
    size_t used = width_of(blocks.back()) + kGap;
    const size_t least = column.sentences ? kSentence : column.width;
    if (blocks.back().size() > 1 && used + least > width) {
      blocks.push_back({first});
      used = first.width + kGap;
    }
    column.width = std::min(column.width, width - std::min(used, width - 1));
    blocks.back().push_back(column);
  }
  return blocks;
}

// One row: as many lines as its longest cell has.
std::string row_text(const std::vector<std::string>& row, const std::vector<Column>& block,
                     bool terminal, const std::function<bool(size_t)>& bold) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 1;
  for (const Column& column : block) {
    const std::string text = column.index < row.size() ? row[column.index] : "";
    cells.push_back(wrapped(text, column.width));
    height = std::max(height, cells.back().size());
  }
  std::string line;
  for (size_t k = 0; k < height; ++k) {
    size_t space = 0;  // to be written before the next text, so that no line ends with it
    for (size_t c = 0; c < block.size(); ++c) {
      const std::string text = k < cells[c].size() ? cells[c][k] : "";
      const size_t room = block[c].width - std::min(block[c].width, shown_width(text));
      const bool left = c == 0 || (terminal && block[c].sentences);
      if (c > 0) space += kGap;
      if (!left) space += room;
      if (!text.empty()) {
        line += std::string(space, ' ') +
                (bold(block[c].index) ? ink(STDOUT_FILENO, Ink::bold, text) : text);
        space = 0;
      }
      if (left) space += room;
    }
    line += '\n';
  }
  return line;
}

// Names come from users' files: what would move the cursor or end the line is written out.
std::string cell_text(const std::string& text) {
  std::string out;
  for (const char c : terminal_text(text)) out += c == '\n' ? "\\n" : std::string(1, c);
  return out;
}

}  // namespace

std::string table_text(const Rows& rows, size_t width,
                       const std::set<std::pair<size_t, size_t>>& best) {
  const std::vector<Column> columns = measure(rows);
  const auto blocks = cut(columns, width);
  std::string text;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (b > 0) text += '\n';
    for (size_t r = 0; r < rows.size(); ++r) {
      text += row_text(rows[r], blocks[b], width > 0, [&](size_t c) {
        return best.count({r, c}) > 0;
      });
      if (r == 0) text += std::string(width_of(blocks[b]), '-') + '\n';
    }
  }
  return text;
}

void print_table(const Rows& rows, const std::set<std::pair<size_t, size_t>>& best) {
  Rows shown = rows;
  for (auto& row : shown) {
    for (std::string& cell : row) cell = cell_text(cell);
  }
  fmt::print("{}", table_text(shown, line_width(STDOUT_FILENO), best));
}

}  // namespace grm::cli
