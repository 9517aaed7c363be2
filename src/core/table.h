#pragma once

#include <string>
#include <vector>

namespace grm {

/// A table as data. Texts are plain UTF-8 with "±"; the renderers below escape them.
struct Table {
  struct Entry {
    Entry(std::string what = "", bool is_best = false, int better = 0)
        : text(std::move(what)), best(is_best), mark(better) {}
    Entry(const char* what) : text(what) {}
    std::string text;
    bool best = false;  // bold, and a star in plain text
    int mark = 0;       // 1 better, -1 worse than the reference
  };
  using Row = std::vector<Entry>;
  struct Group {
    std::string title;
    int columns = 1;
  };
  std::string title;
  int label_columns = 1;      // left aligned, repeated when a wide table is cut
  std::vector<Group> groups;  // over the other columns, in order; they cover all of them, or none
  std::vector<std::string> head;
  std::vector<Row> rows;
  std::vector<std::string> notes;  // below the table
  size_t totals = 0;               // so many of the last rows are set apart, in HTML
  bool stars = true;               // in plain text before the best ones

  /// First column of each group, and one past the last.
  std::vector<size_t> group_starts() const;
  bool has_group_titles() const;
};

/// How wide plain text is where nothing limits it: tables with groups are cut between them.
constexpr size_t kPageWidth = 118;

/// Text for a terminal with lines of `width` columns (0: as long as they like). A wider table is
/// cut between its groups, or else between columns, into several below each other, each with the
/// labels; long texts wrap, numbers stay whole. `bold`: the best ones are, by escape sequences.
std::string text_table(const Table& table, size_t width = 0, bool bold = false);
std::string markdown_table(const Table& table);
std::string latex_table(const Table& table);
/// RFC 4180, without title and notes.
std::string csv_table(const Table& table);
/// With its notes; it scrolls inside its own frame where the window is narrower.
std::string html_table(const Table& table);

enum class Format { text, markdown, latex };
std::string render(const Table& table, Format format);

std::string escape_latex(const std::string& text);
std::string escape_markdown(const std::string& text);

}  // namespace grm
