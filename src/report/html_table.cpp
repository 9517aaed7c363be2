// Tables of a report in HTML.
#include "grm/core/error.h"
#include "grm/report/html.h"

namespace grm::report {
namespace {

using study::Layout;

constexpr size_t kLongText = 48;  // characters; longer cells are wrapped

std::string head_row(const Layout& layout) {
  std::string out = "<tr>\n";
  for (size_t c = 0; c < layout.head.size(); ++c) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>\n",
                       c < static_cast<size_t>(layout.label_columns) ? " class=\"text\"" : "",
                       html_escape(layout.head[c]));
  }
  return out + "</tr>\n";
}

// Titles over several columns, if there is any.
std::string group_row(const Layout& layout) {
  bool any = false;
  for (const Layout::Group& group : layout.groups) any = any || !group.title.empty();
  if (!any) return "";
  std::string out = fmt::format("<tr>\n<td colspan=\"{}\"></td>\n", layout.label_columns);
  for (const Layout::Group& group : layout.groups) {
    out += fmt::format("<th scope=\"colgroup\" class=\"group\" colspan=\"{}\">{}</th>\n",
                       group.columns, html_escape(group.title));
  }
  return out + "</tr>\n";
}

std::string cell_content(const Layout::Entry& entry) {
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

std::string body_row(const Layout& layout, const std::vector<Layout::Entry>& row,
                     const char* style) {
  std::string out = fmt::format("<tr{}>\n", style);
  for (size_t c = 0; c < row.size(); ++c) {
    const bool label = c < static_cast<size_t>(layout.label_columns);
    const char* kind = row[c].text.size() > kLongText ? " class=\"long\""
                       : label                        ? " class=\"text\""
                                                      : "";
    out += c == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>\n", kind, cell_content(row[c]))
                  : fmt::format("<td{}>{}</td>\n", kind, cell_content(row[c]));
  }
  return out + "</tr>\n";
}

}  // namespace

std::string html_table(const Layout& layout, size_t totals) {
  ensure(totals <= layout.rows.size(), "html_table: more totals than rows");
  // The frame scrolls, so it takes the focus: the keyboard can scroll it too.
  const std::string name = layout.title.empty() ? "table" : layout.title;
  std::string out = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n",
      html_escape(name));
  if (!layout.title.empty()) out += "<caption>" + html_escape(layout.title) + "</caption>\n";
  out += "<thead>\n" + group_row(layout) + head_row(layout) + "</thead>\n<tbody>\n";
  const size_t plain = layout.rows.size() - totals;
  for (size_t r = 0; r < layout.rows.size(); ++r) {
    out += body_row(layout, layout.rows[r],
                    r < plain    ? ""
                    : r == plain ? " class=\"total first\""
                                 : " class=\"total\"");
  }
  out += "</tbody>\n</table>\n</div>\n";
  for (const std::string& note : layout.notes) {
    out += "<p class=\"notes\">" + html_escape(note) + "</p>\n";
  }
  return out;
}

}  // namespace grm::report
