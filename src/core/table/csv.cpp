#include "core/table.h"
#include "core/text.h"

namespace grm {

std::string csv_table(const Table& table) {
  std::vector<std::string> cells;
  for (const std::string& name : table.head) cells.push_back(csv_cell(name));
  std::string out = joined(cells, ",") + "\n";
  for (const Table::Row& row : table.rows) {
    cells.clear();
    for (const Table::Entry& entry : row) cells.push_back(csv_cell(entry.text));
    out += joined(cells, ",") + "\n";
  }
  return out;
}

}  // namespace grm
