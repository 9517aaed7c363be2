#include "nn/recorded_step.h"

#include <torch/types.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/stages.h"
#include "graph/cuda_torch.h"
#include "graph/host_copies.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/graph/device.h"
#include "nn/sharded_steps.h"

namespace grm::nn {
namespace {

constexpr size_t kMostRecords = 64;  // of one method: each holds memory for its results

}  // namespace

torch::Tensor When::part_of(const torch::Tensor& list) const {
  const int64_t n = list.numel(), begin = n * shard / shards;
  return list.slice(0, begin, n * (shard + 1) / shards);
}

double When::share_of(const torch::Tensor& list) const {
  return shards == 1 ? 1.0
                     : static_cast<double>(part_of(list).numel()) /
                           static_cast<double>(std::max<int64_t>(list.numel(), 1));
}

void Step::note(Change change) {
  if (changes_) changes_->push_back(std::move(change));
}

int64_t Step::next_place(int64_t count) {
  ensure(next_ < changes_->size() && (count < 0 || (*changes_)[next_].words == count),
         "a recorded step differs from the one before");
  const int64_t at = place_;
  place_ += (*changes_)[next_++].words;
  return at;
}

Stream Step::stream(const StreamOf& of) {
  if (recording()) {
    const auto* words = reinterpret_cast<const uint64_t*>(words_.data_ptr<int64_t>());
    return Stream(0).at_place(words + next_place(1));
  }
  note({1, [of](const When& when, int64_t* to) { *to = static_cast<int64_t>(of(when).key()); }});
  return of(when_);
}

Pass& Step::pass(const StreamOf& of) {
  if (recording()) {
    const auto* words = reinterpret_cast<const uint64_t*>(words_.data_ptr<int64_t>());
    passes_.push_back(Pass::train(Stream(0).at_place(words + next_place(-1))));
    return passes_.back();
  }
  note({0, {}, static_cast<int64_t>(passes_.size())});
  if (changes_) {
    // The number of masks is that of the whole step, so it is read when the words are filled.
    const size_t index = changes_->size() - 1;
    const std::vector<Change>* all = changes_;
    changes_->back().fill = [of, all, index](const When& when, int64_t* to) {
      const uint64_t key = of(when).key();
      for (int64_t call = 0; call < (*all)[index].words; ++call) {
        to[call] = static_cast<int64_t>(Pass::key_of_call(key, static_cast<uint64_t>(call)));
      }
    };
  }
  passes_.push_back(Pass::train(of(when_)));
  return passes_.back();
}

torch::Tensor Step::indices(const std::function<torch::Tensor(const When&)>& of) {
  if (recording()) {
    const int64_t count = (*changes_)[next_].words;
    return words_.narrow(0, next_place(count), count);
  }
  const torch::Tensor host = of(when_).contiguous();
  const int64_t count = host.numel();
  note({count, [of, count](const When& when, int64_t* to) {
          const torch::Tensor fresh = of(when).contiguous();
          ensure(fresh.numel() == count, "a recorded step got a list of another length");
          std::memcpy(to, fresh.data_ptr<int64_t>(), static_cast<size_t>(count) * sizeof(int64_t));
        }});
  return host.to(device_);
}

torch::Tensor Step::number(const std::function<double(const When&)>& of) {
  if (recording()) return words_.narrow(0, next_place(1), 1).view(torch::kFloat64).reshape({});
  note({1, [of](const When& when, int64_t* to) {
          const double value = of(when);
          std::memcpy(to, &value, sizeof(value));
        }});
  return torch::full({}, of(when_), torch::dtype(torch::kFloat64).device(device_));
}

void Step::take(Adam& optimiser) {
  if (taken_) {
    taken_->push_back(&optimiser);
    return;
  }
  constexpr int64_t kWords = std::tuple_size<decltype(optimiser.next_step({}))>::value;
  if (recording()) {
    optimiser.step_at(words_.data_ptr<int64_t>() + next_place(kWords));
    return;
  }
  note({kWords, [&optimiser, which = optimiser.with_gradients()](const When&, int64_t* to) {
          const auto numbers = optimiser.next_step(which);
          std::memcpy(to, numbers.data(), sizeof(numbers));
        }});
  optimiser.step();
}

void Step::report(const std::vector<torch::Tensor>& scalars) {
  const at::NoGradGuard no_grad;
  std::vector<torch::Tensor> all;
  for (const torch::Tensor& scalar : scalars) all.push_back(scalar.detach().reshape({}));
  values_ = torch::stack(all).to(torch::kFloat64);
}

void Step::finish() {
  if (!changes_) return;
  if (recording()) {
    ensure(next_ == changes_->size(), "a recorded step differs from the one before");
    for (size_t k = 0, p = 0; k < changes_->size(); ++k) {
      if ((*changes_)[k].pass < 0) continue;
      ensure(passes_[p++].calls() == static_cast<uint64_t>((*changes_)[k].words),
             "a recorded step drops another number of masks than the one before");
    }
    return;
  }
  for (Change& change : *changes_) {
    if (change.pass >= 0) change.words = static_cast<int64_t>(passes_[change.pass].calls());
  }
}

struct StepRecorder::Record {
  std::vector<int64_t> shape;
  int64_t seen = 0;  // plain steps: the first notes what changes, the second whether that is all
  std::vector<Step::Change> changes;
  HostCopies copies;
  torch::Tensor words;
  torch::Tensor values;  // where the record leaves what was reported
  std::unique_ptr<cuda_torch::RecordedWork> work;
};

StepRecorder::StepRecorder(const ParameterSet& set, const Sharding& sharding, bool recordable)
    : device_(set.device()), recordable_(recordable) {
  if (sharding.shards > 1) sharded_ = std::make_shared<ShardedSteps>(set, sharding);
}

StepRecorder::Record* StepRecorder::record_of(const std::vector<int64_t>& shape) {
  if (!device_.is_cuda() || !recordable_ || !refused_.empty()) return nullptr;
  if (StageRecorder::current()) return nullptr;  // a replay has no stages
  for (const auto& record : records_) {
    if (record->shape == shape) return record.get();
  }
  if (records_.size() >= kMostRecords) return nullptr;
  records_.push_back(std::make_shared<Record>());
  records_.back()->shape = shape;
  return records_.back().get();
}

void StepRecorder::run(const When& when, const Body& body, const std::vector<int64_t>& shape) {
  if (sharded_) return sharded_->run(when, body);
  Record* record = record_of(shape);
  if (record && record->seen >= 2 && recorded(*record, when, body)) {
    replay(*record, when);
  } else {
    run_plain(when, body, refused_.empty() ? record : nullptr);
  }
}

void StepRecorder::refuse(const std::string& why) {
  refused_ = why;
  records_.clear();
  log_info("steps run one by one, since they cannot be recorded: {}", why);
}

void StepRecorder::run_plain(const When& when, const Body& body, Record* record) {
  Step step(when, device_, record ? &record->changes : nullptr, {});
  if (record) {
    record->changes.clear();
    cuda_torch::in_side_stream([&] {
      const HostCopies::Use use(record->copies, device_);
      body(step);
    });
    step.finish();
    ++record->seen;
  } else {
    body(step);
  }
  if (step.values_.defined()) values_.push_back(step.values_);
  if (!record) return;
  record->copies.seal();
  if (!record->copies.complete())
    refuse("they copy numbers from the host that they drew themselves");
}

// Whether the step is there to be replayed.
bool StepRecorder::recorded(Record& record, const When& when, const Body& body) {
  if (record.work) return true;
  int64_t size = 0;
  for (const Step::Change& change : record.changes) size += change.words;
  record.words =
      torch::zeros({std::max<int64_t>(size, 1)}, torch::dtype(torch::kInt64).device(device_));
  const cuda_torch::RecordedWork* before = nullptr;
  for (const auto& other : records_) {
    if (other->work) before = other->work.get();
  }
  auto work = std::make_unique<cuda_torch::RecordedWork>();
  try {
    work->record(
        [&] {
          const HostCopies::Use use(record.copies, device_);
          Step step(when, device_, &record.changes, record.words);
          body(step);
          step.finish();
          record.values = step.values_;
        },
        before);
  } catch (const std::exception& error) {
    work.reset();
    refuse(error.what());
    return false;
  }
  if (!record.copies.complete()) {
    work.reset();
    refuse("they copy numbers from the host that they drew themselves");
    return false;
  }
  record.work = std::move(work);
  return true;
}

void StepRecorder::replay(Record& record, const When& when) {
  torch::Tensor words =
      torch::empty({record.words.numel()}, torch::dtype(torch::kInt64).pinned_memory(true));
  int64_t* to = words.data_ptr<int64_t>();
  for (const Step::Change& change : record.changes) {
    change.fill(when, to);
    to += change.words;
  }
  record.words.copy_(words, /*non_blocking=*/true);
  record.work->replay();
  ++replays_;
  if (record.values.defined()) values_.push_back(record.values.clone());
}

std::vector<std::vector<double>> StepRecorder::read() {
  if (sharded_) return sharded_->read();
  std::vector<std::vector<double>> all;
  if (values_.empty()) return all;
  const torch::Tensor read = torch::cat(values_).cpu();
  const double* next = read.data_ptr<double>();
  for (const torch::Tensor& values : values_) {
    all.emplace_back(next, next + values.numel());
    next += values.numel();
  }
  values_.clear();
  return all;
}

}  // namespace grm::nn
