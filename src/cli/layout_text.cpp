// Tables of studies as text that fits a terminal.
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "cli.h"
#include "study_table.h"
#include "terminal.h"

namespace grm::cli {
namespace {

// Each paragraph on lines of its own, none longer than `width`.
std::string paragraphs(const std::vector<std::string>& texts, size_t width) {
  std::string out;
  for (const std::string& text : texts) {
    for (const std::string& line : wrapped(text, width)) out += line + "\n";
  }
  return out;
}

bool fits(const std::string& text, size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (shown_width(line) > width) return false;
  }
  return true;
}

// One head for each column: groups have none of their own here.
std::string plain_table(const study::Layout& layout, size_t width) {
  const size_t labels = static_cast<size_t>(layout.label_columns);
  std::vector<std::vector<std::string>> rows = {layout.head};
  size_t column = labels;
  for (const study::Layout::Group& group : layout.groups) {
    for (int k = 0; k < group.columns; ++k, ++column) {
      if (!group.title.empty()) rows[0][column] = group.title + " " + rows[0][column];
    }
  }
  std::set<std::pair<size_t, size_t>> best;
  for (const auto& row : layout.rows) {
    rows.emplace_back();
    for (const study::Layout::Entry& entry : row) {
      if (entry.best) best.insert({rows.size() - 1, rows.back().size()});
      rows.back().push_back((entry.best ? "*" : "") + entry.text +
                            (entry.mark > 0   ? "▲"
                             : entry.mark < 0 ? "▼"
                                              : ""));
    }
  }
  // Label columns become one: it is what every part of the table begins with.
  for (auto& row : rows) {
    for (size_t c = 1; c < labels && row.size() > 1; ++c) {
      if (!row[1].empty()) row[0] += (row[0].empty() ? "" : ", ") + row[1];
      row.erase(row.begin() + 1);
    }
  }
  std::set<std::pair<size_t, size_t>> shifted;
  for (const auto& [r, c] : best) shifted.insert({r, c >= labels ? c - labels + 1 : 0});
  return table_text(rows, width, shifted);
}

// A star before a value marks the best; in bold it is seen at once.
std::string with_bold(const std::string& table) {
  std::string out;
  for (size_t at = 0; at < table.size();) {
    const bool star = table[at] == '*' && at > 0 && table[at - 1] == ' ' && at + 1 < table.size() &&
                      table[at + 1] != ' ';
    const size_t end =
        star ? std::min({table.find("  ", at), table.find('\n', at), table.size()}) : at + 1;
    const std::string part = table.substr(at, end - at);
    out += star ? ink(STDOUT_FILENO, Ink::bold, part) : part;
    at = end;
  }
  return out;
}

}  // namespace

std::string layout_text(const study::Layout& layout, study::Format format, bool to_file) {
  if (format != study::Format::text || to_file) return study::render(layout, format);
  const size_t width = line_width(STDOUT_FILENO);
  study::Layout table = layout;
  table.title.clear();
  table.notes.clear();
  const std::string title = layout.title.empty() ? "" : paragraphs({layout.title}, width);
  std::string body =
      width == 0 ? study::render(table, format) : study::render(table, format, width);
  if (width > 0 && !fits(body, width)) {
    body = plain_table(table, width);
  } else if (colour_on(STDOUT_FILENO)) {
    body = with_bold(body);
  }
  return title + body + paragraphs(layout.notes, width);
}

}  // namespace grm::cli
