#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grm/data/task.h"
#include "grm/nn/adam.h"
#include "grm/nn/parameters.h"

namespace grm::nn {

/// Which step of which epoch, and which shard of it.
struct When {
  int64_t epoch = 0;
  int64_t step = 0;
  int64_t shard = 0;
  int64_t shards = 1;
  /// What names the streams of a shard within an epoch: the step itself where it is not cut.
  uint64_t place() const { return static_cast<uint64_t>(step * shards + shard); }
  /// The shard's part of a list, which may be empty, and its share of it.
  torch::Tensor part_of(const torch::Tensor& list) const;
  double share_of(const torch::Tensor& list) const;
};

/// A training step as its method writes it. What differs from step to step comes from functions of
/// When; they are kept and called again for every later step, so they must not refer to variables
/// of the step itself. Everything else must be the same in all steps of one shape.
class Step {
 public:
  using StreamOf = std::function<Stream(const When&)>;
  /// A stream for fill_normal and its like.
  Stream stream(const StreamOf& of);
  /// A training pass whose dropout masks come from a stream.
  Pass& pass(const StreamOf& of);
  /// Drawn nodes, labels and the like: int64 on the host there, where the step computes here.
  torch::Tensor indices(const std::function<torch::Tensor(const When&)>& of);
  /// A number as a double scalar.
  torch::Tensor number(const std::function<double(const When&)>& of);
  /// One step of the optimiser on the gradients that are there; of a shard, on the sum of all.
  void take(Adam& optimiser);
  /// For steps that are never recorded.
  const When& when() const { return when_; }
  /// Scalars that StepRecorder::read() gives back at the end of an epoch. Those of shards are summed.
  void report(const std::vector<torch::Tensor>& scalars);
  /// The share of the batch that the shard holds: what it counts in running statistics.
  void counts(double share) { share_ = share; }

 private:
  friend class StepRecorder;
  friend class ShardedSteps;
  // One number or list that changes, as it stands in the words of a record.
  struct Change {
    int64_t words = 0;
    std::function<void(const When&, int64_t* to)> fill;
    int64_t pass = -1;  // its pass, whose number of masks is known when the step is over
  };
  Step(const When& when, const torch::Device& device, std::vector<Change>* changes,
       const torch::Tensor& words)
      : when_(when), device_(device), changes_(changes), words_(words) {}
  bool recording() const { return words_.defined(); }
  // Notes a change; while recording, its place instead.
  void note(Change change);
  int64_t next_place(int64_t count);
  void finish();

  When when_;
  torch::Device device_;
  std::vector<Change>* changes_;  // null: nobody will record
  torch::Tensor words_;           // defined: the step is being recorded
  size_t next_ = 0;               // change that comes next while recording
  int64_t place_ = 0;             // and its first word
  std::deque<Pass> passes_;       // a deque: references stay valid while it grows
  torch::Tensor values_;
  std::vector<Adam*>* taken_ = nullptr;  // of a shard: who steps once all gradients are there
  double share_ = 1.0;
};

class ShardedSteps;

/// Runs the steps of a method. On a GPU the first step of a shape runs as it is and notes what
/// changes, the second shows whether that is all, the third is recorded as a CUDA graph, and later
/// ones are one copy of what changes and one launch. A step that cannot be recorded runs as it is for
/// ever; refused() says why. On the CPU every step runs as it is.
class StepRecorder {
 public:
  /// `recordable`: whether steps on a GPU may be recorded at all.
  explicit StepRecorder(const torch::Device& device, bool recordable = true)
      : device_(device), recordable_(recordable) {}
  /// For steps that may be cut: a body then runs once for each shard of this process, and has to do
  /// nothing but name its optimisers (Step::take) where its part is empty.
  StepRecorder(const ParameterSet& set, const Sharding& sharding, bool recordable = true);
  using Body = std::function<void(Step&)>;
  /// Steps of one shape must launch the same work: the sizes of what changes, the domains in use.
  void run(const When& when, const Body& body, const std::vector<int64_t>& shape = {});
  /// What the steps since the last call reported, by step. The host waits once.
  std::vector<std::vector<double>> read();

  int64_t replays() const { return replays_; }
  const std::string& refused() const { return refused_; }

 private:
  struct Record;
  Record* record_of(const std::vector<int64_t>& shape);
  void run_plain(const When& when, const Body& body, Record* record);
  void refuse(const std::string& why);
  bool recorded(Record& record, const When& when, const Body& body);
  void replay(Record& record, const When& when);

  torch::Device device_;
  bool recordable_;
  std::shared_ptr<ShardedSteps> sharded_;  // null: steps are not cut
  std::vector<std::shared_ptr<Record>> records_;
  std::vector<torch::Tensor> values_;  // of steps that nobody has read
  int64_t replays_ = 0;
  std::string refused_;
};

}  // namespace grm::nn
