// Results in a SQLite file. The one file that knows this library.
#include <cctype>
#include <filesystem>

#include "grm/core/error.h"
#include "study/database.h"

#ifdef GRM_WITH_SQLITE
#include <sqlite3.h>
#include <unistd.h>

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

class SqliteDatabase : public Database {
 public:
  SqliteDatabase(const std::string& path, Access access);
  ~SqliteDatabase() override { sqlite3_close(handle_); }

  std::unique_ptr<Cursor> query(const std::string& sql, const std::vector<Value>& values) override;
  int64_t changed() const override { return sqlite3_changes(handle_); }
  void begin(Writers) override { run("BEGIN IMMEDIATE"); }
  int64_t version() override { return number_of("PRAGMA user_version"); }
  void set_version(int64_t version) override {
    run(fmt::format("PRAGMA user_version = {}", version));
  }
  bool empty() override { return number_of("SELECT COUNT(*) FROM sqlite_master") == 0; }
  void prepare() override;

  [[noreturn]] void broken(const std::string& what) const;
  sqlite3* handle() const { return handle_; }

 private:
  void open(const std::string& name, int flags);
  int64_t number_of(const std::string& sql) {
    const std::unique_ptr<Cursor> rows = query(sql, {});
    return rows->next() ? rows->integer(0) : 0;
  }
  sqlite3* handle_ = nullptr;
};

class SqliteCursor : public Cursor {
 public:
  SqliteCursor(const SqliteDatabase& database, const std::string& sql,
               const std::vector<Value>& values)
      : database_(database) {
    if (sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
      database.broken(sql);
    }
    for (size_t k = 0; k < values.size(); ++k) {
      if (bind(static_cast<int>(k) + 1, values[k]) == SQLITE_OK) continue;
      sqlite3_finalize(statement_);
      database.broken(sql);
    }
  }
  ~SqliteCursor() override { sqlite3_finalize(statement_); }
  SqliteCursor(const SqliteCursor&) = delete;
  SqliteCursor& operator=(const SqliteCursor&) = delete;

  bool next() override {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) database_.broken(sqlite3_sql(statement_));
    return false;
  }
  std::string text(int column) const override {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes ? std::string(bytes, sqlite3_column_bytes(statement_, column)) : std::string();
  }
  int64_t integer(int column) const override { return sqlite3_column_int64(statement_, column); }
  double number(int column) const override { return sqlite3_column_double(statement_, column); }

 private:
  int bind(int at, const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      return sqlite3_bind_text(statement_, at, text->data(), static_cast<int>(text->size()),
                               SQLITE_TRANSIENT);
    }
    if (const auto* whole = std::get_if<int64_t>(&value)) {
      return sqlite3_bind_int64(statement_, at, *whole);
    }
    return sqlite3_bind_double(statement_, at, std::get<double>(value));
  }

  const SqliteDatabase& database_;
  sqlite3_stmt* statement_ = nullptr;
};

std::unique_ptr<Cursor> SqliteDatabase::query(const std::string& sql,
                                              const std::vector<Value>& values) {
  return std::make_unique<SqliteCursor>(*this, sql, values);
}

void SqliteDatabase::broken(const std::string& what) const {
  const int code = handle_ ? sqlite3_errcode(handle_) : SQLITE_NOMEM;
  const std::string reason = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    fail(ErrorKind::io, "{}: other processes hold the database for more than {} s; try again",
         path(), kWaitMilliseconds / 1000);
  }
  fail(ErrorKind::io, "{}: {} failed: {}", path(), what, reason);
}

SqliteDatabase::SqliteDatabase(const std::string& path, Access access) : Database(path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (access == Access::create && !parent.empty()) {
    std::filesystem::create_directories(parent, ignored);
  }
  open(path, SQLITE_OPEN_READWRITE | (access == Access::create ? SQLITE_OPEN_CREATE : 0));
  if (access != Access::read) {
    run("PRAGMA synchronous = NORMAL");
    return;
  }
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

void SqliteDatabase::open(const std::string& name, int flags) {
  sqlite3_close(handle_);
  handle_ = nullptr;
  if (sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string reason = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
    sqlite3_close(handle_);
    handle_ = nullptr;
    fail(ErrorKind::io, "{}: the result database cannot be opened: {}", path(), reason);
  }
  sqlite3_busy_timeout(handle_, kWaitMilliseconds);
}

// Readers and one writer at a time do not hinder each other in this mode. Another process that
// opens the file for the first time may be in the way, for a moment.
void SqliteDatabase::prepare() {
  for (int attempt = 0;; ++attempt) {
    try {
      query("PRAGMA journal_mode = WAL", {})->next();
      return;
    } catch (const Error&) {
      if (attempt == 100) throw;
      usleep(50000);
    }
  }
}

}  // namespace

std::unique_ptr<Database> open_sqlite(const std::string& path, Access access) {
  return std::make_unique<SqliteDatabase>(path, access);
}

}  // namespace grm::study

#else

namespace grm::study {

std::unique_ptr<Database> open_sqlite(const std::string&, Access) {
  fail(ErrorKind::config,
       "this build has no SQLite, so it keeps no results of studies in a file; build it with "
       "-DGRM_WITH_SQLITE=ON (Debian: libsqlite3-dev)");
}

}  // namespace grm::study

#endif
