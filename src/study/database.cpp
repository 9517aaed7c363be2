#include "study/database.h"

#include <cctype>
#include <filesystem>
#include <stdexcept>

#include "grm/core/error.h"

#ifdef GRM_WITH_SQLITE
#include <sqlite3.h>

namespace grm::study {
namespace {
constexpr int kWaitMilliseconds = 60000;

// The file as SQLite takes it without locks and helper files.
std::string unchanging(const std::string& path) {
  std::string uri = "file:";
  for (const unsigned char c : std::filesystem::absolute(path).string()) {
    const bool plain = std::isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return uri + "?immutable=1";
}
}  // namespace

void Database::broken(const std::string& what) const {
  const int code = handle_ ? sqlite3_errcode(handle_) : SQLITE_NOMEM;
  const std::string reason = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    fail(ErrorKind::io, "{}: other processes hold the database for more than {} s; try again",
         path_, kWaitMilliseconds / 1000);
  }
  fail(ErrorKind::io, "{}: {} failed: {}", path_, what, reason);
}

Database::Database(const std::string& path, Access access) : path_(path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (access == Access::create && !parent.empty()) {
    std::filesystem::create_directories(parent, ignored);
  }
  open(path, SQLITE_OPEN_READWRITE | (access == Access::create ? SQLITE_OPEN_CREATE : 0));
  if (access != Access::read) return;
  // As a writer that writes nothing: a pure reader would leave the helper files of the write-ahead
  // log behind. Where those cannot be made nobody writes, so the file alone is all there is.
  sqlite3_exec(handle_, "PRAGMA query_only = 1", nullptr, nullptr, nullptr);
  const int code =
      sqlite3_exec(handle_, "SELECT 1 FROM sqlite_master LIMIT 1", nullptr, nullptr, nullptr);
  if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) return;
  const std::string log = path + "-wal";
  if (std::filesystem::exists(log, ignored) && std::filesystem::file_size(log, ignored) > 0) {
    fail(ErrorKind::io,
         "{}: its last changes are in {} and the folder cannot be written, so they cannot be put "
         "together; copy both files to a folder that can be written",
         path, log);
  }
  open(unchanging(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

void Database::open(const std::string& name, int flags) {
  sqlite3_close(handle_);
  handle_ = nullptr;
  if (sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string reason = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
    sqlite3_close(handle_);
    handle_ = nullptr;
    fail(ErrorKind::io, "{}: the result database cannot be opened: {}", path_, reason);
  }
  sqlite3_busy_timeout(handle_, kWaitMilliseconds);
}

Database::~Database() {
  sqlite3_close(handle_);
}

int64_t Database::run(const std::string& sql, const std::vector<Value>& values) {
  Rows rows(*this, sql, values);
  while (rows.next()) {
  }
  return sqlite3_changes(handle_);
}

Rows::Rows(const Database& database, const std::string& sql, const std::vector<Value>& values)
    : database_(database) {
  if (sqlite3_prepare_v2(database.handle_, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
    database.broken(sql);
  }
  for (size_t k = 0; k < values.size(); ++k) {
    const int at = static_cast<int>(k) + 1;
    int code = SQLITE_OK;
    if (const auto* text = std::get_if<std::string>(&values[k])) {
      code = sqlite3_bind_text(statement_, at, text->data(), static_cast<int>(text->size()),
                               SQLITE_TRANSIENT);
    } else if (const auto* whole = std::get_if<int64_t>(&values[k])) {
      code = sqlite3_bind_int64(statement_, at, *whole);
    } else {
      code = sqlite3_bind_double(statement_, at, std::get<double>(values[k]));
    }
    if (code != SQLITE_OK) {
      sqlite3_finalize(statement_);
      database.broken(sql);
    }
  }
}

Rows::~Rows() {
  sqlite3_finalize(statement_);
}

bool Rows::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.broken(sqlite3_sql(statement_));
  return false;
}

std::string Rows::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return bytes ? std::string(bytes, sqlite3_column_bytes(statement_, column)) : std::string();
}

int64_t Rows::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Rows::number(int column) const {
  return sqlite3_column_double(statement_, column);
}

}  // namespace grm::study

#else

namespace grm::study {
namespace {
[[noreturn]] void absent() {
  fail(ErrorKind::config,
       "this build has no SQLite, so it keeps no results of studies; build it with "
       "-DGRM_WITH_SQLITE=ON (Debian: libsqlite3-dev)");
}
}  // namespace

Database::Database(const std::string& path, Access) : path_(path) {
  absent();
}
void Database::open(const std::string&, int) {
  absent();
}
Database::~Database() = default;
void Database::broken(const std::string&) const {
  absent();
}
int64_t Database::run(const std::string&, const std::vector<Value>&) {
  absent();
}
Rows::Rows(const Database& database, const std::string&, const std::vector<Value>&)
    : database_(database) {
  absent();
}
Rows::~Rows() = default;
bool Rows::next() {
  absent();
}
std::string Rows::text(int) const {
  absent();
}
int64_t Rows::integer(int) const {
  absent();
}
double Rows::number(int) const {
  absent();
}

}  // namespace grm::study

#endif

namespace grm::study {

Transaction::Transaction(Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
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
