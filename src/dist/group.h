#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/launch.h"

namespace grm::dist {

/// Processes that train one model together. A world of one is the same code without messages. All
/// members call the same functions in the same order, with tensors of the same shape on the host.
/// Error(device) that names the member once one has ended, hangs, or the store is lost.
class Group {
 public:
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const { return rank_; }
  int world() const { return world_; }
  bool first() const { return rank_ == 0; }

  /// Row r is what rank r handed in: [world, ...].
  virtual torch::Tensor gather(const torch::Tensor& mine) = 0;
  /// Overwrites the tensor by that of rank `from`.
  virtual void broadcast(const torch::Tensor& tensor, int from) = 0;

  /// Numbers on their way.
  class Exchange {
   public:
    virtual ~Exchange() = default;
    /// [world, n]: row r came from rank r.
    virtual torch::Tensor wait() = 0;
  };
  /// Row r goes to rank r. Returns at once; several may be on their way.   rows: [world, n]
  virtual std::unique_ptr<Exchange> exchange(const torch::Tensor& rows) = 0;

  /// Lists of different lengths: to[r] goes to rank r, entry r of the answer came from there. The
  /// numbers of all are of one type.
  std::vector<torch::Tensor> exchange_lists(const std::vector<torch::Tensor>& to);

  /// Tells the others why this member ends, before it does.
  virtual void ends(const std::string& /*why*/) {}

  /// What rank 0 says.
  std::string text_of_first(const std::string& mine);

 protected:
  Group(int rank, int world) : rank_(rank), world_(world) {}
  /// Of `out`, sent[r] numbers go to rank r, those of rank 0 first; of `in`, came[r] are from there.
  /// All of them are 1 or more.
  virtual void exchange_sizes(const torch::Tensor& out, const std::vector<int64_t>& sent,
                              const torch::Tensor& in, const std::vector<int64_t>& came) = 0;

 private:
  int rank_, world_;
};

/// The world of one.
std::shared_ptr<Group> alone();
/// `group`, or the world of one in place of null.
Group& group_or_alone(const std::shared_ptr<Group>& group);

struct JoinOptions {
  double timeout = 60.0;    // seconds without a sign of life after which a member counts as hung
  double patience = 120.0;  // seconds until all members are there
  std::string advice;       // what a user may do about a loss: the end of the message
  /// Called from a thread of the group when the run is lost and the member that computes has not
  /// noticed, since it asks for nothing: ends the process. Without it only calls of the group fail.
  std::function<void(const std::string& why)> on_lost;
  /// Called on rank 0 when its store listens, with the port: starts the others, where that is left to
  /// this process.
  std::function<void(int port)> on_listen;
};

/// Waits for all processes of a launch. Error(config) where this build cannot, Error(device) where
/// some do not come.
std::shared_ptr<Group> join(const Launch& launch, const JoinOptions& options);
/// Whether this build can have several processes.
bool can_join();

}  // namespace grm::dist
