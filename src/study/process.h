#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace grm::study {

/// A name for a process that no other process ever has: boot, number and start time. A number
/// alone is reused by the system.
std::string identity_of(pid_t process);
std::string own_identity();
/// Whether the process of this name still runs; a zombie does not.
bool is_alive(const std::string& identity);

/// MiB that new processes may use: what the system has available, or what this control group may
/// still take if that is less.
double available_memory_mib();

/// A child process that dies with this one. Its standard error is kept, its input and output are
/// empty. It has a process group of its own, so Ctrl-C reaches it only through this process.
class ChildProcess {
 public:
  /// Starts a program (argv[0] is its path). Error(io) if there are no processes left.
  explicit ChildProcess(const std::vector<std::string>& argv);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  const std::string& identity() const { return identity_; }
  int output() const { return output_; }  // to poll for
  void read_output();
  void send(int signal);
  /// How it ended, once it has: "" for exit code 0, else a sentence with the last line of its
  /// standard error.
  std::optional<std::string> ended();
  int exit_code() const { return exit_code_; }  // after ended(); -1 for a signal

 private:
  pid_t process_ = -1;
  int output_ = -1;
  int exit_code_ = -1;
  std::string identity_;
  std::string tail_;  // of its standard error
};

}  // namespace grm::study
