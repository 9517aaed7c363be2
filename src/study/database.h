#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "grm/core/error.h"

// The few calls of a database that the store needs: a SQLite file (database_sqlite.cpp) or a PostgreSQL
// server (database_postgres.cpp). Those two alone know their library: a build without one has the
// same store, which cannot be opened there. Statements are SQL that both understand; what they say
// differently is a member of Database.
namespace grm::study {

using Value = std::variant<std::string, int64_t, double>;

/// Whether a name is that of a server: postgresql://... or postgres://...
bool is_server(const std::string& database);
/// The name as it may be shown: without a password.
std::string shown_database(const std::string& database);

/// The server went away in a transaction, of which nothing has happened.
class ConnectionLost : public Error {
 public:
  explicit ConnectionLost(const std::string& message) : Error(ErrorKind::io, message) {}
};

/// What a server's writers of many rows do one at a time.
constexpr const char* kOneWriter = "grm: one writer";

/// The rows of a query.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual bool next() = 0;
  virtual std::string text(int column) const = 0;
  virtual int64_t integer(int column) const = 0;
  virtual double number(int column) const = 0;
};

enum class Access { create, write, read };

/// Who else may write during a transaction: nobody, or others, in rows that are not locked. In a file
/// there is one writer at a time anyway.
enum class Writers { one, many };

class Database {
 public:
  explicit Database(std::string path) : path_(std::move(path)) {}
  virtual ~Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs one statement; returns the number of rows that it changed.
  int64_t run(const std::string& sql, const std::vector<Value>& values = {});
  const std::string& path() const { return path_; }  // as it may be shown

  /// `?` stands for a value. Error(io) with the reason.
  virtual std::unique_ptr<Cursor> query(const std::string& sql,
                                        const std::vector<Value>& values) = 0;
  virtual int64_t changed() const = 0;  // rows, by the last statement
  virtual bool server() const { return false; }

  virtual void begin(Writers writers) = 0;
  /// What several writers do one at a time: whether nobody else is at it, until the transaction ends.
  virtual bool try_lock(const std::string&) { return true; }
  /// Behind a SELECT in a transaction: rows that others hold are left out, and the others are held.
  virtual std::string skip_locked() const { return ""; }

  /// Of the tables; 0: there are none.
  virtual int64_t version() = 0;
  virtual void set_version(int64_t version) = 0;
  virtual bool empty() = 0;  // nobody made any table here
  /// A CREATE TABLE, in SQLite's words, as this database takes it.
  virtual std::string schema_text(const std::string& sqlite) const { return sqlite; }
  /// Before tables are made.
  virtual void prepare() {}
  /// The connection is let go; the next statement takes a new one.
  virtual void rest() {}

 private:
  std::string path_;
};

/// Opens a file, made by Access::create if missing, or a server's database. Others' locks, and a server
/// that went away, are waited for, up to a minute. Access::read changes nothing, and does with a disk
/// or a folder that cannot be written.
std::unique_ptr<Database> open_database(const std::string& name, Access access);
std::unique_ptr<Database> open_sqlite(const std::string& path, Access access);
std::unique_ptr<Database> open_postgres(const std::string& url, Access access);

/// A query in progress; columns count from 0.
class Rows {
 public:
  Rows(Database& database, const std::string& sql, const std::vector<Value>& values)
      : cursor_(database.query(sql, values)) {}
  bool next() { return cursor_->next(); }
  std::string text(int column) const { return cursor_->text(column); }
  int64_t integer(int column) const { return cursor_->integer(column); }
  double number(int column) const { return cursor_->number(column); }

 private:
  std::unique_ptr<Cursor> cursor_;
};

/// Everything until commit() happens for others at once, or not at all. In a file it begins as a writer,
/// so two transactions never wait for each other in a circle; on a server those with
/// Writers::one wait for each other, and others hold no row for which they wait.
class Transaction {
 public:
  explicit Transaction(Database& database, Writers writers = Writers::one);
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

/// What `work` does in a transaction, and once more where the connection was lost.
template <class Work>
auto atomically(Database& database, Writers writers, Work&& work) {
  for (int attempt = 0;; ++attempt) {
    try {
      Transaction transaction(database, writers);
      auto result = work();
      transaction.commit();
      return result;
    } catch (const ConnectionLost&) {
      if (attempt == 2) throw;
    }
  }
}

}  // namespace grm::study
