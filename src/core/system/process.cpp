#include "core/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "core/clock.h"
#include "grm/core/error.h"

namespace grm {
namespace {

constexpr size_t kTail = 4096;

std::string boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

struct ProcessState {
  char state = 'X';
  std::string start;  // clock ticks since boot
};

// From /proc/PID/stat: the state follows the name in parentheses, the start time is field 22.
ProcessState process_state(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const size_t close = all.rfind(')');
  ProcessState found;
  if (close == std::string::npos) return found;
  std::istringstream fields(all.substr(close + 1));
  std::string field;
  for (int k = 3; k <= 22 && fields >> field; ++k) {
    if (k == 3) found.state = field[0];
    if (k == 22) found.start = field;
  }
  return found;
}

}  // namespace

std::string identity_of(pid_t process) {
  return fmt::format("{}/{}/{}", boot(), process, process_state(process).start);
}

std::string own_identity() {
  return identity_of(getpid());
}

bool is_alive(const std::string& identity) {
  const size_t first = identity.find('/'), second = identity.rfind('/');
  if (first == std::string::npos || first == second) return false;
  if (identity.substr(0, first) != boot()) return false;
  const auto process = static_cast<pid_t>(std::strtol(identity.c_str() + first + 1, nullptr, 10));
  const ProcessState now = process_state(process);
  return now.state != 'X' && now.state != 'Z' && now.start == identity.substr(second + 1);
}

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const std::string& folder,
                           Talk talk) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::io, "no pipe: {}", strerror(errno));
  // A socket: writing to one whose other end is gone is an error, not a signal.
  int line[2] = {-1, -1};
  if (talk == Talk::yes && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) {
    const int reason = errno;
    close(ends[0]);
    close(ends[1]);
    fail(ErrorKind::io, "no channel: {}", strerror(reason));
  }
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) {
    const int reason = errno;
    for (const int end : {ends[0], ends[1], line[0], line[1]}) {
      if (end >= 0) close(end);
    }
    fail(ErrorKind::io, "no process can be started: {}", strerror(reason));
  }
  if (process_ == 0) {
    // Only calls that are safe in a copy of a program that may have had several threads.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died before the line above
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(talk == Talk::yes ? line[1] : nothing, STDIN_FILENO);
    dup2(talk == Talk::yes ? line[1] : nothing, STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    if (chdir(folder.c_str()) == 0) execv(words[0], words.data());
    const char* reason = strerror(errno);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, reason, strlen(reason));
    _exit(127);
  }
  close(ends[1]);
  output_ = ends[0];
  fcntl(output_, F_SETFL, O_NONBLOCK);
  channel_ = line[0];
  if (channel_ >= 0) close(line[1]);
  identity_ = identity_of(process_);
}

ChildProcess::~ChildProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close(output_);
  if (channel_ >= 0) close(channel_);
}

void ChildProcess::tell(const std::string& line) {
  const std::string text = line + "\n";
  [[maybe_unused]] const ssize_t sent = ::send(channel_, text.data(), text.size(), MSG_NOSIGNAL);
}

std::vector<std::string> ChildProcess::heard() {
  char buffer[4096];
  for (ssize_t count; (count = recv(channel_, buffer, sizeof buffer, MSG_DONTWAIT)) > 0;) {
    heard_.append(buffer, static_cast<size_t>(count));
  }
  std::vector<std::string> lines;
  for (size_t end; (end = heard_.find('\n')) != std::string::npos; heard_.erase(0, end + 1)) {
    lines.push_back(heard_.substr(0, end));
  }
  return lines;
}

void ChildProcess::hang_up() {
  shutdown(channel_, SHUT_WR);
}

void ChildProcess::read_output() {
  char buffer[4096];
  for (ssize_t count; (count = read(output_, buffer, sizeof buffer)) > 0;) {
    tail_.append(buffer, static_cast<size_t>(count));
    if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  }
}

void ChildProcess::send(int signal) {
  if (process_ > 0) kill(process_, signal);
}

std::optional<std::string> ChildProcess::ended() {
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
  process_ = -1;
  read_output();
  if (WIFEXITED(status)) {
    exit_code_ = WEXITSTATUS(status);
    if (exit_code_ == 0) return "";
  }
  const size_t end = tail_.find_last_not_of(" \n");
  const size_t begin = end == std::string::npos ? end : tail_.rfind('\n', end);
  std::string line;
  if (end != std::string::npos) {
    const size_t from = begin == std::string::npos ? 0 : begin + 1;
    line = tail_.substr(from, end - from + 1);
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("ended by signal {} ({}){}{}{}", signal, strsignal(signal),
                       signal == SIGKILL ? "; lack of memory is the usual cause" : "",
                       line.empty() ? "" : "; it said last: ", line);
  }
  return line.empty() ? fmt::format("exit code {}", exit_code_) : line;
}

std::string run_program(const std::vector<std::string>& argv, double seconds,
                        const std::string& folder) {
  ChildProcess child(argv, folder);
  const Stopwatch watch;
  while (true) {
    pollfd waits{child.output(), POLLIN, 0};
    poll(&waits, 1, 50);
    child.read_output();
    if (const std::optional<std::string> end = child.ended()) return *end;
    if (watch.seconds() > seconds) {
      child.send(SIGKILL);
      return fmt::format("it was stopped after {:g} s", seconds);
    }
    // The other end of a closed channel is always ready.
    if ((waits.revents & POLLHUP) != 0) poll(nullptr, 0, 20);
  }
}

}  // namespace grm
