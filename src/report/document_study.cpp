// A study's cells and search, published values, and how to repeat it all.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/json.h"
#include "core/lists.h"
#include "report/document.h"
#include "train/recorded_config.h"

namespace grm::report::document {
namespace {

using study::CellRow;

// The trials of one row on one dataset.
struct Search {
  std::string dataset, row;
  std::map<int64_t, std::vector<const CellRow*>> trials;
};

std::vector<Search> searches(const StudyPart& part) {
  std::vector<Search> list;
  for (const CellRow& cell : part.cells) {
    if (cell.phase != "trial") continue;
    const std::string row = row_name(cell.method, cell.variant);
    auto known = std::find_if(list.begin(), list.end(), [&](const Search& s) {
      return s.dataset == cell.dataset && s.row == row;
    });
    if (known == list.end()) known = list.insert(list.end(), Search{cell.dataset, row, {}});
    known->trials[cell.trial].push_back(&cell);
  }
  return list;
}

// Options that some trial sets otherwise than another.
std::vector<std::string> searched_options(const Search& search) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& [trial, cells] : search.trials) {
    for (const auto& [key, value] : config_values(cells.front()->config)) {
      if (key != ".seed") values[key].insert(value);
    }
  }
  std::vector<std::string> keys;
  for (const auto& [key, some] : values) {
    if (some.size() > 1) keys.push_back(key);
  }
  return keys;
}

Json value_json(const std::map<std::string, std::string>& values, const std::string& key) {
  const auto at = values.find(key);
  if (at == values.end()) return nullptr;
  Json value = try_json<Json>(at->second);
  return value.is_discarded() ? Json(at->second) : value;
}

Json search_json(const Search& search, const std::vector<study::Winner>& winners) {
  const std::vector<std::string> options = searched_options(search);
  Json trials = Json::array();
  for (const auto& [number_of, cells] : search.trials) {
    const auto values = config_values(cells.front()->config);
    Json row = Json::array();
    for (const std::string& key : options) row.push_back(value_json(values, key));
    std::vector<double> validation;
    for (const CellRow* cell : cells) {
      if (cell->state != "done") continue;
      const RunRecord record = cell->run_record();
      const auto chosen = record.chosen.find("val");
      if (chosen != record.chosen.end()) validation.push_back(chosen->second.validation);
    }
    const bool chosen =
        std::any_of(winners.begin(), winners.end(), [&, n = number_of](const study::Winner& w) {
          return w.dataset == search.dataset && row_name(w.method, w.variant) == search.row &&
                 w.trial == n;
        });
    trials.push_back(
        {{"trial", number_of},
         {"values", row},
         {"validation", validation.empty() ? Json(nullptr) : number(mean_std(validation).mean)},
         {"runs", validation.size()},
         {"state", cells.front()->state},
         {"chosen", chosen}});
  }
  return {
      {"dataset", search.dataset}, {"row", search.row}, {"options", options}, {"trials", trials}};
}

}  // namespace

Json study_json(const ReportParts& report) {
  if (!report.study) return nullptr;
  const StudyPart& part = *report.study;
  Json cells = Json::array(), search = Json::array(), states = Json::object();
  for (const auto& [state, count] : part.head.states) states[state] = count;
  for (const CellRow& cell : part.cells) {
    Json out = {{"dataset", cell.dataset},
                {"row", row_name(cell.method, cell.variant)},
                {"phase", cell.phase},
                {"trial", cell.trial},
                {"seed", cell.seed},
                {"state", cell.state},
                {"seconds", rounded(cell.seconds)}};
    if (!cell.message.empty()) out["message"] = cell.message;
    cells.push_back(std::move(out));
  }
  for (const Search& each : searches(part)) search.push_back(search_json(each, part.winners));
  return {{"name", part.head.name},
          {"about", part.head.about},
          {"states", states},
          {"cells", cells},
          {"search", search}};
}

Json published_json(const study::ScoreTable& blocks, const Published& published,
                    const std::vector<std::string>& tables, const std::string& dataset) {
  Json values = Json::array();
  std::vector<std::string> datasets;
  for_each_cell(blocks, [&](const study::Block& block, const study::DatasetColumn& column,
                            const std::string& method, const study::Cell& cell) {
    if (cell.domains.empty() || (!dataset.empty() && column.dataset != dataset)) return;
    const auto add = [&](const std::string& name, const study::Score& score) {
      if (!score.published) return;
      values.push_back(
          {{"dataset", column.dataset + (block.name.empty() ? "" : ", block " + block.name)},
           {"row", method},
           {"block", block.name},
           {"score", name},
           {"ours", mean_std_json(score.ours)},
           {"ours_text", study::score_text(score.ours, cell.runs)},
           {"published",
            {{"value", score.published->value},
             {"deviation",
              score.published->deviation ? number(*score.published->deviation) : Json(nullptr)}}},
           {"published_text", study::score_text(*score.published)},
           {"difference", number(score.ours.mean - score.published->value)},
           {"runs", cell.runs}});
      datasets.push_back(column.dataset);
    };
    add("Min", cell.min);
    add("Avg", cell.avg);
    for (const study::Cell::DomainRow& row : cell.domains) add(row.domain, row.score);
  });
  if (values.empty()) return nullptr;
  std::vector<std::string> notes;
  for (const std::string& id : tables) {
    for (const std::string& note : published.notes_of(id, datasets)) add_once(notes, note);
  }
  return {{"source", published.source()}, {"notes", notes}, {"values", values}};
}

Json repeat_json(const ReportParts& report) {
  Json commands = Json::array(), configs = Json::array(), versions = Json::array(),
       files = Json::array();
  std::set<std::string> places;
  for (const Setup& setup : setups_of(report.results.rows)) {
    for (const std::string& command : train_commands(setup)) commands.push_back(command);
    configs.push_back({{"name", setup.row() + " on " + setup.dataset}, {"text", setup.config}});
    const std::string name = config_head(setup.rows.front()->config, "configuration").dataset;
    for (const DatasetEntry& entry : datasets()) {
      if (entry.name == name && !entry.published_at.empty()) {
        places.insert(entry.name + ": " + entry.published_at);
      }
    }
  }
  const Provenance provenance = provenance_of(report.results.rows);
  for (const auto& [what, values] : provenance.versions) {
    versions.push_back({{"what", what}, {"values", values}});
  }
  for (const auto& [dataset, of] : provenance.data) {
    for (const auto& [file, hash] : of) {
      files.push_back({{"dataset", dataset}, {"file", file}, {"sha256", hash}});
    }
  }
  return {{"commands", commands}, {"study_commands", report.repeat},
          {"spec", report.spec},  {"configs", configs},
          {"sources", places},    {"versions", versions},
          {"data", files}};
}

}  // namespace grm::report::document
