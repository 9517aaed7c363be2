#pragma once

#include <string>
#include <vector>

#include "data/own/raw_domain.h"

namespace grm::own {

struct ReadDomain {
  RawDomain raw;
  DomainName about;
};

/// The domains that dataset.toml names, as far as they could be read.
struct Reading {
  std::string kind = "npz";  // or "csv"
  std::vector<ReadDomain> domains;
  Plans plans;                        // csv
  std::vector<std::string> files;     // read
  std::vector<std::string> left_out;  // test domains without files, where that is allowed

  std::vector<const RawDomain*> training() const;
};

Reading read_all(const ReadContext& context, bool allow_missing);

}  // namespace grm::own
