// Who works on cells. In a file they are processes of one machine, which knows whether they are alive.
// On a server they are workers of any machine: each says now and then that it is there, by the
// server's clock, and who has been silent for longer than it promised has lost its cells.
#include <unistd.h>

#include <filesystem>

#include "core/files.h"
#include "core/system/process.h"
#include "study/store.h"
#include "study/store_scope.h"

namespace grm::study {
namespace {

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// Where numbers of processes mean the same processes: a boot of a machine, and a container on it.
std::string place_of_numbers() {
  const std::string me = own_identity();
  std::error_code ignored;
  return me.substr(0, me.find('/')) + " " +
         std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

}  // namespace

bool Store::server() const {
  return database_->server();
}

void Store::rest() {
  database_->rest();
}

std::string Store::join(const std::string& study, const std::string& job, int slots,
                        double patience) {
  if (!server()) return own_identity();
  const std::string host = host_name(), place = place_of_numbers();
  const std::string name = fmt::format("{}/{}/{:016x}", host, getpid(), unpredictable());
  atomically(*database_, Writers::one, [&] {
    // A job of a cluster that runs again is the end of its former run.
    if (!job.empty()) database_->run("DELETE FROM worker WHERE job = ?", {job});
    // Nor need anybody wait for those who died here.
    Rows here(*database_, "SELECT name, identity FROM worker WHERE place = ?", {place});
    while (here.next()) {
      if (is_alive(here.text(1))) continue;
      database_->run("DELETE FROM worker WHERE name = ?", {here.text(0)});
    }
    return database_->run(
        "INSERT INTO worker (name, host, process, place, identity, job, study, slots, patience) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
        {name, host, int64_t{getpid()}, place, own_identity(), job, study, int64_t{slots},
         patience});
  });
  sweep(study, "");
  return name;
}

bool Store::beat(const std::string& worker, int64_t done) {
  return !server() || database_->run("UPDATE worker SET beat = now(), done = ? WHERE name = ?",
                                     {done, worker}) > 0;
}

void Store::leave(const std::string& worker) {
  if (!server()) return;
  database_->run("DELETE FROM worker WHERE name = ?", {worker});
  atomically(*database_, Writers::one, [&] {
    free_dead();
    return true;
  });
}

std::string Store::child_name(const std::string& parent, const std::string& identity) const {
  return server() ? parent + " " + identity : identity;
}

void Store::sweep(const std::string& study, const std::string& phase) {
  atomically(*database_, Writers::one, [&] {
    free_dead();
    reuse(Scope(study, phase));
    return true;
  });
}

void Store::free_dead() {
  if (!server()) {
    for (const CellRow& cell : select("state = 'running'", {})) {
      if (is_alive(cell.owner)) continue;
      database_->run("UPDATE cell SET state = 'todo', owner = '' WHERE id = ?", {cell.id});
    }
    return;
  }
  database_->run("DELETE FROM worker WHERE beat + patience * INTERVAL '1 second' < now()");
  database_->run(
      "UPDATE cell SET state = 'todo', owner = '' WHERE state = 'running' AND NOT EXISTS "
      "(SELECT 1 FROM worker WHERE worker.name = split_part(cell.owner, ' ', 1))");
}

}  // namespace grm::study
