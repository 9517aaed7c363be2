#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "grm/core/log.h"
#include "serve/http_app.h"

namespace grm::serve {

/// What a server has done, for /metrics.
struct HttpCounts {
  size_t open = 0;  // connections
  uint64_t accepted = 0;
  uint64_t turned_away = 0;           // there were too many
  std::map<int, uint64_t> by_status;  // answers
};

/// Listens at one address and serves every connection in a thread of its own, within its limits.
class HttpServer {
 public:
  explicit HttpServer(const HttpLimits& limits);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  HttpApp& app() { return app_; }
  const HttpLimits& limits() const { return limits_; }

  /// Takes an address, a number (127.0.0.1, ::1), and a port; 0 takes a free one. Returns the port.
  /// Error(io) for an address that is taken or not of this machine.
  int bind_to(const std::string& address, int port);
  /// Connections are served from now on; routes and guard do not change any more.
  void start();
  /// Takes no more connections, lets requests that have begun end for at most so many seconds. Then
  /// `late` is called, which shall make the others end.
  void stop(double seconds, const std::function<void()>& late);
  /// Told to streams of answers that have no end of their own.
  bool stopping() const { return stopping_; }

  HttpCounts counts() const;

 private:
  void accept_all();
  void turn_away(int socket);
  void serve_connection(int socket);
  bool serve_request(HttpStream& stream, int number);
  void refuse(HttpStream& stream, int status, const std::string& why);
  void count(int status, const std::string& what, const std::string& why);

  HttpLimits limits_;
  HttpApp app_;
  LogSink log_;
  int listener_ = -1;
  std::thread acceptor_;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> bodies_{0};  // bytes of bodies that are held

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  HttpCounts counts_;
  // Messages about refusals: some a second, the others are counted.
  std::chrono::steady_clock::time_point second_{};
  int said_ = 0, unsaid_ = 0;
};

/// "http://127.0.0.1:8080", with brackets around an address of IPv6.
std::string base_address(const std::string& address, int port);

}  // namespace grm::serve
