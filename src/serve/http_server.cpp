#include "serve/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/json.h"
#include "grm/core/context.h"
#include "grm/core/error.h"
#include "serve/http_head.h"

namespace grm::serve {
namespace {

constexpr int kRequestsOnOne = 10'000;  // on one connection
constexpr int kSaidInASecond = 20;

// A connection is a descriptor; the usual soft limit is 1024 for everything.
void raise_descriptor_limit(size_t connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, connections + 512);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

struct Address {
  sockaddr_storage text{};
  socklen_t size = 0;
};

Address parse_address(const std::string& address, int port) {
  Address result;
  auto* four = reinterpret_cast<sockaddr_in*>(&result.text);
  auto* six = reinterpret_cast<sockaddr_in6*>(&result.text);
  if (inet_pton(AF_INET, address.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<uint16_t>(port));
    result.size = sizeof *four;
  } else if (inet_pton(AF_INET6, address.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(static_cast<uint16_t>(port));
    result.size = sizeof *six;
  } else {
    fail(ErrorKind::config, "--address {}: not a numeric address, such as 127.0.0.1 or ::1",
         address);
  }
  return result;
}

std::string whole_answer(int status, const HttpReply& reply) {
  return fmt::format(
      "HTTP/1.1 {} refused\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: "
      "close\r\n\r\n{}",
      status, reply.type, reply.body.size(), reply.body);
}

}  // namespace

std::string base_address(const std::string& address, int port) {
  const bool six = address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", six ? "[" : "", address, six ? "]" : "", port);
}

HttpServer::HttpServer(const HttpLimits& limits) : limits_(limits), log_(context().log) {}

HttpServer::~HttpServer() {
  stop(0.0, [] {});
}

int HttpServer::bind_to(const std::string& address, int port) {
  raise_descriptor_limit(limits_.connections);
  const Address at = parse_address(address, port);
  listener_ = socket(at.text.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (listener_ >= 0) setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (listener_ < 0 || bind(listener_, reinterpret_cast<const sockaddr*>(&at.text), at.size) != 0 ||
      listen(listener_, 1024) != 0) {
    fail(ErrorKind::io, "{}: cannot listen there: {}; --port 0 takes a free port",
         base_address(address, port), std::strerror(errno));
  }
  Address bound;
  bound.size = sizeof bound.text;
  getsockname(listener_, reinterpret_cast<sockaddr*>(&bound.text), &bound.size);
  return ntohs(bound.text.ss_family == AF_INET
                   ? reinterpret_cast<sockaddr_in*>(&bound.text)->sin_port
                   : reinterpret_cast<sockaddr_in6*>(&bound.text)->sin6_port);
}

void HttpServer::start() {
  acceptor_ = std::thread([this] { accept_all(); });
}

void HttpServer::stop(double seconds, const std::function<void()>& late) {
  stopping_ = true;
  if (acceptor_.joinable()) acceptor_.join();
  if (listener_ >= 0) close(listener_);
  listener_ = -1;
  std::unique_lock<std::mutex> lock(mutex_);
  const auto none = [this] { return counts_.open == 0; };
  if (seconds > 0 && !changed_.wait_for(lock, std::chrono::duration<double>(seconds), none)) {
    log_warning("{} connections did not end within {:g} s", counts_.open, seconds);
  }
  lock.unlock();
  late();
  lock.lock();
  changed_.wait(lock, none);  // every thread has deadlines
}

HttpCounts HttpServer::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

void HttpServer::accept_all() {
  Context own;
  own.log = log_;
  const ContextScope scope(own);
  while (!stopping_) {
    pollfd waits{listener_, POLLIN, 0};
    if (poll(&waits, 1, 100) <= 0) continue;
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) poll(nullptr, 0, 20);
      continue;
    }
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    bool room = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++counts_.accepted;
      room = counts_.open < limits_.connections;
      if (room) ++counts_.open;
    }
    try {
      if (room) std::thread([this, socket] { serve_connection(socket); }).detach();
    } catch (const std::system_error&) {  // no more threads
      room = false;
      const std::lock_guard<std::mutex> lock(mutex_);
      --counts_.open;
    }
    if (!room) turn_away(socket);
  }
}

void HttpServer::turn_away(int socket) {
  static const std::string answer =
      whole_answer(503, error_reply(503, "busy", "too many connections; try again in a moment"));
  [[maybe_unused]] const ssize_t sent =
      send(socket, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(socket, SHUT_WR);
  close(socket);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_.turned_away;
  }
  count(503, "a connection", "too many connections");
}

void HttpServer::serve_connection(int socket) {
  Context own;
  own.log = log_;
  const ContextScope scope(own);
  try {
    HttpStream stream(socket, stopping_);
    for (int number = 1; serve_request(stream, number);) ++number;
  } catch (const std::exception& error) {
    log_warning("a connection ended: {}", error.what());
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  --counts_.open;
  changed_.notify_all();
}

bool HttpServer::serve_request(HttpStream& stream, int number) {
  std::string text;
  const HttpStream::Got got =
      stream.read_head(text, limits_.head_bytes, limits_.idle_seconds, limits_.head_seconds);
  if (got == HttpStream::Got::closed) return false;
  if (got == HttpStream::Got::late) {
    return refuse(stream, 408, "the head of the request took too long"), false;
  }
  if (got == HttpStream::Got::too_long) {
    return refuse(stream, 431, "the head of the request is too long"), false;
  }
  CheckedHead head = check_head(text, limits_);
  if (head.refused != 0) return refuse(stream, head.refused, head.why), false;
  struct Held {
    std::atomic<size_t>& all;
    size_t bytes;
    ~Held() { all -= bytes; }
  } const held{bodies_, head.body};
  if ((bodies_ += head.body) > limits_.all_bodies) {
    return refuse(stream, 503, "other requests fill the memory; try again in a moment"), false;
  }
  stream.unread(std::move(head.text));
  stream.set_deadline(limits_.transfer_seconds +
                      static_cast<double>(head.body) / limits_.slowest_transfer);
  const bool last = !head.keep || number >= kRequestsOnOne || stopping_;
  const HttpApp::Served served = app_.serve(stream, last, limits_);
  if (served.status == 0) return false;
  count(served.status, served.method + " " + served.path, served.why);
  if (!last && served.status < 400) return true;
  stream.close_gently();
  return false;
}

void HttpServer::refuse(HttpStream& stream, int status, const std::string& why) {
  const std::string answer = whole_answer(status, error_reply(status, "request", why));
  stream.set_deadline(2.0);
  stream.write(answer.data(), answer.size());
  stream.close_gently();
  count(status, "a request", why);
}

void HttpServer::count(int status, const std::string& what, const std::string& why) {
  std::string note;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_.by_status[status];
    if (status < 400) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - second_ > std::chrono::seconds(1)) {
      if (unsaid_ > 0) note = fmt::format("{} more refusals were not told; ", unsaid_);
      second_ = now;
      said_ = unsaid_ = 0;
    }
    if (++said_ > kSaidInASecond) {
      ++unsaid_;
      return;
    }
  }
  log_warning("{}{} refused with {}: {}", note, what, status, why);
}

}  // namespace grm::serve
