#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

// The few calls of SQLite that the store needs. database.cpp alone knows the library: a build
// without it has the same store, which cannot be opened.
namespace grm::study {

using Value = std::variant<std::string, int64_t, double>;

class Database;

/// A query in progress; columns count from 0.
class Rows {
 public:
  Rows(const Database& database, const std::string& sql, const std::vector<Value>& values);
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  bool next();
  std::string text(int column) const;
  int64_t integer(int column) const;
  double number(int column) const;

 private:
  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

enum class Access { create, write, read };

class Database {
 public:
  /// Opens a file, made by Access::create if missing. Others' locks are waited for, up to a minute.
  /// Access::read changes nothing, and does with a disk or a folder that cannot be written.
  Database(const std::string& path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs one statement; returns the number of rows that it changed.
  int64_t run(const std::string& sql, const std::vector<Value>& values = {});
  const std::string& path() const { return path_; }

 private:
  friend class Rows;
  void open(const std::string& name, int flags);
  [[noreturn]] void broken(const std::string& what) const;
  std::string path_;
  sqlite3* handle_ = nullptr;
};

/// Everything until commit() happens for others at once, or not at all. Begins as a writer, so two
/// transactions never wait for each other in a circle.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace grm::study
