#include "methods/device_editors.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "graph/place.h"
#include "grm/core/error.h"
#include "methods/editor_column.h"

namespace grm {
namespace {

constexpr int64_t kMostEdits = 64;      // a warp looks through the flips of a target
constexpr int64_t kLeastCapacity = 64;  // entries of a column to begin with

kernels::StreamKey key_of(const Stream& stream) {
  return {stream.key(), stream.place()};
}

}  // namespace

DeviceEditors::DeviceEditors(const EditorOptions& options, int64_t nodes, const Rng& rng,
                             uint64_t place, const torch::Device& device)
    : options_(options),
      nodes_(nodes),
      streams_{rng, place, options.views},
      device_(device),
      implicit_(kept_implicitly(options, static_cast<double>(nodes))) {}

bool DeviceEditors::fit(const EditorOptions& options) {
  return options.law == EditorLaw::as_published && options.edits <= kMostEdits;
}

kernels::editor::Columns DeviceEditors::columns(int64_t view) const {
  const int64_t entries = view * nodes_ * capacity_;
  auto* state = reinterpret_cast<kernels::editor::ColumnState*>(state_.data_ptr<uint8_t>());
  return {nodes_,
          capacity_,
          implicit_,
          options_.init == EditorInit::zeros,
          key_of(initial_[static_cast<size_t>(view)]),
          state + view * nodes_,
          implicit_ ? source_.data_ptr<int32_t>() + entries : nullptr,
          value_.data_ptr<float>() + entries,
          first_.data_ptr<float>() + entries,
          second_.data_ptr<float>() + entries};
}

void DeviceEditors::grow(int64_t capacity) {
  const auto floats = torch::dtype(torch::kFloat32).device(device_);
  const auto larger = [&](torch::Tensor& kept, const torch::TensorOptions& options) {
    const torch::Tensor old = kept;
    kept = torch::zeros({options_.views, nodes_, capacity}, options);
    if (old.defined()) kept.narrow(2, 0, capacity_).copy_(old);
  };
  if (implicit_) larger(source_, floats.dtype(torch::kInt32));
  for (torch::Tensor* kept : {&value_, &first_, &second_}) larger(*kept, floats);
  capacity_ = capacity;
}

int64_t DeviceEditors::prepare(int64_t steps) {
  const bool fresh = capacity_ == 0;
  if (fresh) {
    constexpr auto kBytes = static_cast<int64_t>(sizeof(kernels::editor::ColumnState));
    state_ =
        torch::zeros({options_.views, nodes_, kBytes}, torch::dtype(torch::kUInt8).device(device_));
    if (!implicit_) grow(nodes_);
  }
  const int64_t needed = std::min(nodes_, steps * options_.edits);
  if (implicit_ && (fresh || needed > capacity_)) {
    int64_t capacity = std::max(capacity_, kLeastCapacity);
    while (capacity < needed) capacity *= 2;
    grow(std::min(capacity, nodes_));
  }
  if (fresh) start([&](int64_t view) { return streams_.initial(view, 0); });
  return capacity_;
}

void DeviceEditors::start(const std::function<Stream(int64_t view)>& initial) {
  initial_.clear();
  for (int64_t k = 0; k < options_.views; ++k) initial_.push_back(initial(k));
  for (int64_t k = 0; k < options_.views; ++k) {
    on_gpu<kernels::editor::start_columns>(place_of(state_), columns(k), editor_grid());
  }
}

torch::Tensor DeviceEditors::draw(int64_t view, const Stream& draws) const {
  torch::Tensor flips =
      torch::empty({nodes_, options_.edits}, torch::dtype(torch::kInt32).device(device_));
  on_gpu<kernels::editor::draw_columns>(place_of(flips), columns(view), key_of(draws),
                                        options_.edits, flips.data_ptr<int32_t>());
  return flips;
}

void DeviceEditors::step(const std::vector<torch::Tensor>& flips, const torch::Tensor& reward,
                         const torch::Tensor& step_size, const torch::Tensor& second_scale) {
  ensure(static_cast<int64_t>(flips.size()) == options_.views, "editors: one draw per view");
  const kernels::editor::StepPlaces places{reward.data_ptr<double>(), step_size.data_ptr<double>(),
                                           second_scale.data_ptr<double>()};
  const double keep = editor_step(options_.lr, 1).keep;
  for (int64_t k = 0; k < options_.views; ++k) {
    on_gpu<kernels::editor::step_columns>(place_of(state_), columns(k), editor_grid(),
                                          flips[static_cast<size_t>(k)].data_ptr<int32_t>(),
                                          options_.edits, places,
                                          static_cast<double>(options_.edits), keep);
  }
}

void DeviceEditors::note(int64_t number, double reward) {
  if (std::isfinite(reward) && options_.init != EditorInit::uniform_each_epoch) {
    log_.note(number, reward);
  }
}

void DeviceEditors::restore(const std::map<std::string, torch::Tensor>& state) {
  log_ = EditorLog::from(state);
  if (log_.numbers.empty() && capacity_ == 0) return;
  // Arrays stay where they are as far as they are large enough: recorded steps use them.
  prepare(static_cast<int64_t>(log_.numbers.size()));
  start([&](int64_t view) { return streams_.initial(view, 0); });
  const auto scalar = [&](double value) {
    return torch::full({}, value, torch::dtype(torch::kFloat64).device(device_));
  };
  for (size_t t = 0; t < log_.numbers.size(); ++t) {
    std::vector<torch::Tensor> flips;
    for (int64_t k = 0; k < options_.views; ++k) {
      flips.push_back(draw(k, streams_.trial(k, log_.numbers[t])));
    }
    const kernels::editor::Step numbers = editor_step(options_.lr, static_cast<int64_t>(t) + 1);
    step(flips, scalar(log_.rewards[t]), scalar(numbers.step_size), scalar(numbers.second_scale));
  }
}

}  // namespace grm
