// Scaffolds of molecules, and the split that MoleculeNet and OGB make by them.
#include "data/scaffolds.h"

#include <algorithm>
#include <map>

#include "grm/core/error.h"
#include "io/csv.h"

namespace grm {

std::vector<std::string> read_scaffolds(const std::string& path,
                                        const std::vector<int64_t>& atoms) {
  std::vector<std::string> scaffolds;
  io::read_csv(path, [&](const io::CsvRow& row) {
    if (row.line == 1) {
      if (row.size() >= 4 && row.text(0) == "idx" && row.text(1) == "atoms" &&
          row.text(3) == "scaffold") {
        return;
      }
      fail(ErrorKind::data, "{}:1: the header is not idx,atoms,scaffold_rank,scaffold", path);
    }
    const size_t molecule = scaffolds.size();
    const int64_t index = row.parse_int(0), count = row.parse_int(1);
    if (index != static_cast<int64_t>(molecule) || molecule >= atoms.size() ||
        count != atoms[molecule]) {
      fail(ErrorKind::data, "{}:{}: molecule {} with {} atoms, but {}", path, row.line, index,
           count,
           molecule < atoms.size()
               ? fmt::format("molecule {} with {} atoms comes next", molecule, atoms[molecule])
               : fmt::format("there are {}", atoms.size()));
    }
    scaffolds.emplace_back(row.text(3));
  });
  if (scaffolds.size() != atoms.size()) {
    fail(ErrorKind::data, "{}: {} rows, but there are {} molecules", path, scaffolds.size(),
         atoms.size());
  }
  return scaffolds;
}

std::vector<int64_t> ranks_of(const std::vector<std::string>& scaffolds) {
  std::vector<std::string> sorted = scaffolds;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<int64_t> ranks;
  for (const std::string& scaffold : scaffolds) {
    ranks.push_back(std::lower_bound(sorted.begin(), sorted.end(), scaffold) - sorted.begin());
  }
  return ranks;
}

std::array<std::vector<int64_t>, 3> split_by_scaffold(const std::vector<int64_t>& ranks) {
  std::map<int64_t, std::vector<int64_t>> members;
  for (size_t i = 0; i < ranks.size(); ++i) members[ranks[i]].push_back(static_cast<int64_t>(i));
  std::vector<std::vector<int64_t>> groups;
  for (auto& [rank, ids] : members) groups.push_back(std::move(ids));
  // Larger first; of equal ones that whose first molecule comes later.
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() > b.front();
  });
  const auto n = static_cast<double>(ranks.size());
  std::array<std::vector<int64_t>, 3> parts;
  for (const std::vector<int64_t>& group : groups) {
    const auto size = static_cast<double>(group.size());
    const auto trained = static_cast<double>(parts[0].size());
    const auto validated = static_cast<double>(parts[1].size());
    const size_t part = trained + size <= 0.8 * n               ? 0
                        : trained + validated + size <= 0.9 * n ? 1
                                                                : 2;
    parts[part].insert(parts[part].end(), group.begin(), group.end());
  }
  for (auto& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

}  // namespace grm
