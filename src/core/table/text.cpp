#include <algorithm>

#include "core/table.h"
#include "core/text.h"

namespace grm {
namespace {

constexpr size_t kGap = 2;
// A column that is wider, and has spaces, holds sentences: it is wrapped rather than set aside.
constexpr size_t kSentence = 24;

struct Column {
  size_t index = 0, width = 0;
  bool left = false, sentences = false;
};
using Columns = std::vector<Column>;  // of one of the tables that a wide one is cut into

// Names come from users' files: what would move the cursor or end the line is written out.
std::string safe(const std::string& text) {
  return replaced(terminal_text(text), {{"\n", "\\n"}});
}

std::string spaces(size_t count) {
  return std::string(count, ' ');
}

size_t width_of(const Columns& columns) {
  size_t total = 0;
  for (const Column& column : columns) total += column.width + (total > 0 ? kGap : 0);
  return total;
}

// The head is a row, too.
std::vector<Table::Row> shown_rows(const Table& table) {
  std::vector<Table::Row> rows(1);
  for (const std::string& name : table.head) rows[0].emplace_back(safe(name));
  for (const Table::Row& row : table.rows) {
    rows.emplace_back();
    for (const Table::Entry& e : row) {
      const std::string mark = e.mark > 0 ? "▲" : e.mark < 0 ? "▼" : "";
      rows.back().emplace_back((e.best && table.stars ? "*" : "") + safe(e.text) + mark, e.best);
    }
  }
  return rows;
}

Columns measured(const std::vector<Table::Row>& rows) {
  Columns columns;
  for (const Table::Row& row : rows) {
    while (columns.size() < row.size()) columns.push_back({columns.size()});
    for (size_t c = 0; c < row.size(); ++c) {
      const size_t width = shown_width(row[c].text);
      columns[c].width = std::max(columns[c].width, width);
      if (width > kSentence && row[c].text.find(' ') != std::string::npos) {
        columns[c].sentences = true;
      }
    }
  }
  return columns;
}

// Cuts the columns into parts that fit; each begins with the first column.
std::vector<Columns> cut(const Columns& columns, size_t width) {
  if (width == 0 || width_of(columns) <= width) return {columns};
  Column first = columns.front();
  size_t widest = 0;  // of the other columns, without sentences
  for (size_t c = 1; c < columns.size(); ++c) {
    if (!columns[c].sentences) widest = std::max(widest, columns[c].width);
  }
  const size_t share = columns.size() == 2 && !columns[1].sentences
                           ? width - std::min(width - 10, widest + kGap)
                           : std::max<size_t>(10, width * 2 / 5);
  first.width = std::min(first.width, columns.size() == 1 ? width : share);
  std::vector<Columns> parts = {{first}};
  for (size_t c = 1; c < columns.size(); ++c) {
    Column column = columns[c];
    size_t used = width_of(parts.back()) + kGap;
    const size_t least = column.sentences ? kSentence : column.width;
    if (parts.back().size() > 1 && used + least > width) {
      parts.push_back({first});
      used = first.width + kGap;
    }
    column.width = std::min(column.width, width - std::min(used, width - 1));
    parts.back().push_back(column);
  }
  return parts;
}

// One row: as many lines as its longest cell has.
std::string row_text(const Table::Row& row, const Columns& columns, bool bold) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 1;
  for (const Column& column : columns) {
    cells.push_back(wrapped(column.index < row.size() ? row[column.index].text : "", column.width));
    height = std::max(height, cells.back().size());
  }
  std::string line;
  for (size_t k = 0; k < height; ++k) {
    size_t space = 0;  // to be written before the next text, so that no line ends with it
    for (size_t c = 0; c < columns.size(); ++c) {
      const std::string text = k < cells[c].size() ? cells[c][k] : "";
      const size_t room = columns[c].width - std::min(columns[c].width, shown_width(text));
      space += (c > 0 ? kGap : 0) + (columns[c].left ? 0 : room);
      if (!text.empty()) {
        const bool inked = bold && row[columns[c].index].best;
        line += spaces(space) + (inked ? "\033[1m" + text + "\033[0m" : text);
        space = 0;
      }
      if (columns[c].left) space += room;
    }
    line += '\n';
  }
  return line;
}

std::string body_text(const std::vector<Table::Row>& rows, const Columns& columns, bool bold) {
  std::string text = row_text(rows[0], columns, false);
  text += std::string(width_of(columns), '-') + "\n";
  for (size_t r = 1; r < rows.size(); ++r) text += row_text(rows[r], columns, bold);
  return text;
}

// With titles over the groups, cut between them; "" if a group is wider than the lines.
std::string grouped_text(const Table& table, size_t width, bool bold) {
  const size_t page = width == 0 ? kPageWidth : width;
  const std::vector<Table::Row> rows = shown_rows(table);
  const std::vector<size_t> starts = table.group_starts();
  Columns columns = measured(rows);
  for (size_t c = 0; c < starts[0]; ++c) columns[c].left = true;
  const auto range = [&](size_t begin, size_t end) {
    return Columns(columns.begin() + static_cast<std::ptrdiff_t>(begin),
                   columns.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const Columns labels = range(0, starts[0]);
  std::vector<Columns> groups;
  for (size_t g = 0; g < table.groups.size(); ++g) {
    groups.push_back(range(starts[g], starts[g + 1]));
    const size_t title = shown_width(safe(table.groups[g].title)), have = width_of(groups[g]);
    if (title > have) groups[g].back().width += title - have;  // it needs room over its columns
  }
  std::string out;
  for (size_t first = 0, last = 0; first < groups.size() || first == 0; first = last) {
    Columns part = labels;
    std::string titles = spaces(width_of(labels));
    for (; last < groups.size(); ++last) {
      if (last > first && width_of(part) + kGap + width_of(groups[last]) > page) break;
      part.insert(part.end(), groups[last].begin(), groups[last].end());
      const std::string title = safe(table.groups[last].title);
      const std::string room = spaces(width_of(groups[last]) - shown_width(title));
      titles += spaces(kGap) + (table.groups[last].columns > 1 ? title + room : room + title);
    }
    if (width > 0 && width_of(part) > width) return "";
    titles.erase(titles.find_last_not_of(' ') + 1);
    if (first > 0) out += "\n";
    if (table.has_group_titles()) out += titles + "\n";
    out += body_text(rows, part, bold);
    if (groups.empty()) break;
  }
  return out;
}

// One line of head for all: titles of groups stand before the names of their columns, and all
// labels become one column.
std::string plain_text(const Table& table, size_t width, bool bold) {
  std::vector<Table::Row> rows = shown_rows(table);
  const size_t labels = static_cast<size_t>(table.label_columns);
  size_t column = labels;
  for (const Table::Group& group : table.groups) {
    for (int k = 0; k < group.columns; ++k, ++column) {
      std::string& name = rows[0][column].text;
      if (!group.title.empty()) name = safe(group.title) + " " + name;
    }
  }
  for (Table::Row& row : rows) {
    for (size_t c = 1; c < labels && row.size() > 1; ++c) {
      if (!row[1].text.empty()) row[0].text += (row[0].text.empty() ? "" : ", ") + row[1].text;
      row.erase(row.begin() + 1);
    }
  }
  Columns columns = measured(rows);
  for (Column& c : columns) c.left = c.index == 0 || (width > 0 && c.sentences);
  std::string text;
  for (const Columns& part : cut(columns, width)) {
    text += (text.empty() ? "" : "\n") + body_text(rows, part, bold);
  }
  return text;
}

// On lines of its own, none longer than `width`.
std::string paragraph(const std::string& text, size_t width) {
  return joined(wrapped(terminal_text(text), width), "\n") + "\n";
}

}  // namespace

std::string text_table(const Table& table, size_t width, bool bold) {
  std::string out = table.title.empty() ? "" : paragraph(table.title, width), body;
  const bool all_labels = table.head.size() == static_cast<size_t>(table.label_columns);
  if (!table.groups.empty() || all_labels) body = grouped_text(table, width, bold);
  out += body.empty() ? plain_text(table, width, bold) : body;
  for (const std::string& note : table.notes) out += paragraph(note, width);
  return out;
}

}  // namespace grm
