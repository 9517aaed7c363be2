#include "grm/study/layout.h"

#include <fmt/core.h>

#include <algorithm>

#include "grm/core/error.h"

namespace grm::study {
namespace {

using Row = std::vector<std::string>;

// Columns on a terminal: UTF-8 continuation bytes take no place.
size_t shown_width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string space(width - std::min(width, shown_width(text)), ' ');
  return left ? text + space : space + text;
}

const char* plain_mark(int mark) {
  return mark > 0 ? "▲" : mark < 0 ? "▼" : "";
}

// First column of each group, counted behind the label columns, and one past the last.
std::vector<size_t> group_starts(const Layout& layout) {
  std::vector<size_t> starts = {static_cast<size_t>(layout.label_columns)};
  for (const Layout::Group& group : layout.groups) {
    starts.push_back(starts.back() + static_cast<size_t>(group.columns));
  }
  ensure(starts.back() == layout.head.size(), "groups do not cover the table's columns");
  return starts;
}

bool has_titles(const Layout& layout) {
  return std::any_of(layout.groups.begin(), layout.groups.end(),
                     [](const Layout::Group& g) { return !g.title.empty(); });
}

std::string title_line(const Layout& layout, const char* before, const char* after) {
  return layout.title.empty() ? "" : before + layout.title + after;
}

class TextTable {
 public:
  explicit TextTable(const Layout& layout) : layout_(layout), starts_(group_starts(layout)) {
    for (const auto& row : layout.rows) {
      Row texts;
      for (const Layout::Entry& e : row) {
        texts.push_back((e.best ? "*" : "") + e.text + plain_mark(e.mark));
      }
      rows_.push_back(texts);
    }
    for (const std::string& name : layout.head) widths_.push_back(shown_width(name));
    for (const Row& row : rows_) {
      for (size_t c = 0; c < row.size(); ++c) {
        widths_[c] = std::max(widths_[c], shown_width(row[c]));
      }
    }
    // A group's title needs room over its columns.
    for (size_t g = 0; g < layout.groups.size(); ++g) {
      const size_t needed = shown_width(layout.groups[g].title);
      const size_t have = span_width(starts_[g], starts_[g + 1]);
      if (needed > have) widths_[starts_[g + 1] - 1] += needed - have;
    }
  }

  std::string operator()(size_t width) const {
    std::string out = title_line(layout_, "", "\n");
    size_t first = 0;
    while (first < layout_.groups.size() || first == 0) {
      size_t last = first;
      while (last < layout_.groups.size() &&
             (last == first || part_width(first, last + 1) <= width)) {
        ++last;
      }
      if (first > 0) out += "\n";
      out += part(first, last);
      if (last == first) break;
      first = last;
    }
    for (const std::string& note : layout_.notes) out += note + "\n";
    return out;
  }

 private:
  size_t span_width(size_t begin, size_t end) const {
    size_t total = 0;
    for (size_t c = begin; c < end; ++c) total += widths_[c] + (c > begin ? 2 : 0);
    return total;
  }
  size_t part_width(size_t first, size_t last) const {
    return span_width(0, starts_[0]) + 2 + span_width(starts_[first], starts_[last]);
  }

  std::string line(const Row& row, size_t first, size_t last) const {
    std::string out;
    const auto add = [&](size_t c, bool left) {
      if (c > 0) out += "  ";
      out += padded(c < row.size() ? row[c] : "", widths_[c], left);
    };
    for (size_t c = 0; c < starts_[0]; ++c) add(c, true);
    for (size_t c = starts_[first]; c < starts_[last]; ++c) add(c, false);
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  }

  std::string part(size_t first, size_t last) const {
    std::string out;
    if (has_titles(layout_)) {
      out += std::string(span_width(0, starts_[0]), ' ');
      for (size_t g = first; g < last; ++g) {
        out += "  " + padded(layout_.groups[g].title, span_width(starts_[g], starts_[g + 1]),
                             layout_.groups[g].columns > 1);
      }
      out.erase(out.find_last_not_of(' ') + 1);
      out += "\n";
    }
    out += line(layout_.head, first, last);
    out += std::string(part_width(first, last), '-') + "\n";
    for (const Row& row : rows_) out += line(row, first, last);
    return out;
  }

  const Layout& layout_;
  std::vector<size_t> starts_;
  std::vector<Row> rows_;
  std::vector<size_t> widths_;
};

std::string markdown(const Layout& layout) {
  std::string out = title_line(layout, "### ", "\n\n");
  const std::vector<size_t> starts = group_starts(layout);
  std::string rule = "|";
  out += "|";
  for (size_t c = 0; c < layout.head.size(); ++c) {
    std::string name = layout.head[c];
    for (size_t g = 0; g < layout.groups.size(); ++g) {
      if (starts[g] == c && !layout.groups[g].title.empty()) {
        name = layout.groups[g].title + " " + name;
      }
    }
    out += " " + escape_markdown(name) + " |";
    rule += c < starts[0] ? " :-- |" : " --: |";
  }
  out += "\n" + rule + "\n";
  for (const auto& row : layout.rows) {
    out += "|";
    for (const Layout::Entry& e : row) {
      const std::string text = escape_markdown(e.text);
      out += " " + (e.best ? "**" + text + "**" : text) + plain_mark(e.mark) + " |";
    }
    out += "\n";
  }
  if (!layout.notes.empty()) out += "\n";
  for (const std::string& note : layout.notes) out += "* " + escape_markdown(note) + "\n";
  return out;
}

std::string latex(const Layout& layout) {
  const std::vector<size_t> starts = group_starts(layout);
  std::string out = "\\begin{table}\n\\centering\n\\begin{tabular}{" + std::string(starts[0], 'l') +
                    std::string(layout.head.size() - starts[0], 'r') + "}\n\\toprule\n";
  if (has_titles(layout)) {
    std::string rules;
    for (size_t c = 1; c < starts[0]; ++c) out += " &";
    for (size_t g = 0; g < layout.groups.size(); ++g) {
      out += fmt::format(" & \\multicolumn{{{}}}{{c}}{{{}}}", layout.groups[g].columns,
                         escape_latex(layout.groups[g].title));
      rules += fmt::format("\\cmidrule(lr){{{}-{}}}", starts[g] + 1, starts[g + 1]);
    }
    out += " \\\\\n" + rules + "\n";
  }
  const auto line = [&](const Row& row) {
    for (size_t c = 0; c < row.size(); ++c) out += (c > 0 ? " & " : "") + row[c];
    out += " \\\\\n";
  };
  Row head;
  for (const std::string& name : layout.head) head.push_back(escape_latex(name));
  line(head);
  out += "\\midrule\n";
  for (const auto& row : layout.rows) {
    Row texts;
    for (const Layout::Entry& e : row) {
      std::string text = escape_latex(e.text);
      if (e.best) text = "\\textbf{" + text + "}";
      if (e.mark != 0) text += e.mark > 0 ? "$^{\\uparrow}$" : "$^{\\downarrow}$";
      texts.push_back(text);
    }
    line(texts);
  }
  out += "\\bottomrule\n\\end{tabular}\n";
  std::string caption = escape_latex(layout.title);
  for (const std::string& note : layout.notes) {
    caption += (caption.empty() ? "" : " ") + escape_latex(note);
  }
  if (!caption.empty()) out += "\\caption{" + caption + "}\n";
  return out + "\\end{table}\n";
}

// Replaces single characters and the symbols that our tables use.
std::string replaced(const std::string& text,
                     const std::vector<std::pair<std::string, std::string>>& table) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto hit = std::find_if(table.begin(), table.end(), [&](const auto& entry) {
      return text.compare(at, entry.first.size(), entry.first) == 0;
    });
    out += hit == table.end() ? text.substr(at, 1) : hit->second;
    at += hit == table.end() ? 1 : hit->first.size();
  }
  return out;
}

}  // namespace

std::string escape_latex(const std::string& text) {
  return replaced(text, {{"\\", "\\textbackslash{}"},
                         {"{", "\\{"},
                         {"}", "\\}"},
                         {"$", "\\$"},
                         {"&", "\\&"},
                         {"#", "\\#"},
                         {"%", "\\%"},
                         {"_", "\\_"},
                         {"^", "\\textasciicircum{}"},
                         {"~", "\\textasciitilde{}"},
                         {"±", "$\\pm$"},
                         {"▲", "$\\uparrow$"},
                         {"▼", "$\\downarrow$"},
                         {"<", "$<$"},
                         {">", "$>$"},
                         {"\n", " "}});
}

std::string escape_markdown(const std::string& text) {
  return replaced(
      text, {{"\\", "\\\\"}, {"|", "\\|"}, {"*", "\\*"}, {"_", "\\_"}, {"<", "&lt;"}, {"\n", " "}});
}

std::string render(const Layout& layout, Format format, size_t width) {
  switch (format) {
    case Format::markdown:
      return markdown(layout);
    case Format::latex:
      return latex(layout);
    case Format::text:
      break;
  }
  return TextTable(layout)(width);
}

}  // namespace grm::study
