// The result database: how far its studies are, and who works on them.
#include <fmt/format.h>

#include <algorithm>

#include "core/system/process.h"
#include "study/store.h"
#include "study/store_scope.h"

namespace grm::study {
namespace {

// "boot/process/start" and whatever a server's names have in front.
int64_t process_in(const std::string& identity) {
  const size_t first = identity.find('/');
  return first == std::string::npos ? 0 : std::strtoll(identity.c_str() + first + 1, nullptr, 10);
}

}  // namespace

std::map<std::string, int64_t> Store::counts(const std::string& study,
                                             const std::string& phase) const {
  std::map<std::string, int64_t> found;
  const Scope scope(study, phase);
  Rows rows(*database_, "SELECT state, COUNT(*) FROM cell WHERE " + scope.where + " GROUP BY state",
            scope.bound());
  while (rows.next()) found[rows.text(0)] = rows.integer(1);
  return found;
}

std::map<std::vector<std::string>, double> Store::numbers_of(
    const std::string& columns, const std::string& number, const std::string& where,
    const std::vector<std::string>& values) const {
  const size_t count = static_cast<size_t>(std::count(columns.begin(), columns.end(), ',')) + 1;
  std::map<std::vector<std::string>, double> found;
  Rows rows(*database_,
            fmt::format("SELECT {0}, {1} FROM cell WHERE {2} GROUP BY {0}", columns, number, where),
            {values.begin(), values.end()});
  while (rows.next()) {
    std::vector<std::string> name;
    for (size_t k = 0; k < count; ++k) name.push_back(rows.text(static_cast<int>(k)));
    found[name] = rows.number(static_cast<int>(count));
  }
  return found;
}

std::map<std::vector<std::string>, double> Store::mean_seconds(const std::string& study) const {
  const Scope scope(study);
  return numbers_of("dataset, method, variant", "AVG(seconds)",
                    study.empty() ? "state = 'done'" : "study = ? AND state = 'done'",
                    scope.values);
}

std::map<std::vector<std::string>, double> Store::left(const std::string& study,
                                                       const std::string& phase) const {
  const Scope scope(study, phase);
  return numbers_of("dataset, method, variant", "SUM(CASE state WHEN 'todo' THEN 1.0 ELSE 0.5 END)",
                    scope.where + " AND state IN ('todo', 'running')", scope.values);
}

std::map<std::vector<std::string>, double> Store::peak_memory() const {
  return numbers_of("dataset, method", "MAX(peak_mib)", "state = 'done'", {});
}

std::vector<int64_t> Store::ended(const std::string& study, const std::string& phase) const {
  std::vector<int64_t> numbers;
  const Scope scope(study, phase);
  Rows rows(*database_,
            "SELECT id FROM cell WHERE " + scope.where +
                " AND state NOT IN ('todo', 'running') ORDER BY finished, id",
            scope.bound());
  while (rows.next()) numbers.push_back(rows.integer(0));
  return numbers;
}

std::vector<std::string> Store::ends(const std::string& study, size_t most) const {
  std::vector<std::string> times;
  const Scope scope(study);
  Rows rows(*database_,
            fmt::format("SELECT finished FROM cell WHERE {} AND state IN ('done', 'failed') "
                        "AND message NOT LIKE 'the same run as%' ORDER BY finished DESC LIMIT {}",
                        scope.where, most),
            scope.bound());
  while (rows.next()) times.push_back(rows.text(0));
  return times;
}

std::vector<WorkerRow> Store::workers() const {
  std::vector<WorkerRow> list;
  if (database_->server()) {
    Rows rows(*database_,
              "SELECT name, host, process, job, study, slots, done, patience, "
              "EXTRACT(EPOCH FROM now() - started), EXTRACT(EPOCH FROM now() - beat), "
              "(SELECT COUNT(*) FROM cell WHERE state = 'running' AND "
              "split_part(owner, ' ', 1) = worker.name) FROM worker ORDER BY started, name",
              {});
    while (rows.next()) {
      list.push_back({rows.text(0), rows.text(1), rows.integer(2), rows.text(3), rows.text(4),
                      rows.integer(5), rows.integer(6), rows.integer(10), rows.number(8),
                      rows.number(9), rows.number(7)});
      list.back().alive = list.back().silent <= list.back().patience;
    }
    return list;
  }
  // In a file each cell names the process that runs it, and this machine knows which are alive.
  Rows rows(*database_,
            "SELECT owner, MIN(study), COUNT(*) FROM cell WHERE state = 'running' GROUP BY owner "
            "ORDER BY owner",
            {});
  while (rows.next()) {
    WorkerRow worker;
    worker.name = rows.text(0);
    worker.process = process_in(worker.name);
    worker.study = rows.text(1);
    worker.slots = 1;
    worker.running = rows.integer(2);
    worker.alive = is_alive(worker.name);
    list.push_back(std::move(worker));
  }
  return list;
}

}  // namespace grm::study
