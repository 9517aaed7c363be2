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
};

}  // namespace

std::shared_ptr<Group> alone() {
  static const std::shared_ptr<Group> one = std::make_shared<Alone>();
  return one;
}

Group& group_or_alone(const std::shared_ptr<Group>& group) {
  return group ? *group : *alone();
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
