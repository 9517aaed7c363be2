// The only file that knows cpp-httplib. It parses what http_head.cpp has let in, finds the handler
// and writes the answer; sockets, threads and deadlines are those of HttpServer.
#include "serve/http_app.h"

#include <algorithm>
#include <cctype>

#include "grm/core/error.h"
#include "grm/core/log.h"

#ifdef GRM_WITH_HTTPLIB

#include <httplib.h>

namespace grm::serve {
namespace {

constexpr double kPush = 10.0;  // seconds that a client has to take a piece of a stream

// What the library reads from and writes to.
class Wire : public httplib::Stream {
 public:
  explicit Wire(HttpStream& stream) : stream_(stream) {}
  bool is_readable() const override { return true; }
  bool is_writable() const override { return stream_.is_open(); }
  ssize_t read(char* to, size_t size) override { return stream_.read(to, size); }
  ssize_t write(const char* from, size_t size) override { return stream_.write(from, size); }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return 0; }  // the library compares it with FD_SETSIZE alone

 private:
  HttpStream& stream_;
};

// The request that this thread serves.
struct Current {
  HttpApp::Served served;
  HttpStream* stream = nullptr;
  const HttpLimits* limits = nullptr;
};
thread_local Current* t_current = nullptr;

HttpRequest request_of(const httplib::Request& from) {
  HttpRequest to;
  to.method = from.method;
  to.path = from.path;
  to.body = from.body;
  for (const auto& [name, value] : from.headers) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    to.headers.emplace(lower, value);
  }
  for (const auto& [name, value] : from.params) to.query.emplace(name, value);
  return to;
}

void answer(const HttpReply& reply, httplib::Response& to) {
  to.status = reply.status;
  for (const auto& [name, value] : reply.headers) to.set_header(name, value);
  if (reply.status >= 400) {
    to.set_header("Connection", "close");
    if (t_current) t_current->served.why = reply.why;
  }
  if (!reply.stream) {
    // An answer may take longer than its request: its time begins now.
    if (t_current) {
      t_current->stream->set_deadline(t_current->limits->transfer_seconds +
                                      static_cast<double>(reply.body.size()) /
                                          t_current->limits->slowest_transfer);
    }
    to.set_content(reply.body, reply.type);
    return;
  }
  to.set_chunked_content_provider(
      reply.type, [stream = reply.stream](size_t, httplib::DataSink& sink) {
        stream([&](const std::string& piece) {
          t_current->stream->set_deadline(kPush);
          return sink.is_writable() && sink.write(piece.data(), piece.size());
        });
        t_current->stream->set_deadline(kPush);
        sink.done();
        return true;
      });
}

HttpReply guarded_call(const HttpHandler& handler, const HttpRequest& request) {
  try {
    return handler(request);
  } catch (const Error& error) {
    switch (error.kind()) {
      case ErrorKind::memory:
        return error_reply(503, "memory", error.what());
      case ErrorKind::device:
        return error_reply(503, "device", error.what());
      case ErrorKind::config:
        return error_reply(400, "config", error.what());
      case ErrorKind::io:
        return error_reply(500, "io", error.what());
      case ErrorKind::shape:
        return error_reply(422, "shape", error.what());
      case ErrorKind::data:
        return error_reply(422, "data", error.what());
    }
    return error_reply(500, "internal", "internal error");
  } catch (const std::bad_alloc&) {
    return error_reply(503, "memory", "out of memory");
  } catch (const std::exception& error) {
    const std::string text = error.what();
    log_warning("{}: internal error: {}", request.path, text.substr(0, text.find('\n')));
    return error_reply(500, "internal", "internal error; the log of the server says more");
  }
}

// A path as a regular expression that matches it alone.
std::string literal(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '/') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace

struct HttpApp::Inside : httplib::Server {
  Inside() {
    svr_sock_ = 0;  // streams end where this is "invalid"; no socket of the library's own is open
    set_logger([](const httplib::Request& request, const httplib::Response& response) {
      if (!t_current) return;
      t_current->served.status = response.status;
      t_current->served.method = request.method;
      t_current->served.path = request.path;
    });
    set_error_handler(Handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      const char* why = response.status == 404   ? "there is nothing at this address"
                        : response.status == 413 ? "the request is too large"
                                                 : "the request could not be read";
      answer(error_reply(response.status, "request", why), response);
    }));
  }

  bool process(httplib::Stream& wire, bool last) {
    bool closed = false;
    return process_request(wire, last, closed, nullptr);
  }
};

HttpApp::HttpApp() : inside_(std::make_unique<Inside>()) {}

void HttpApp::route(const std::string& method, const std::string& path, HttpHandler handler) {
  const auto wrapped = [handler = std::move(handler)](const httplib::Request& request,
                                                      httplib::Response& response) {
    answer(guarded_call(handler, request_of(request)), response);
  };
  if (method == "GET") {
    inside_->Get(literal(path), wrapped);
  } else {
    ensure(method == "POST", "HttpApp::route: GET or POST");
    inside_->Post(literal(path), httplib::Server::Handler(wrapped));
  }
}

void HttpApp::set_guard(HttpGuard guard) {
  inside_->set_pre_routing_handler(
      [guard = std::move(guard)](const httplib::Request& request, httplib::Response& response) {
        const HttpReply reply = guarded_call(guard, request_of(request));
        if (reply.status == 200) return httplib::Server::HandlerResponse::Unhandled;
        answer(reply, response);
        return httplib::Server::HandlerResponse::Handled;
      });
}

HttpApp::Served HttpApp::serve(HttpStream& stream, bool last, const HttpLimits& limits) {
  Current current;
  current.stream = &stream;
  current.limits = &limits;
  struct Restore {
    ~Restore() { t_current = nullptr; }
  } const restore{};
  t_current = &current;
  Wire wire(stream);
  if (!inside_->process(wire, last)) current.served.status = 0;
  return current.served;
}

}  // namespace grm::serve

#else  // a build without the library: the verbs say what to install

namespace grm::serve {

struct HttpApp::Inside {};

HttpApp::HttpApp() {
  fail(ErrorKind::config,
       "this grm was built without cpp-httplib, so it cannot serve; fix: install it (Debian: "
       "apt-get install libcpp-httplib-dev) and build again");
}
void HttpApp::route(const std::string&, const std::string&, HttpHandler) {}
void HttpApp::set_guard(HttpGuard) {}
HttpApp::Served HttpApp::serve(HttpStream&, bool, const HttpLimits&) {
  return {};
}

}  // namespace grm::serve

#endif

namespace grm::serve {
HttpApp::~HttpApp() = default;
}
