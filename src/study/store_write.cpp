// The result database: planning, claiming and finishing cells.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/clock.h"
#include "core/files.h"
#include "grm/core/error.h"
#include "study/database.h"
#include "study/store.h"
#include "study/store_scope.h"
#include "train/recorded_config.h"

namespace grm::study {
namespace {

// Of a cell that starts anew.
constexpr const char* kFresh =
    "state = 'todo', owner = '', attempts = 0, message = '', folder = '', record = '', "
    "environment = '', metric = '', seconds = 0, peak_mib = 0, started = '', finished = ''";

constexpr size_t kPage = 64;  // cells that are looked at in one go

}  // namespace

std::vector<std::string> Store::plan(const StudySpec& spec, const std::string& phase,
                                     const std::vector<PlannedCell>& cells) {
  return atomically(*database_, Writers::one, [&] { return plan_now(spec, phase, cells); });
}

std::vector<std::string> Store::plan_now(const StudySpec& spec, const std::string& phase,
                                         const std::vector<PlannedCell>& cells) {
  const std::string now = timestamp();
  database_->run(
      "INSERT INTO study (name, about, spec, created) VALUES (?, ?, ?, ?) "
      "ON CONFLICT (name) DO UPDATE SET about = excluded.about, spec = excluded.spec",
      {spec.name, spec.about, spec.text, now});
  std::set<int64_t> before;
  for (const CellRow& cell :
       select("study = ? AND phase = ? AND planned = 1", {spec.name, phase})) {
    before.insert(cell.id);
  }
  database_->run("UPDATE cell SET planned = 0 WHERE study = ? AND phase = ?", {spec.name, phase});
  int64_t changed = 0, position = 0;
  for (const PlannedCell& cell : cells) {
    const std::string key = sha256(cell.config);
    Rows rows(*database_,
              "SELECT id, key FROM cell WHERE study = ? AND phase = ? AND dataset = ? AND "
              "method = ? AND variant = ? AND trial = ? AND seed = ?",
              {spec.name, phase, cell.dataset, cell.method, cell.variant, cell.trial, cell.seed});
    if (!rows.next()) {
      database_->run(
          "INSERT INTO cell (study, phase, dataset, method, variant, trial, seed, position, "
          "config, key, created, planned, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, "
          "'todo')",
          {spec.name, phase, cell.dataset, cell.method, cell.variant, cell.trial, cell.seed,
           position++, cell.config, key, now});
      continue;
    }
    const int64_t id = rows.integer(0);
    before.erase(id);
    database_->run("UPDATE cell SET planned = 1, position = ? WHERE id = ?", {position++, id});
    if (rows.text(1) == key) continue;
    ++changed;
    database_->run(fmt::format("UPDATE cell SET config = ?, key = ?, {} WHERE id = ?", kFresh),
                   {cell.config, key, id});
  }
  std::vector<std::string> lines;
  if (changed > 0) {
    lines.push_back(
        fmt::format("{} cells have other option values than before and start anew", changed));
  }
  if (!before.empty()) {
    lines.push_back(fmt::format(
        "{} cells are no longer part of the study; their results are set aside", before.size()));
  }
  return lines;
}

void Store::reopen(const std::string& study, const std::string& phase, bool retry_failed) {
  const std::string which = retry_failed ? "state IN ('no_data', 'failed')" : "state = 'no_data'";
  atomically(*database_, Writers::one, [&] {
    return database_->run(
        "UPDATE cell SET state = 'todo', message = '' WHERE study = ? AND phase = ? AND planned = "
        "1 "
        "AND " +
            which,
        {study, phase});
  });
}

void Store::distrust(const std::vector<int64_t>& anew, const std::vector<int64_t>& others) {
  for (const int64_t id : others) distrusted_ += fmt::format(", {}", id);
  if (anew.empty()) return;
  atomically(*database_, Writers::one, [&] {
    return database_->run(fmt::format("UPDATE cell SET {} WHERE state = 'done' AND id IN ({})",
                                      kFresh, fmt::join(anew, ", ")));
  });
}

void Store::reuse(const Scope& scope) {
  const std::string usable = fmt::format(
      "FROM cell o WHERE o.key = cell.key AND o.state = 'done' AND o.id NOT IN ({})", distrusted_);
  database_->run(
      fmt::format(
          "UPDATE cell SET (state, message, folder, record, environment, metric, seconds, "
          "peak_mib, finished) = (SELECT 'done', 'the same run as in study ' || o.study, o.folder, "
          "o.record, o.environment, o.metric, o.seconds, o.peak_mib, o.finished {0} "
          "ORDER BY o.id LIMIT 1) WHERE {1} AND state = 'todo' AND EXISTS (SELECT 1 {0})",
          usable, scope.where),
      scope.bound());
}

// Whether the cell is still free, and from now on held: on a server others may be taking it, or another
// one of its configuration, at this very moment.
bool Store::hold(const CellRow& cell) {
  if (!database_->try_lock(sha256(cell.config))) return false;
  Rows rows(*database_,
            "SELECT id FROM cell WHERE id = ? AND state = 'todo' AND " + not_elsewhere() +
                database_->skip_locked(),
            {cell.id});
  return rows.next();
}

// A configuration that others run is waited for, one that they have done will be copied.
std::string Store::not_elsewhere() const {
  return fmt::format(
      "NOT EXISTS (SELECT 1 FROM cell o WHERE o.key = cell.key AND (o.state = 'running' OR "
      "(o.state = 'done' AND o.id NOT IN ({}))))",
      distrusted_);
}

std::optional<CellRow> Store::claim(const std::string& study, const std::string& phase,
                                    const std::string& owner,
                                    const std::function<bool(const CellRow&)>& fits) {
  return atomically(*database_, Writers::many, [&]() -> std::optional<CellRow> {
    const Scope scope(study, phase);
    // On a server one of those who ask does this for all.
    if (database_->try_lock(kOneWriter)) {
      free_dead();
      reuse(scope);
    }
    for (size_t from = 0;; from += kPage) {
      std::vector<CellRow> page =
          select(scope.where + " AND state = 'todo' AND " + not_elsewhere(), scope.values,
                 fmt::format(" LIMIT {} OFFSET {}", kPage, from));
      for (CellRow& cell : page) {
        if (!fits(cell) || !hold(cell)) continue;
        database_->run(
            "UPDATE cell SET state = 'running', owner = ?, attempts = attempts + 1, message = '', "
            "started = ? WHERE id = ?",
            {owner, timestamp(), cell.id});
        cell.state = "running";
        cell.owner = owner;
        ++cell.attempts;
        return std::move(cell);
      }
      if (page.size() < kPage) return std::nullopt;
    }
  });
}

bool Store::hand_over(int64_t id, const std::string& owner, const std::string& new_owner) {
  return database_->run(
             "UPDATE cell SET owner = ? WHERE id = ? AND owner = ? AND state = 'running'",
             {new_owner, id, owner}) > 0;
}

bool Store::finish(int64_t id, const std::string& owner, const CellResult& result) {
  return database_->run(
             "UPDATE cell SET state = 'done', owner = '', message = '', folder = ?, record = ?, "
             "environment = ?, metric = ?, seconds = ?, peak_mib = ?, finished = ? "
             "WHERE id = ? AND owner = ? AND state = 'running'",
             {result.folder, result.record, result.environment, result.metric, result.seconds,
              result.peak_mib, timestamp(), id, owner}) > 0;
}

bool Store::give_up(int64_t id, const std::string& owner, const std::string& state,
                    const std::string& message) {
  return database_->run(
             "UPDATE cell SET state = ?, message = ?, owner = '', finished = ? "
             "WHERE id = ? AND owner = ? AND state = 'running'",
             {state, message, timestamp(), id, owner}) > 0;
}

void Store::spread_no_data(int64_t id) {
  atomically(*database_, Writers::one, [&] {
    spread_now(cell(id));
    return true;
  });
}

void Store::spread_now(const CellRow& from) {
  for (const CellRow& other : select("study = ? AND phase = ? AND dataset = ? AND planned = 1 AND "
                                     "state = 'todo'",
                                     {from.study, from.phase, from.dataset})) {
    if (dataset_part(other.config) != dataset_part(from.config)) continue;
    database_->run("UPDATE cell SET state = 'no_data', message = ? WHERE id = ?",
                   {from.message, other.id});
  }
}

void Store::leave_to_others(int64_t id) {
  database_->run("UPDATE cell SET state = 'todo', message = '' WHERE id = ? AND state = 'no_data'",
                 {id});
}

bool Store::finished(const std::string& config) const {
  Rows rows(*database_,
            fmt::format("SELECT 1 FROM cell WHERE key = ? AND state = 'done' AND id NOT IN ({}) "
                        "LIMIT 1",
                        distrusted_),
            {sha256(config)});
  return rows.next();
}

}  // namespace grm::study
