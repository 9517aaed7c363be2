#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace grm {

/// The Murcko scaffold of each molecule, SMILES without chirality, "" for one without a ring, from a
/// table whose header begins with idx,atoms,scaffold_rank,scaffold. Error(data) if the molecules
/// are not those with these numbers of atoms.
std::vector<std::string> read_scaffolds(const std::string& path, const std::vector<int64_t>& atoms);

/// The place of each scaffold in their sorted list.
std::vector<int64_t> ranks_of(const std::vector<std::string>& scaffolds);

/// The split of MoleculeNet and OGB: molecules of one scaffold stay together, the commonest scaffolds
/// come first; what fits into 80 percent trains, what fits into the next 10 validates, the rest
/// tests. Ascending molecules of the three parts.
std::array<std::vector<int64_t>, 3> split_by_scaffold(const std::vector<int64_t>& ranks);

}  // namespace grm
