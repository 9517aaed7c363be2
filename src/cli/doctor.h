#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "core/json.h"

namespace grm::cli {

/// One thing that was looked at. `fix` needs fixing, `note` is worth knowing.
struct Finding {
  enum class Mark { ok, note, fix };
  std::string what, value;
  Mark level = Mark::ok;
  std::string advice;  // how to fix it
  ordered_json files;  // of a dataset, with --hashes
};

/// The BLAS library, the processor that it takes this one for, and how fast it multiplies beside
/// what the processor should reach.
std::vector<Finding> examine_blas();

/// The datasets whose files are looked for: how many are there; with `hashes` their SHA-256, set
/// beside what the cache of parsed data remembers of them.
std::vector<Finding> examine_data(const Common& common, bool hashes);

/// The cache folder: its size, whether it can be written, halves that killed processes left there.
Finding examine_cache();

/// "1.5 GiB".
std::string bytes_text(double bytes);

}  // namespace grm::cli
