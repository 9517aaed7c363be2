#include <fmt/format.h>

#include "core/table.h"
#include "core/text.h"
#include "grm/core/error.h"

namespace grm {
namespace {

constexpr size_t kLongText = 48;  // characters; longer cells are wrapped

std::string head_row(const Table& table) {
  std::string out = "<tr>\n";
  for (size_t c = 0; c < table.head.size(); ++c) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>\n",
                       c < static_cast<size_t>(table.label_columns) ? " class=\"text\"" : "",
                       html_escape(table.head[c]));
  }
  return out + "</tr>\n";
}

// Titles over several columns, if there is any.
std::string group_row(const Table& table) {
  if (!table.has_group_titles()) return "";
  std::string out = fmt::format("<tr>\n<td colspan=\"{}\"></td>\n", table.label_columns);
  for (const Table::Group& group : table.groups) {
    out += fmt::format("<th scope=\"colgroup\" class=\"group\" colspan=\"{}\">{}</th>\n",
                       group.columns, html_escape(group.title));
  }
  return out + "</tr>\n";
}

std::string cell_content(const Table::Entry& entry) {
  std::string text = html_escape(entry.text);
  if (entry.best) text = "<strong>" + text + "</strong>";
  if (entry.mark > 0) {
    text += " <span class=\"better\" title=\"significantly better than the reference\">▲</span>";
  }
  if (entry.mark < 0) {
    text += " <span class=\"worse\" title=\"significantly worse than the reference\">▼</span>";
  }
  return text;
}

std::string body_row(const Table& table, const Table::Row& row, const char* style) {
  std::string out = fmt::format("<tr{}>\n", style);
  for (size_t c = 0; c < row.size(); ++c) {
    const bool label = c < static_cast<size_t>(table.label_columns);
    const char* kind = row[c].text.size() > kLongText ? " class=\"long\""
                       : label                        ? " class=\"text\""
                                                      : "";
    out += c == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>\n", kind, cell_content(row[c]))
                  : fmt::format("<td{}>{}</td>\n", kind, cell_content(row[c]));
  }
  return out + "</tr>\n";
}

}  // namespace

std::string html_table(const Table& table) {
  ensure(table.totals <= table.rows.size(), "html_table: more totals than rows");
  // The frame scrolls, so it takes the focus: the keyboard can scroll it too.
  const std::string name = table.title.empty() ? "table" : table.title;
  std::string out = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n",
      html_escape(name));
  if (!table.title.empty()) out += "<caption>" + html_escape(table.title) + "</caption>\n";
  out += "<thead>\n" + group_row(table) + head_row(table) + "</thead>\n<tbody>\n";
  const size_t plain = table.rows.size() - table.totals;
  for (size_t r = 0; r < table.rows.size(); ++r) {
    out += body_row(table, table.rows[r],
                    r < plain    ? ""
                    : r == plain ? " class=\"total first\""
                                 : " class=\"total\"");
  }
  out += "</tbody>\n</table>\n</div>\n";
  for (const std::string& note : table.notes) {
    out += "<p class=\"notes\">" + html_escape(note) + "</p>\n";
  }
  return out;
}

}  // namespace grm
