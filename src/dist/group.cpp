#include "dist/group.h"

#include <cstring>

#include "grm/core/error.h"

namespace grm::dist {
namespace {

class Alone final : public Group {
 public:
  Alone() : Group(0, 1) {}
  torch::Tensor gather(const torch::Tensor& mine) override { return mine.unsqueeze(0); }
  void broadcast(const torch::Tensor& /*tensor*/, int /*from*/) override {}
  std::unique_ptr<Exchange> exchange(const torch::Tensor& rows) override {
    struct There final : Exchange {
      explicit There(const torch::Tensor& all) : rows(all) {}
      torch::Tensor wait() override { return rows; }
      torch::Tensor rows;
    };
    return std::make_unique<There>(rows);
  }

 private:
  void exchange_sizes(const torch::Tensor& out, const std::vector<int64_t>& /*sent*/,
                      const torch::Tensor& in, const std::vector<int64_t>& /*came*/) override {
    torch::Tensor(in).copy_(out);
  }
};

}  // namespace

std::shared_ptr<Group> alone() {
  static const std::shared_ptr<Group> one = std::make_shared<Alone>();
  return one;
}

Group& group_or_alone(const std::shared_ptr<Group>& group) {
  return group ? *group : *alone();
}

std::vector<torch::Tensor> Group::exchange_lists(const std::vector<torch::Tensor>& to) {
  ensure(static_cast<int>(to.size()) == world_, "exchange_lists: one list for each rank");
  if (world_ == 1) return to;
  // One number more than the list has, so that no message is empty.
  std::vector<int64_t> sent;
  for (const torch::Tensor& list : to) sent.push_back(list.numel() + 1);
  const torch::Tensor sizes = exchange(torch::tensor(sent, torch::kInt64).unsqueeze(1))->wait();
  const int64_t* size = sizes.data_ptr<int64_t>();
  const std::vector<int64_t> came(size, size + world_);
  const torch::Tensor end = torch::zeros({1}, to.front().options());
  std::vector<torch::Tensor> pieces;
  for (const torch::Tensor& list : to) {
    pieces.push_back(list.reshape({-1}));
    pieces.push_back(end);
  }
  const torch::Tensor out = torch::cat(pieces);
  const torch::Tensor in = torch::empty({sizes.sum().item<int64_t>()}, out.options());
  exchange_sizes(out, sent, in, came);
  std::vector<torch::Tensor> lists;
  int64_t at = 0;
  for (const int64_t count : came) {
    lists.push_back(in.narrow(0, at, count - 1));
    at += count;
  }
  return lists;
}

std::string Group::text_of_first(const std::string& mine) {
  const torch::Tensor size = torch::full({1}, static_cast<int64_t>(mine.size()), torch::kInt64);
  broadcast(size, 0);
  const torch::Tensor bytes = torch::zeros({size.item<int64_t>()}, torch::kUInt8);
  if (bytes.numel() == 0) return "";
  if (first()) std::memcpy(bytes.data_ptr<uint8_t>(), mine.data(), mine.size());
  broadcast(bytes, 0);
  return {reinterpret_cast<const char*>(bytes.data_ptr<uint8_t>()),
          static_cast<size_t>(bytes.numel())};
}

#ifndef GRM_WITH_GLOO
bool can_join() {
  return false;
}

std::shared_ptr<Group> join(const Launch& launch, const JoinOptions& /*options*/) {
  if (launch.world == 1) return alone();
  fail(ErrorKind::config,
       "{} processes were started to train together, but this build cannot: its libtorch or the "
       "headers of Gloo (libgloo-dev) were not there when it was made; build it again with them",
       launch.world);
}
#endif

}  // namespace grm::dist
