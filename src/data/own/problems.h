#pragma once

#include <fmt/core.h>

#include <map>
#include <string>
#include <vector>

#include "grm/core/error.h"
#include "grm/data/own_data.h"

// Reading own data: the files of this folder share one sink of problems. Loading stops at the first
// one, checking continues as far as anything can still be read; the code is the same.
namespace grm::own {

/// Thrown when nothing more can be read of what was asked for; the reason is in the sink.
struct Stopped {};

/// The first problem of a folder that is being loaded.
class FirstProblem : public Error {
 public:
  explicit FirstProblem(const Problem& problem) : Error(ErrorKind::data, problem.text()) {}
};

class Problems {
 public:
  /// `collect`: keep them all. Otherwise the first one is thrown as FirstProblem.
  explicit Problems(bool collect) : collect_(collect) {}

  void add(Problem problem);
  [[noreturn]] void stop(Problem problem);
  /// Something that may be meant so, and then is no problem.
  void warn(Problem warning);
  /// What a reader of another station threw about `file`, as a problem with its line.
  [[noreturn]] void stop(const std::string& file, const Error& error, const std::string& fix = "");

  int64_t count() const { return count_; }
  /// Ends what is being read if problems came since `before`.
  void stop_if_more_than(int64_t before) const {
    if (count_ > before) throw Stopped{};
  }
  /// All of them; for each file with more than a hundred the last one says how many are left out.
  std::vector<Problem> take();
  const std::vector<Problem>& warnings() const { return warnings_; }

 private:
  bool collect_;
  int64_t count_ = 0;
  std::vector<Problem> list_, warnings_;
  std::map<std::string, int64_t> of_file_;
};

/// A text for messages: at most 60 bytes of it.
std::string shown(std::string_view text);

}  // namespace grm::own
