#pragma once

#include <string>
#include <vector>

namespace grm::study {

enum class Format { text, markdown, latex };

/// A table ready to be printed. Texts are plain UTF-8 with "±"; render escapes them.
struct Layout {
  struct Entry {
    std::string text;
    bool best = false;  // bold, or a star where there is no bold
    int mark = 0;       // 1 better, -1 worse than the reference
  };
  struct Group {
    std::string title;
    int columns = 1;
  };
  std::string title;
  int label_columns = 1;      // left aligned, repeated when a wide table is cut
  std::vector<Group> groups;  // over the other columns, in order; they cover all of them
  std::vector<std::string> head;
  std::vector<std::vector<Entry>> rows;
  std::vector<std::string> notes;  // below the table
};

/// Text tables wider than `width` are cut between groups into several.
std::string render(const Layout& layout, Format format, size_t width = 118);

std::string escape_latex(const std::string& text);
std::string escape_markdown(const std::string& text);

}  // namespace grm::study
