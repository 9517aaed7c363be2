// What a reader must know of runs before trusting their scores: data that changed since, and legs
// of different arithmetic.
#include <fmt/ranges.h>

#include <map>

#include "grm/core/error.h"
#include "report/report_parts.h"
#include "train/recorded_config.h"

namespace grm::report {
namespace {

std::string data_remark(const study::ResultRow& row, DataOnDisk& disk) {
  try {
    const ConfigHead head = config_head(row.config, "");
    const std::vector<DataChange> changes =
        disk.changes(head.dataset, recorded_hashes(row.environment, ""));
    if (changes.empty()) return "";
    return fmt::format(
        "scored on other data than is there now ({}): the scores belong to the old data",
        changes_text(changes));
  } catch (const Error&) {
    return "";  // it does not say what its data was
  }
}

std::string leg_remark(const study::ResultRow& row) {
  const std::vector<std::string> mixed = mixed_arithmetic(row.environment);
  if (mixed.empty()) return "";
  return fmt::format(
      "resumed with another arithmetic ({}): its bits are not those of an undisturbed run",
      fmt::join(mixed, "; "));
}

}  // namespace

std::vector<std::string> run_remarks(const std::vector<study::ResultRow>& rows,
                                     const DataContext& context) {
  DataOnDisk disk(context);
  std::vector<std::string> remarks;
  for (const Setup& setup : setups_of(rows)) {
    std::map<std::string, std::vector<int64_t>> seeds;  // by remark
    for (const study::ResultRow* row : setup.rows) {
      for (const std::string& remark : {data_remark(*row, disk), leg_remark(*row)}) {
        if (!remark.empty()) seeds[remark].push_back(row->seed);
      }
    }
    for (const auto& [remark, of] : seeds) {
      remarks.push_back(fmt::format("{} on {}{}{}, seed{} {}: {}", setup.method, setup.dataset,
                                    setup.variant.empty() ? "" : ", ", setup.variant,
                                    of.size() == 1 ? "" : "s", fmt::join(of, ", "), remark));
    }
  }
  return remarks;
}

}  // namespace grm::report
