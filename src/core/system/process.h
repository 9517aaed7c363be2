#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace grm {

/// A name for a process that no other process ever has: boot, number and start time. A number
/// alone is reused by the system.
std::string identity_of(pid_t process);
std::string own_identity();
/// Whether the process of this name still runs; a zombie does not.
bool is_alive(const std::string& identity);

/// Whether a child is spoken to, line by line, through its standard input and output.
enum class Talk { no, yes };

/// A child process that dies with this one. Its standard error is kept, its input and output are
/// empty unless it is spoken to. It has a process group of its own, so Ctrl-C reaches it only through
/// this process.
class ChildProcess {
 public:
  /// Starts a program (argv[0] is its path) in a folder, by default this one. Error(io) if there
  /// are no processes left.
  explicit ChildProcess(const std::vector<std::string>& argv, const std::string& folder = ".",
                        Talk talk = Talk::no);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  const std::string& identity() const { return identity_; }
  int output() const { return output_; }  // to poll for
  void read_output();
  void send(int signal);

  int channel() const { return channel_; }  // to poll for; below 0: it is not spoken to
  /// Sends a line; nothing where it does not listen any more.
  void tell(const std::string& line);
  /// The lines that it has sent since the last call.
  std::vector<std::string> heard();
  /// No more lines will come: its input ends.
  void hang_up();

  /// How it ended, once it has: "" for exit code 0, else a sentence with the last line of its
  /// standard error.
  std::optional<std::string> ended();
  int exit_code() const { return exit_code_; }  // after ended(); -1 for a signal

 private:
  pid_t process_ = -1;
  int output_ = -1;
  int channel_ = -1;
  int exit_code_ = -1;
  std::string identity_;
  std::string tail_;   // of its standard error
  std::string heard_;  // the line that is not complete yet
};

/// Runs a program to its end, or for at most `seconds`; returns what went wrong, "" if nothing.
std::string run_program(const std::vector<std::string>& argv, double seconds,
                        const std::string& folder = ".");

}  // namespace grm
