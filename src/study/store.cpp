// The result database: opening it and reading from it. store_write.cpp changes it.
#include "study/store.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/text.h"
#include "core/toml_text.h"
#include "grm/core/error.h"
#include "study/database.h"
#include "study/dataset_names.h"
#include "study/store_scope.h"

namespace grm::study {
namespace {

constexpr int64_t kVersion = 1;

constexpr const char* kSchema[] = {
    "CREATE TABLE study (name TEXT PRIMARY KEY, about TEXT, spec TEXT, created TEXT)",
    "CREATE TABLE cell ("
    "id INTEGER PRIMARY KEY, study TEXT NOT NULL REFERENCES study(name), phase TEXT NOT NULL, "
    "dataset TEXT NOT NULL, method TEXT NOT NULL, variant TEXT NOT NULL, trial INTEGER NOT NULL, "
    "seed INTEGER NOT NULL, "
    "planned INTEGER NOT NULL, "   // 0: the specification no longer has it
    "position INTEGER NOT NULL, "  // in the order of the specification
    "config TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL, owner TEXT NOT NULL DEFAULT '', "
    "attempts INTEGER NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '', "
    "folder TEXT NOT NULL DEFAULT '', record TEXT NOT NULL DEFAULT '', "
    "environment TEXT NOT NULL DEFAULT '', metric TEXT NOT NULL DEFAULT '', "
    "seconds REAL NOT NULL DEFAULT 0, peak_mib REAL NOT NULL DEFAULT 0, "
    "created TEXT NOT NULL, started TEXT NOT NULL DEFAULT '', finished TEXT NOT NULL DEFAULT '', "
    "UNIQUE (study, phase, dataset, method, variant, trial, seed))",
    "CREATE INDEX cell_key ON cell (key, state)",
    "CREATE INDEX cell_state ON cell (study, phase, state)",
};

// On a server alone: who works on cells, and when it was last heard of, by the server's clock.
constexpr const char* kWorkers =
    "CREATE TABLE worker ("
    "name TEXT PRIMARY KEY, host TEXT NOT NULL, process INTEGER NOT NULL, place TEXT NOT NULL, "
    "identity TEXT NOT NULL, job TEXT NOT NULL, "
    "study TEXT NOT NULL, slots INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0, "
    "patience REAL NOT NULL, started TIMESTAMPTZ NOT NULL DEFAULT now(), "
    "beat TIMESTAMPTZ NOT NULL DEFAULT now())";

void check_version(Database& database) {
  const int64_t version = database.version();
  if (version == kVersion) return;
  fail(ErrorKind::data,
       "{}: {}; this program needs a result database of version {}. Name another {} with --db",
       database.path(),
       version == 0 ? std::string("not a result database")
                    : fmt::format("a result database of version {}", version),
       kVersion, database.server() ? "database" : "file");
}

void prepare(Database& database) {
  if (database.version() == kVersion) return;
  database.prepare();
  Transaction transaction(database);
  const int64_t version = database.version();
  if (version == kVersion) return;  // another process was faster
  if (version != 0 || !database.empty()) check_version(database);
  for (const char* statement : kSchema) database.run(database.schema_text(statement));
  if (database.server()) database.run(database.schema_text(kWorkers));
  database.set_version(kVersion);
  transaction.commit();
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string reason_of(const CellRow& cell) {
  if (cell.state == "no_data") return "data is missing: " + one_line(cell.message);
  if (cell.state == "failed") return "failed: " + one_line(cell.message);
  return cell.state == "running" ? "running" : "not run";
}

// Earlier versions filed own data under its path, which is no name for a table.
std::map<std::string, std::string> names_of_paths(Database& database, const std::string& study) {
  std::vector<std::string> paths;
  Rows rows(database,
            "SELECT dataset, MIN(config) FROM cell WHERE study = ? GROUP BY dataset "
            "ORDER BY dataset",
            {study});
  while (rows.next()) {
    const std::string line = "[dataset]\nname = " + toml_string(rows.text(0)) + "\n";
    if (rows.text(1).find(line) != std::string::npos) paths.push_back(rows.text(0));
  }
  const std::vector<std::string> labels = dataset_labels(paths);
  std::map<std::string, std::string> names;
  for (size_t k = 0; k < paths.size(); ++k) names[paths[k]] = labels[k];
  return names;
}

std::string shown_name(const std::map<std::string, std::string>& names, const std::string& label) {
  const auto found = names.find(label);
  return found == names.end() ? label : found->second;
}

std::vector<Value> as_values(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

RunRecord CellRow::run_record() const {
  return record_from_json(record, folder + "/summary.json");
}

bool Store::exists(const std::string& database) {
  return is_server(database) || std::filesystem::exists(database);  // throws where it cannot tell
}

Store::Store(const std::string& path, Open mode) {
  if (mode != Open::create && !exists(path)) {
    fail(ErrorKind::data,
         "{}: there is no result database; 'grm study run' makes one, --db names another file",
         path);
  }
  const Access access = mode == Open::create ? Access::create
                        : mode == Open::read ? Access::read
                                             : Access::write;
  database_ = open_database(path, access);
  if (mode == Open::read || (mode == Open::existing && database_->server())) {
    check_version(*database_);
  } else {
    prepare(*database_);
  }
}

Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

std::vector<StudyRow> Store::studies() const {
  std::vector<StudyRow> list;
  Rows rows(*database_, "SELECT name, about, spec, created FROM study ORDER BY created, name", {});
  while (rows.next()) {
    list.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3), {}, false});
  }
  for (StudyRow& study : list) {
    Rows states(*database_,
                "SELECT state, COUNT(*), SUM(CASE phase WHEN 'trial' THEN 1 ELSE 0 END) FROM cell "
                "WHERE study = ? AND planned = 1 "
                "GROUP BY state",
                {study.name});
    while (states.next()) {
      study.states[states.text(0)] = states.integer(1);
      study.tuned = study.tuned || states.integer(2) > 0;
    }
  }
  return list;
}

StudyRow Store::study(const std::string& name) const {
  std::vector<std::string> known;
  for (StudyRow& row : studies()) {
    if (row.name == name) return std::move(row);
    known.push_back(row.name);
  }
  fail(ErrorKind::config, "{}: no study '{}'{}; it has: {}", database_->path(), name,
       did_you_mean(name, known), known.empty() ? "none" : joined(known));
}

std::vector<CellRow> Store::select(const std::string& where, const std::vector<std::string>& values,
                                   const std::string& behind) const {
  std::vector<CellRow> list;
  Rows rows(*database_,
            "SELECT id, study, phase, dataset, method, variant, trial, seed, config, state, owner, "
            "attempts, message, folder, record, environment, metric, seconds, peak_mib FROM cell "
            "WHERE " +
                where + " ORDER BY phase DESC, position" + behind,
            as_values(values));
  while (rows.next()) {
    CellRow c;
    c.id = rows.integer(0);
    c.study = rows.text(1);
    c.phase = rows.text(2);
    c.dataset = rows.text(3);
    c.method = rows.text(4);
    c.variant = rows.text(5);
    c.trial = rows.integer(6);
    c.seed = rows.integer(7);
    c.config = rows.text(8);
    c.state = rows.text(9);
    c.owner = rows.text(10);
    c.attempts = rows.integer(11);
    c.message = rows.text(12);
    c.folder = rows.text(13);
    c.record = rows.text(14);
    c.environment = rows.text(15);
    c.metric = rows.text(16);
    c.seconds = rows.number(17);
    c.peak_mib = rows.number(18);
    list.push_back(std::move(c));
  }
  return list;
}

std::vector<CellRow> Store::cells(const std::string& study, const std::string& phase) const {
  const Scope scope(study, phase);
  return select(scope.where, scope.values);
}

std::vector<CellRow> Store::done_like(const std::string& study, const std::string& phase) const {
  const Scope scope(study, phase);
  return select("state = 'done' AND key IN (SELECT key FROM cell WHERE " + scope.where + ")",
                scope.values);
}

CellRow Store::cell(int64_t id) const {
  std::vector<CellRow> found = select(fmt::format("id = {}", id), {});
  if (found.empty()) fail(ErrorKind::config, "{}: no cell {}", database_->path(), id);
  return std::move(found.front());
}

std::vector<ResultRow> Store::results(const std::string& study, const std::string& phase) const {
  std::vector<ResultRow> list;
  const std::map<std::string, std::string> names = names_of_paths(*database_, study);
  for (const CellRow& c : cells(study, phase)) {
    if (c.state != "done") continue;
    list.push_back({c.study, shown_name(names, c.dataset), c.method, c.variant, c.seed, c.metric,
                    c.run_record(), c.config, c.environment, c.trial});
  }
  return list;
}

std::vector<MissingRow> Store::missing(const std::string& study) const {
  const bool tuned = this->study(study).tuned;
  const std::map<std::string, std::string> names = names_of_paths(*database_, study);
  std::vector<MissingRow> list;
  const auto add = [&](const CellRow& c, const std::string& reason) {
    list.push_back({shown_name(names, c.dataset), c.method, c.variant, c.seed, reason});
  };
  std::set<std::vector<std::string>> chosen;
  for (const CellRow& c : cells(study, tuned ? "final" : "run")) {
    chosen.insert({c.dataset, c.method, c.variant});
    if (c.state != "done") add(c, reason_of(c));
  }
  if (!tuned) return list;
  // Where no trial could be chosen there are no final cells; the trials say why.
  for (const CellRow& c : cells(study, "trial")) {
    if (c.state == "done" || !chosen.insert({c.dataset, c.method, c.variant}).second) continue;
    add(c, "no trial: " + reason_of(c));
  }
  return list;
}

}  // namespace grm::study
