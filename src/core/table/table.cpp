#include "core/table.h"

#include <algorithm>

#include "grm/core/error.h"

namespace grm {

std::vector<size_t> Table::group_starts() const {
  std::vector<size_t> starts = {static_cast<size_t>(label_columns)};
  for (const Group& group : groups) {
    starts.push_back(starts.back() + static_cast<size_t>(group.columns));
  }
  ensure(groups.empty() || starts.back() == head.size(), "groups do not cover a table's columns");
  return starts;
}

bool Table::has_group_titles() const {
  return std::any_of(groups.begin(), groups.end(), [](const Group& g) { return !g.title.empty(); });
}

std::string render(const Table& table, Format format) {
  if (format == Format::markdown) return markdown_table(table);
  return format == Format::latex ? latex_table(table) : text_table(table);
}

}  // namespace grm
