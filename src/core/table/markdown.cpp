#include "core/table.h"
#include "core/text.h"

namespace grm {

std::string escape_markdown(const std::string& text) {
  return replaced(
      text, {{"\\", "\\\\"}, {"|", "\\|"}, {"*", "\\*"}, {"_", "\\_"}, {"<", "&lt;"}, {"\n", " "}});
}

std::string markdown_table(const Table& table) {
  std::string out = table.title.empty() ? "" : "### " + table.title + "\n\n";
  const std::vector<size_t> starts = table.group_starts();
  std::string rule = "|";
  out += "|";
  for (size_t c = 0; c < table.head.size(); ++c) {
    std::string name = table.head[c];
    for (size_t g = 0; g < table.groups.size(); ++g) {
      const std::string& title = table.groups[g].title;
      if (starts[g] == c && !title.empty()) name = title + " " + name;
    }
    out += " " + escape_markdown(name) + " |";
    rule += c < starts[0] ? " :-- |" : " --: |";
  }
  out += "\n" + rule + "\n";
  for (const Table::Row& row : table.rows) {
    out += "|";
    for (const Table::Entry& e : row) {
      const std::string text = escape_markdown(e.text);
      out += " " + (e.best ? "**" + text + "**" : text);
      out += std::string(e.mark > 0 ? "▲" : e.mark < 0 ? "▼" : "") + " |";
    }
    out += "\n";
  }
  if (!table.notes.empty()) out += "\n";
  for (const std::string& note : table.notes) out += "* " + escape_markdown(note) + "\n";
  return out;
}

}  // namespace grm
