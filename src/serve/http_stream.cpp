#include "serve/http_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace grm::serve {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

std::chrono::steady_clock::duration span(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(duration<double>(seconds));
}

constexpr int kLook = 100;  // ms between looks at whether the server stops

}  // namespace

HttpStream::HttpStream(int socket, const std::atomic<bool>& stopping)
    : socket_(socket), stopping_(stopping), deadline_(Clock::now()) {}

HttpStream::~HttpStream() {
  if (socket_ >= 0) close(socket_);
}

bool HttpStream::wait(short events, Clock::time_point until, bool idle) {
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now()).count();
    if (left <= 0 || (idle && stopping_)) return false;
    pollfd waits{socket_, events, 0};
    const int slice = static_cast<int>(std::min<long>(left, idle ? kLook : 60'000));
    const int count = poll(&waits, 1, slice);
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

bool HttpStream::fill(Clock::time_point until, bool idle) {
  char buffer[16384];
  while (wait(POLLIN, until, idle)) {
    const ssize_t count = recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count > 0) {
      ahead_.erase(0, at_);
      at_ = 0;
      ahead_.append(buffer, static_cast<size_t>(count));
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) return false;
  }
  return false;
}

HttpStream::Got HttpStream::read_head(std::string& head, size_t most, double idle, double whole) {
  if (at_ == ahead_.size() && !fill(Clock::now() + span(idle), /*idle=*/true)) return Got::closed;
  const auto until = Clock::now() + span(whole);
  size_t looked = at_;
  while (true) {
    const size_t end = ahead_.find("\r\n\r\n", looked);
    if (end != std::string::npos && end + 4 - at_ <= most) {
      head = ahead_.substr(at_, end + 4 - at_);
      at_ = end + 4;
      return Got::head;
    }
    if (ahead_.size() - at_ > most) return Got::too_long;
    const size_t size = ahead_.size() - at_;
    if (!fill(until, false)) return Clock::now() >= until ? Got::late : Got::closed;
    looked = size > 3 ? size - 3 : 0;
  }
}

void HttpStream::set_deadline(double seconds) {
  deadline_ = Clock::now() + span(seconds);
}

long HttpStream::read(char* to, size_t size) {
  if (at_ == ahead_.size() && !fill(deadline_, false)) return -1;
  const size_t count = std::min(size, ahead_.size() - at_);
  std::memcpy(to, ahead_.data() + at_, count);
  at_ += count;
  return static_cast<long>(count);
}

long HttpStream::write(const char* from, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = send(socket_, from + done, size - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      done += static_cast<size_t>(count);
    } else if (errno != EAGAIN && errno != EINTR) {
      return -1;
    } else if (!wait(POLLOUT, deadline_)) {
      return -1;
    }
  }
  return static_cast<long>(size);
}

bool HttpStream::is_open() const {
  char byte;
  const ssize_t count = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

void HttpStream::close_gently() {
  shutdown(socket_, SHUT_WR);
  const auto until = Clock::now() + span(1.0);
  size_t taken = 0;
  ahead_.clear();
  at_ = 0;
  while (taken < (size_t{8} << 20) && fill(until, /*idle=*/true)) {
    taken += ahead_.size();
    ahead_.clear();
  }
}

}  // namespace grm::serve
