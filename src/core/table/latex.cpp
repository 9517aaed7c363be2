#include <fmt/format.h>

#include "core/table.h"
#include "core/text.h"

namespace grm {

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

std::string latex_table(const Table& table) {
  const std::vector<size_t> starts = table.group_starts();
  std::string out = "\\begin{table}\n\\centering\n\\begin{tabular}{" + std::string(starts[0], 'l') +
                    std::string(table.head.size() - starts[0], 'r') + "}\n\\toprule\n";
  if (table.has_group_titles()) {
    std::string rules;
    for (size_t c = 1; c < starts[0]; ++c) out += " &";
    for (size_t g = 0; g < table.groups.size(); ++g) {
      out += fmt::format(" & \\multicolumn{{{}}}{{c}}{{{}}}", table.groups[g].columns,
                         escape_latex(table.groups[g].title));
      rules += fmt::format("\\cmidrule(lr){{{}-{}}}", starts[g] + 1, starts[g + 1]);
    }
    out += " \\\\\n" + rules + "\n";
  }
  std::vector<std::string> cells;
  for (const std::string& name : table.head) cells.push_back(escape_latex(name));
  out += joined(cells, " & ") + " \\\\\n\\midrule\n";
  for (const Table::Row& row : table.rows) {
    cells.clear();
    for (const Table::Entry& e : row) {
      const std::string text = escape_latex(e.text);
      cells.push_back(e.best ? "\\textbf{" + text + "}" : text);
      if (e.mark != 0) cells.back() += e.mark > 0 ? "$^{\\uparrow}$" : "$^{\\downarrow}$";
    }
    out += joined(cells, " & ") + " \\\\\n";
  }
  out += "\\bottomrule\n\\end{tabular}\n";
  std::string caption = escape_latex(table.title);
  for (const std::string& note : table.notes) {
    caption += (caption.empty() ? "" : " ") + escape_latex(note);
  }
  if (!caption.empty()) out += "\\caption{" + caption + "}\n";
  return out + "\\end{table}\n";
}

}  // namespace grm
