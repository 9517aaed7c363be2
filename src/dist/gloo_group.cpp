// Groups over c10d's process groups with Gloo. This file, gloo_store.cpp and watch.cpp alone know c10d.
#ifdef GRM_WITH_GLOO

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <chrono>
#include <deque>
#include <thread>

#include "core/clock.h"
#include "dist/gloo_store.h"
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
    const OpenStore opened = open_store(launch, options);
    store_ = opened.store;
    Watch::Members members{launch, come_together(launch, options, store_), options.timeout,
                           options.on_lost};
    connect();
    // Kept by the watch, too: after a loss its threads go on for a while.
    const auto of_watch = std::make_shared<c10d::PrefixStore>(
        "grm" + launch.name, connect_to_store(launch, opened.port, options));
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
  void exchange_sizes(const torch::Tensor& out, const std::vector<int64_t>& sent,
                      const torch::Tensor& in, const std::vector<int64_t>& came) override {
    torch::Tensor from = out, into = in;
    std::vector<int64_t> lengths_in = came, lengths_out = sent;
    wait([&] { return process_group_->alltoall_base(into, from, lengths_in, lengths_out); });
  }

  int next() const { return (rank() + 1) % world(); }

  Store keys(const Store& store) const {
    return c10::make_intrusive<c10d::PrefixStore>("grm-gloo" + launch_.name, store);
  }

  void connect() {
    const auto gloo = ProcessGroupGloo::Options::create(store_timeout(options_));
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

  [[noreturn]] void lost(const std::string& why) const {
    watch_->leave_it_to_the_caller();
    fail(ErrorKind::device, "{}{}", why, options_.advice);
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
