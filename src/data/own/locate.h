#pragma once

#include <string>
#include <vector>

#include "data/own/description.h"

namespace grm::own {

/// Where one domain's files are.
struct DomainFiles {
  std::string name;
  std::string npz;     // the file, or
  std::string folder;  // the folder with its tables; neither: not found
};

/// The files of a domain in `folder`.
DomainFiles find_domain(const std::string& folder, const std::string& name, const CsvNames& csv);

/// Names of all domains that have files in `folder`, sorted.
std::vector<std::string> domains_in(const std::string& folder, const CsvNames& csv);

/// The tables that a folder of them holds: paths of those that exist.
std::vector<std::string> tables_in(const std::string& folder, const CsvNames& csv, Level level);

}  // namespace grm::own
