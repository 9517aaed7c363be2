#pragma once

#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace grm::test {

/// Chains of carbon atoms in OGB's tables: molecule k has atoms[k] atoms, and one bond less. Plain
/// text under the published names, which the reader takes as well.
inline void write_chains(const TempFolder& folder, const std::string& name,
                         const std::vector<int64_t>& atoms, const std::string& labels = "") {
  std::string nodes, edges, bonds, node_counts, edge_counts;
  for (const int64_t n : atoms) {
    node_counts += std::to_string(n) + "\n";
    edge_counts += std::to_string(n - 1) + "\n";
    for (int64_t i = 0; i < n; ++i) {
      nodes += std::to_string(5 + i % 3) + ",0,1,5,3,0,2,0,0\n";
      if (i == 0) continue;
      edges += std::to_string(i - 1) + "," + std::to_string(i) + "\n";
      bonds += std::to_string(i % 5) + ",0,0\n";
    }
  }
  const std::string raw = name + "/raw/";
  folder.write(raw + "node-feat.csv.gz", nodes);
  folder.write(raw + "edge.csv.gz", edges);
  folder.write(raw + "edge-feat.csv.gz", bonds);
  folder.write(raw + "num-node-list.csv.gz", node_counts);
  folder.write(raw + "num-edge-list.csv.gz", edge_counts);
  if (!labels.empty()) folder.write(raw + "graph-label.csv.gz", labels);
}

/// The table of scaffolds beside them.
inline void write_scaffolds(const TempFolder& folder, const std::string& file,
                            const std::vector<int64_t>& atoms,
                            const std::vector<std::string>& scaffolds) {
  std::string text = "idx,atoms,scaffold_rank,scaffold\n";
  for (size_t k = 0; k < atoms.size(); ++k) {
    text += std::to_string(k) + "," + std::to_string(atoms[k]) + ",0," + scaffolds.at(k) + "\n";
  }
  folder.write(file, text);
}

}  // namespace grm::test
