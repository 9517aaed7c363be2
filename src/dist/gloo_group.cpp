// Groups over c10d's process groups with Gloo, the only file that knows them.
#ifdef GRM_WITH_GLOO

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>

#include "core/clock.h"
#include "dist/group.h"
#include "dist/watch.h"
#include "grm/core/error.h"

namespace grm::dist {
namespace {

using c10d::ProcessGroupGloo;
using std::chrono::milliseconds;

// Messages themselves wait for ever: how long a member may be silent is the watch's to judge, and
// it may be busy with an evaluation meanwhile.
constexpr milliseconds kForEver = std::chrono::hours(24 * 365);
constexpr milliseconds kLook = milliseconds(200);
constexpr double kReason = 5.0;     // seconds until somebody knows whose connection closed
constexpr int kLastWord = 1 << 20;  // its tag

milliseconds in_milliseconds(double seconds) {
  return milliseconds(static_cast<int64_t>(seconds * 1000));
}

// The first line of what c10d says, without its place in the source and its stack.
std::string plain(const std::exception& error) {
  std::string text = error.what();
  if (const auto* c10 = dynamic_cast<const c10::Error*>(&error))
    text = c10->what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

// The own address as rank 0 sees it.
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

// Members that do not come to connect are missed within the timeout; later on nobody is.
class PatientGloo final : public ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;
  void wait_for_ever() {
    for (const auto& context : contexts_) context->setTimeout(kForEver);
  }
};

class GlooGroup final : public Group {
 public:
  GlooGroup(const Launch& launch, const JoinOptions& options)
      : Group(launch.rank, launch.world), launch_(launch), options_(options) {
    open_store();
    Watch::Members members{launch, come_together(), options.timeout, options.on_lost};
    connect();
    // Kept by the watch, too: after a loss its threads go on for a while.
    const auto of_watch = std::make_shared<c10d::PrefixStore>("grm" + launch.name, connected());
    watch_ = std::make_unique<Watch>(members, of_watch, [group = process_group_, next = next()] {
      std::vector<at::Tensor> word = {torch::zeros({1}, torch::kUInt8)};
      group->recv(word, next, kLastWord)->wait(kForEver);
    });
  }

  ~GlooGroup() override {
    try {
      leave();
    } catch (const std::exception& error) {
      watch_->set_lost(plain(error));
    }
    if (watch_->end()) {
      finish();
      return;
    }
    // Gloo's threads may wait for members that hang: they stay until the process ends.
    static_cast<void>(watch_.release());
    static_cast<void>(process_group_.release());
    static_cast<void>(store_.release());
  }

  torch::Tensor gather(const torch::Tensor& mine) override {
    std::vector<at::Tensor> in = {mine.contiguous()};
    torch::Tensor all = torch::empty({world() * in[0].numel()}, in[0].options());
    std::vector<std::vector<at::Tensor>> out(1);
    for (int r = 0; r < world(); ++r) {
      out[0].push_back(all.narrow(0, r * in[0].numel(), in[0].numel()).view(in[0].sizes()));
    }
    wait([&] { return process_group_->allgather(out, in); });
    std::vector<int64_t> shape = in[0].sizes().vec();
    shape.insert(shape.begin(), world());
    return all.view(shape);
  }

  void broadcast(const torch::Tensor& tensor, int from) override {
    ensure(tensor.is_contiguous(), "broadcast: the tensor is not contiguous");
    if (tensor.numel() == 0) return;
    std::vector<at::Tensor> tensors = {tensor};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    wait([&] { return process_group_->broadcast(tensors, options); });
  }

  std::unique_ptr<Exchange> exchange(const torch::Tensor& rows) override {
    struct Sent final : Exchange {
      torch::Tensor wait() override {
        group->wait([this] { return std::move(work); });
        return in;
      }
      GlooGroup* group = nullptr;
      torch::Tensor out, in;
      c10::intrusive_ptr<c10d::Work> work;
    };
    auto sent = std::make_unique<Sent>();
    sent->group = this;
    sent->out = rows.contiguous();
    sent->in = torch::empty_like(sent->out);
    std::vector<int64_t> equal;
    guard([&] { sent->work = process_group_->alltoall_base(sent->in, sent->out, equal, equal); });
    return sent;
  }

  void ends(const std::string& why) override {
    watch_->leave_it_to_the_caller();
    watch_->set_lost(fmt::format("{} has ended: {}", own_name(rank()), why));
  }

 private:
  using Store = c10::intrusive_ptr<c10d::Store>;

  int next() const { return (rank() + 1) % world(); }

  Store keys(const Store& store) const {
    return c10::make_intrusive<c10d::PrefixStore>("grm-gloo" + launch_.name, store);
  }

  // It counts whole seconds, and a store that is to come may take some.
  milliseconds store_timeout() const { return in_milliseconds(std::max(5.0, options_.patience)); }

  // One more connection to the store.
  Store connected() const {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(port_);
    options.waitWorkers = false;
    options.timeout = store_timeout();
    return c10::make_intrusive<c10d::TCPStore>(launch_.address, options);
  }

  void connect() {
    const auto gloo = ProcessGroupGloo::Options::create(in_milliseconds(options_.patience));
    gloo->devices = {ProcessGroupGloo::createDeviceForHostname(address_towards(launch_.address))};
    try {
      const auto group = c10::make_intrusive<PatientGloo>(keys(store_), rank(), world(), gloo);
      group->wait_for_ever();
      process_group_ = group;
    } catch (const std::exception& error) {
      fail(ErrorKind::device, "rank {} of {} cannot be connected with the others: {}", rank(),
           world(), plain(error));
    }
  }

  void open_store() {
    port_ = launch_.port;
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(port_);
    options.isServer = first() && !launch_.store_is_there;
    options.waitWorkers = false;
    options.timeout = store_timeout();
    try {
      const auto store = c10::make_intrusive<c10d::TCPStore>(launch_.address, options);
      port_ = store->getPort();
      store_ = store;
    } catch (const std::exception& error) {
      fail(ErrorKind::device, "rank {} of {}: {} at {}:{} ({}); {}", rank(), world(),
           options.isServer ? "the store cannot be opened" : "the store cannot be reached",
           launch_.address, port_, plain(error),
           options.isServer ? "is the port taken? MASTER_PORT names another"
                            : "has rank 0 been started, and is it to be found there?");
    }
    if (first() && options_.on_listen) options_.on_listen(port_);
  }

  // Everybody tells a name; all names, by rank.
  std::vector<std::string> come_together() {
    const auto store = c10::make_intrusive<c10d::PrefixStore>("grm" + launch_.name, store_);
    const auto key = [](int rank) { return "name/" + std::to_string(rank); };
    const std::string own = own_name(rank());
    std::vector<std::string> names;
    try {
      store->set(key(rank()), {own.begin(), own.end()});
      const Stopwatch watch;
      for (int r = 0; r < world(); ++r) {
        while (!store->check({key(r)})) {
          if (watch.seconds() > options_.patience) {
            fail(ErrorKind::device, "rank {} of {} has not come within {:.0f} s", r, world(),
                 options_.patience);
          }
          std::this_thread::sleep_for(milliseconds(10));
        }
        const std::vector<uint8_t> name = store->get(key(r));
        names.emplace_back(name.begin(), name.end());
      }
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      fail(ErrorKind::device, "rank {} of {}: the store at {}:{} was lost before all came ({})",
           rank(), world(), launch_.address, port_, plain(error));
    }
    return names;
  }

  [[noreturn]] void lost(const std::string& why) const {
    watch_->leave_it_to_the_caller();
    fail(ErrorKind::device, "{}; --resume continues from the last checkpoint", why);
  }

  // Runs what may find a connection closed.
  template <class F>
  void guard(const F& what) {
    if (const std::string why = watch_->lost(); !why.empty()) lost(why);
    try {
      what();
    } catch (const std::exception& error) {
      const std::string text = plain(error);
      const std::string why = watch_->wait_for_reason(kReason);
      if (why.empty()) watch_->set_lost("a connection between processes is lost: " + text);
      lost(watch_->lost());
    }
  }

  template <class Start>
  void wait(const Start& start) {
    guard([&] {
      const c10::intrusive_ptr<c10d::Work> work = start();
      for (;;) {
        try {
          work->wait(kLook);
          return;
        } catch (const std::exception&) {
          if (work->isCompleted()) throw;
        }
        if (const std::string why = watch_->lost(); !why.empty()) {
          abandoned().push_back(work);
          throw std::runtime_error(why);
        }
      }
    });
  }

  // Work on members that hang never ends, and neither must its tensors.
  static std::deque<c10::intrusive_ptr<c10d::Work>>& abandoned() {
    static auto* all = new std::deque<c10::intrusive_ptr<c10d::Work>>;
    return *all;
  }

  // In order: all come to the end, then each tells the one before it that it goes.
  void leave() {
    if (!watch_->lost().empty()) return;
    if (std::uncaught_exceptions() > 0) {
      ends("an error");
      return;
    }
    wait([&] { return process_group_->barrier(); });
    watch_->expect_the_end();
    std::vector<at::Tensor> word = {torch::zeros({1}, torch::kUInt8)};
    guard([&] {
      process_group_->send(word, (rank() + world() - 1) % world(), kLastWord)->wait(kForEver);
    });
  }

  // Nobody closes a connection, nor rank 0 its store, that others still need.
  void finish() {
    try {
      store_->add("left" + launch_.name, 1);
      const Stopwatch watch;
      while (watch.seconds() < options_.timeout &&
             store_->add("left" + launch_.name, 0) < world()) {
        std::this_thread::sleep_for(milliseconds(2));
      }
    } catch (const std::exception&) {  // rank 0 has counted them all and gone
    }
  }

  Launch launch_;
  JoinOptions options_;
  int port_ = 0;
  Store store_;
  c10::intrusive_ptr<ProcessGroupGloo> process_group_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace

bool can_join() {
  return true;
}

std::shared_ptr<Group> join(const Launch& launch, const JoinOptions& options) {
  if (launch.world == 1) return alone();
  return std::make_shared<GlooGroup>(launch, options);
}

}  // namespace grm::dist

#endif
