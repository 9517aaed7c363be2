// Results in a PostgreSQL database, which any number of machines may use at once. The one file that
// knows libpq.
#include "grm/core/error.h"
#include "study/database.h"

#ifdef GRM_WITH_POSTGRES
#include <libpq-fe.h>
#include <poll.h>

#include <cstdlib>

#include "core/clock.h"
#include "core/text.h"

namespace grm::study {
namespace {

constexpr double kWaitSeconds = 60;
constexpr int kPauseMilliseconds = 500;

using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

std::string first_line(const std::string& text) {
  const size_t end = text.find_last_not_of(" \n");
  std::string cut = end == std::string::npos ? "" : text.substr(0, end + 1);
  return replaced(cut, {{"\n", "; "}});
}

// `?` outside of quotes becomes $1, $2, ...
std::string numbered(const std::string& sql) {
  std::string out;
  int number = 0;
  bool quoted = false;
  for (const char c : sql) {
    if (c == '\'') quoted = !quoted;
    if (c == '?' && !quoted)
      out += fmt::format("${}", ++number);
    else
      out += c;
  }
  return out;
}

std::string value_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    // A server keeps no bytes that are no text. What names a cell is text already.
    return is_utf8(*text) && text->find('\0') == std::string::npos
               ? *text
               : replaced(utf8_text(*text), {{std::string(1, '\0'), "\\x00"}});
  }
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  return fmt::format("{}", std::get<double>(value));
}

// The connection is gone, or the server ends it: no error of its own, or one that says so.
bool ends_connection(const PGconn* connection, const PGresult* result) {
  const char* code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  if (!code || PQstatus(connection) != CONNECTION_OK) return true;
  const std::string kind = std::string(code).substr(0, 4);
  return kind == "57P0" || kind.substr(0, 2) == "08";
}

class PostgresCursor : public Cursor {
 public:
  explicit PostgresCursor(Result result) : result_(std::move(result)) {}
  bool next() override { return ++row_ < PQntuples(result_.get()); }
  std::string text(int column) const override {
    return {PQgetvalue(result_.get(), row_, column),
            static_cast<size_t>(PQgetlength(result_.get(), row_, column))};
  }
  int64_t integer(int column) const override {
    return std::strtoll(PQgetvalue(result_.get(), row_, column), nullptr, 10);
  }
  double number(int column) const override {
    return std::strtod(PQgetvalue(result_.get(), row_, column), nullptr);
  }

 private:
  Result result_;
  int row_ = -1;
};

class PostgresDatabase : public Database {
 public:
  PostgresDatabase(const std::string& url, Access access)
      : Database(shown_database(url)), url_(url), access_(access) {
    std::string reason = connect();
    // Whoever goes on with something waits for a server that is being started anew.
    for (const Stopwatch watch;
         !reason.empty() && access == Access::write && watch.seconds() < kWaitSeconds;) {
      poll(nullptr, 0, kPauseMilliseconds);
      reason = connect();
    }
    if (!reason.empty()) {
      fail(ErrorKind::io, "{}: the result database cannot be opened: {}", path(), reason);
    }
  }
  ~PostgresDatabase() override { PQfinish(connection_); }

  std::unique_ptr<Cursor> query(const std::string& sql, const std::vector<Value>& values) override;
  int64_t changed() const override { return changed_; }
  bool server() const override { return true; }
  void begin(Writers writers) override {
    run("BEGIN");
    if (writers == Writers::one) {
      run("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", {std::string(kOneWriter)});
    }
  }
  bool try_lock(const std::string& name) override {
    return ask("SELECT pg_try_advisory_xact_lock(hashtextextended(?, 0))", {name}) == "t";
  }
  std::string skip_locked() const override { return " FOR UPDATE SKIP LOCKED"; }
  int64_t version() override {
    if (ask("SELECT to_regclass('grm_results') IS NOT NULL") != "t") return 0;
    return std::strtoll(ask("SELECT version FROM grm_results").c_str(), nullptr, 10);
  }
  void set_version(int64_t version) override {
    run("CREATE TABLE grm_results (version BIGINT NOT NULL)");
    run("INSERT INTO grm_results (version) VALUES (?)", {version});
  }
  bool empty() override {
    return ask("SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename "
               "IN ('study', 'cell', 'worker')") == "0";
  }
  // Text is ordered by its bytes, as in a file.
  std::string schema_text(const std::string& sqlite) const override {
    return replaced(sqlite,
                    {{" INTEGER PRIMARY KEY", " BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"},
                     {" INTEGER", " BIGINT"},
                     {" REAL", " DOUBLE PRECISION"},
                     {" TEXT", " TEXT COLLATE \"C\""}});
  }
  void rest() override {
    PQfinish(connection_);
    connection_ = nullptr;
  }

 private:
  std::string connect();
  std::string ask(const std::string& sql, const std::vector<Value>& values = {}) {
    const std::unique_ptr<Cursor> rows = query(sql, values);
    return rows->next() ? rows->text(0) : "";
  }

  const std::string url_;
  const Access access_;
  PGconn* connection_ = nullptr;
  bool in_transaction_ = false;
  int64_t changed_ = 0;
};

// What went wrong, "" if nothing.
std::string PostgresDatabase::connect() {
  rest();
  // Words before the name are what it may change, those behind it stand.
  const char* words[] = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                         "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                         "dbname",           "client_encoding",  nullptr};
  const char* values[] = {"20", "30", "10", "3", "60000", "grm", url_.c_str(), "UTF8", nullptr};
  connection_ = PQconnectdbParams(words, values, 1);
  std::string reason;
  if (PQstatus(connection_) != CONNECTION_OK) {
    reason = first_line(PQerrorMessage(connection_));
    rest();
    return reason;
  }
  PQsetNoticeProcessor(
      connection_, [](void*, const char*) {}, nullptr);
  if (access_ == Access::read) {
    PQclear(PQexec(connection_, "SET default_transaction_read_only = on"));
  }
  return "";
}

// A server that was started anew, or a network that was gone for a moment, ends a connection, not a
// worker. A statement outside of a transaction is then sent again: ours name the owner that they expect,
// so the second time changes nothing more.
std::unique_ptr<Cursor> PostgresDatabase::query(const std::string& sql,
                                                const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(value_text(value));
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const std::string words = numbered(sql);
  const Stopwatch watch;
  for (;;) {
    std::string reason = connection_ ? "" : connect();
    if (connection_) {
      Result result(PQexecParams(connection_, words.c_str(), static_cast<int>(values.size()),
                                 nullptr, pointers.data(), nullptr, nullptr, 0),
                    PQclear);
      const ExecStatusType status = PQresultStatus(result.get());
      if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        changed_ = std::strtoll(PQcmdTuples(result.get()), nullptr, 10);
        in_transaction_ = PQtransactionStatus(connection_) != PQTRANS_IDLE;
        return std::make_unique<PostgresCursor>(std::move(result));
      }
      reason = first_line(PQerrorMessage(connection_));
      if (!ends_connection(connection_, result.get())) {
        fail(ErrorKind::io, "{}: {} failed: {}", path(), sql, reason);
      }
      rest();
    }
    if (in_transaction_) {
      in_transaction_ = false;
      throw ConnectionLost(fmt::format("{}: the connection was lost: {}", path(), reason));
    }
    if (watch.seconds() > kWaitSeconds) {
      fail(ErrorKind::io, "{}: the server has not answered for {:g} s: {}", path(), kWaitSeconds,
           reason);
    }
    poll(nullptr, 0, kPauseMilliseconds);
  }
}

}  // namespace

std::unique_ptr<Database> open_postgres(const std::string& url, Access access) {
  return std::make_unique<PostgresDatabase>(url, access);
}

}  // namespace grm::study

#else

namespace grm::study {

std::unique_ptr<Database> open_postgres(const std::string& url, Access) {
  fail(ErrorKind::config,
       "{}: this build keeps no results in PostgreSQL, since libpq was not there when it was built "
       "(Debian: libpq-dev); build it again, or name a file with --db",
       shown_database(url));
}

}  // namespace grm::study

#endif
