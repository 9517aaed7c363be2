#pragma once

#include <atomic>
#include <chrono>
#include <string>

namespace grm::serve {

/// A connected socket with deadlines: a client that sends or takes a byte now and then is not kept
/// beyond them. Not for several threads at once.
class HttpStream {
 public:
  /// Owns the socket. `stopping` ends waits for requests that have not begun.
  HttpStream(int socket, const std::atomic<bool>& stopping);
  ~HttpStream();
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  enum class Got { head, closed, late, too_long };
  /// Reads one head, up to and including the empty line, into `head`. Waits `idle` seconds for its
  /// first byte and then `whole` seconds for all of it.
  Got read_head(std::string& head, size_t most, double idle, double whole);

  /// What read() hands out next, before anything that is still in the socket.
  void unread(std::string text) { ahead_ = std::move(text) + ahead_.substr(at_), at_ = 0; }
  /// Reads and writes below fail after so many seconds from now.
  void set_deadline(double seconds);

  long read(char* to, size_t size);
  long write(const char* from, size_t size);
  /// Whether the client is still there, as far as one can tell without sending.
  bool is_open() const;

  /// Says that nothing more will come and takes what the client still sends, for a moment: to close
  /// at once would destroy an answer on its way.
  void close_gently();

 private:
  using Clock = std::chrono::steady_clock;
  bool wait(short events, Clock::time_point until, bool idle = false);
  bool fill(Clock::time_point until, bool idle);

  int socket_;
  const std::atomic<bool>& stopping_;
  std::string ahead_;  // bytes that came with others
  size_t at_ = 0;      // the first that nobody has read
  Clock::time_point deadline_;
};

}  // namespace grm::serve
