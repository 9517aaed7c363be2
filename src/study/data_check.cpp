// Whether finished cells were run on the data that is there now.
#include <algorithm>

#include "grm/core/error.h"
#include "grm/train/config.h"
#include "study/runner.h"
#include "train/environment.h"

namespace grm::study {
namespace {

// Nothing where a cell does not say what its data was.
std::vector<DataChange> changes_of(const CellRow& cell, DataOnDisk& disk) {
  try {
    const std::string origin = fmt::format("cell {}", cell.id);
    const ConfigSections sections = config_sections(cell.config, origin);
    return disk.changes(sections.at("dataset").at("name"),
                        recorded_hashes(cell.environment, origin));
  } catch (const Error&) {
    return {};
  } catch (const std::out_of_range&) {
    return {};
  }
}

}  // namespace

std::vector<std::string> distrust_changed_data(Store& store, const std::string& study,
                                               const std::string& phase, const DataContext& context,
                                               bool own_too) {
  DataOnDisk disk(context);
  std::vector<int64_t> anew, others;
  std::vector<DataChange> files;
  for (const CellRow& cell : store.done_like(study, phase)) {
    if (!own_too && cell.study == study) continue;
    const std::vector<DataChange> changes = changes_of(cell, disk);
    if (changes.empty()) continue;
    const bool own = cell.study == study && cell.phase == phase;
    (own ? anew : others).push_back(cell.id);
    if (!own) continue;
    for (const DataChange& change : changes) {
      const bool known = std::any_of(files.begin(), files.end(), [&](const DataChange& each) {
        return each.file == change.file;
      });
      if (!known) files.push_back(change);
    }
  }
  store.distrust(anew, others);
  if (anew.empty()) return {};
  return {fmt::format(
      "{} cell{} run on other data than is there now ({}) and start{} anew; the folders of the old "
      "runs stay",
      anew.size(), anew.size() == 1 ? " was" : "s were", changes_text(files),
      anew.size() == 1 ? "s" : "")};
}

}  // namespace grm::study
