#include "study/database.h"

#include <algorithm>
#include <stdexcept>

#include "grm/core/error.h"

namespace grm::study {

bool is_server(const std::string& database) {
  return database.rfind("postgresql://", 0) == 0 || database.rfind("postgres://", 0) == 0;
}

std::string shown_database(const std::string& database) {
  if (!is_server(database)) return database;
  std::string shown = database;
  const size_t user = shown.find("://") + 3;
  const size_t at = shown.find('@', user), end = shown.find_first_of("/?", user);
  const size_t colon = shown.find(':', user);
  if (at != std::string::npos && (end == std::string::npos || at < end) && colon < at) {
    shown.erase(colon, at - colon);
  }
  // As a parameter, with the & in front of it or behind it.
  const size_t found = std::min(shown.find("?password="), shown.find("&password="));
  if (found != std::string::npos) {
    const size_t next = shown.find('&', found + 1);
    const bool first = shown[found] == '?' && next != std::string::npos;
    shown.erase(first ? found + 1 : found, next == std::string::npos ? next : next - found);
  }
  return shown;
}

int64_t Database::run(const std::string& sql, const std::vector<Value>& values) {
  const std::unique_ptr<Cursor> rows = query(sql, values);
  while (rows->next()) {
  }
  return changed();
}

std::unique_ptr<Database> open_database(const std::string& name, Access access) {
  return is_server(name) ? open_postgres(name, access) : open_sqlite(name, access);
}

Transaction::Transaction(Database& database, Writers writers) : database_(database) {
  database_.begin(writers);
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const std::exception&) {
    // The database rolls back by itself when the connection ends.
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace grm::study
