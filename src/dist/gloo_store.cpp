// Where the members of a group meet: c10d's store.
#ifdef GRM_WITH_GLOO

#include "dist/gloo_store.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <thread>

#include "core/clock.h"
#include "grm/core/error.h"

namespace grm::dist {
namespace {

c10d::TCPStoreOptions connection(int port, const JoinOptions& options) {
  c10d::TCPStoreOptions how;
  how.port = static_cast<uint16_t>(port);
  how.waitWorkers = false;
  how.timeout = store_timeout(options);
  return how;
}

}  // namespace

// The store counts whole seconds, and may itself take some to come.
std::chrono::milliseconds store_timeout(const JoinOptions& options) {
  return std::chrono::milliseconds(static_cast<int64_t>(std::max(5.0, options.patience) * 1000));
}

std::string plain(const std::exception& error) {
  std::string text = error.what();
  if (const auto* c10 = dynamic_cast<const c10::Error*>(&error))
    text = c10->what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

std::string address_towards(const std::string& host) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return "127.0.0.1";
  char text[INET_ADDRSTRLEN] = "127.0.0.1";
  const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in own = {};
  socklen_t size = sizeof own;
  if (s >= 0 && connect(s, found->ai_addr, found->ai_addrlen) == 0 &&
      getsockname(s, reinterpret_cast<sockaddr*>(&own), &size) == 0) {
    inet_ntop(AF_INET, &own.sin_addr, text, sizeof text);
  }
  if (s >= 0) close(s);
  freeaddrinfo(found);
  return text;
}

std::string own_name(int rank) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return fmt::format("rank {} (process {} on {})", rank, getpid(), host);
}

Store connect_to_store(const Launch& launch, int port, const JoinOptions& options) {
  return c10::make_intrusive<c10d::TCPStore>(launch.address, connection(port, options));
}

OpenStore open_store(const Launch& launch, const JoinOptions& options) {
  const bool first = launch.rank == 0;
  OpenStore opened;
  opened.port = launch.port;
  c10d::TCPStoreOptions how = connection(opened.port, options);
  how.isServer = first && !launch.store_is_there;
  try {
    const auto store = c10::make_intrusive<c10d::TCPStore>(launch.address, how);
    opened.port = store->getPort();
    opened.store = store;
  } catch (const std::exception& error) {
    fail(ErrorKind::device, "rank {} of {}: {} at {}:{} ({}); {}", launch.rank, launch.world,
         how.isServer ? "the store cannot be opened" : "the store cannot be reached",
         launch.address, opened.port, plain(error),
         how.isServer ? "is the port taken? MASTER_PORT names another"
                      : "has rank 0 been started, and is it to be found there?");
  }
  if (first && options.on_listen) options.on_listen(opened.port);
  return opened;
}

std::vector<std::string> come_together(const Launch& launch, const JoinOptions& options,
                                       const Store& shared) {
  const auto store = c10::make_intrusive<c10d::PrefixStore>("grm" + launch.name, shared);
  const auto key = [](int rank) { return "name/" + std::to_string(rank); };
  const std::string own = own_name(launch.rank);
  std::vector<std::string> names;
  try {
    store->set(key(launch.rank), {own.begin(), own.end()});
    const Stopwatch watch;
    for (int r = 0; r < launch.world; ++r) {
      while (!store->check({key(r)})) {
        if (watch.seconds() > options.patience) {
          fail(ErrorKind::device, "rank {} of {} has not come within {:.0f} s", r, launch.world,
               options.patience);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      const std::vector<uint8_t> name = store->get(key(r));
      names.emplace_back(name.begin(), name.end());
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail(ErrorKind::device, "rank {} of {}: the store at {}:{} was lost before all came ({})",
         launch.rank, launch.world, launch.address, launch.port, plain(error));
  }
  return names;
}

}  // namespace grm::dist

#endif
