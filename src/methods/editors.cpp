#include "methods/editors.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "methods/editor_column.h"

namespace grm {
namespace {

constexpr int64_t kColumns = 64;  // columns that one thread handles at a time
constexpr double kColumnBytes = 450.0, kEntryBytes = 16.0;  // implicit editors

// Parameters and moments of all pairs.
double explicit_bytes(const EditorOptions& options, double nodes) {
  return static_cast<double>(options.views) * nodes * nodes * 3 * sizeof(float);
}

std::vector<double> to_doubles(const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.to(torch::kFloat64).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

}  // namespace

bool kept_implicitly(const EditorOptions& options, double nodes) {
  return explicit_bytes(options, nodes) > static_cast<double>(options.memory_mib) * 1024 * 1024;
}

Stream EditorStreams::initial(int64_t view, int64_t epoch) const {
  const uint64_t name = place * static_cast<uint64_t>(views) + static_cast<uint64_t>(view);
  return rng.stream("editor-init", name, static_cast<uint64_t>(epoch));
}

Stream EditorStreams::trial(int64_t view, int64_t number) const {
  const uint64_t name = place * static_cast<uint64_t>(views) + static_cast<uint64_t>(view);
  return rng.stream("editor-trial", static_cast<uint64_t>(number), name);
}

double editor_bytes(const EditorOptions& options, double nodes, double steps) {
  if (!kept_implicitly(options, nodes)) return explicit_bytes(options, nodes);
  const double chosen = std::min(nodes, steps * static_cast<double>(options.edits));
  return static_cast<double>(options.views) * nodes * (kColumnBytes + kEntryBytes * chosen);
}

struct GraphEditors::View {
  uint64_t key;  // of the initial values
  bool zeros;
  std::vector<EditorColumn> columns;
  double bound = 0.0;  // as_coded: no pi_i(j) is above it
  InitialValues initial(int64_t target) const {
    return {mix64(key, static_cast<uint64_t>(target)), zeros};
  }
};

GraphEditors::GraphEditors(const EditorOptions& options, int64_t nodes, const Rng& rng,
                           uint64_t place)
    : options_(options), nodes_(nodes), streams_{rng, place, options.views} {
  if (options.edits > nodes) {
    fail(ErrorKind::config, "method.edits is {}, but a training graph has {} nodes", options.edits,
         nodes);
  }
  implicit_ = kept_implicitly(options, static_cast<double>(nodes));
}

GraphEditors::~GraphEditors() = default;

void GraphEditors::begin_epoch(int64_t epoch) {
  if (options_.init == EditorInit::uniform_each_epoch && epoch != epoch_) {
    views_.clear();
    log_.clear();
  }
  epoch_ = epoch;
}

void GraphEditors::each_column(const std::function<void(View&, int64_t)>& body) {
  parallel_chunks(options_.views * nodes_, kColumns, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) body(views_[c / nodes_], c % nodes_);
  });
  if (options_.law != EditorLaw::as_coded) return;
  for (View& view : views_) {
    view.bound = 0.0;
    for (const EditorColumn& column : view.columns) {
      view.bound = std::max(view.bound, column.bound() / column.mass());
    }
  }
}

// Not in the constructor: a model that only predicts needs no editors.
void GraphEditors::prepare() {
  if (!views_.empty()) return;
  const bool fresh = options_.init == EditorInit::uniform_each_epoch;
  for (int64_t k = 0; k < options_.views; ++k) {
    views_.push_back({streams_.initial(k, fresh ? epoch_ : 0).key(),
                      options_.init == EditorInit::zeros, std::vector<EditorColumn>(nodes_)});
  }
  each_column(
      [&](View& view, int64_t i) { view.columns[i].start(nodes_, view.initial(i), implicit_); });
}

torch::Tensor GraphEditors::draw(int64_t k, const Stream& draws) {
  prepare();
  const View& view = views_.at(static_cast<size_t>(k));
  torch::Tensor flips = torch::empty({nodes_, options_.edits}, torch::kInt32);
  int32_t* out = flips.data_ptr<int32_t>();
  parallel_chunks(nodes_, kColumns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Stream stream(mix64(draws.key(), static_cast<uint64_t>(i)));
      int32_t* chosen = out + i * options_.edits;
      if (options_.law == EditorLaw::as_coded) {
        draw_coded(view, i, stream, chosen);
      } else {
        view.columns[i].draw(options_.edits, view.initial(i), stream, chosen);
      }
      std::sort(chosen, chosen + options_.edits);
    }
  });
  return flips;
}

// Weights are row i of the column-normalised matrix, which is spread over all columns: proposals
// are uniform, and after n refusals the whole row is gone through.
void GraphEditors::draw_coded(const View& view, int64_t i, Stream& draws, int32_t* chosen) const {
  const auto weight = [&](int64_t j) {
    return view.columns[j].weight(i, view.initial(j)) / view.columns[j].mass();
  };
  for (int64_t k = 0; k < options_.edits; ++k) {
    const auto is_new = [&](int64_t j) { return std::find(chosen, chosen + k, j) == chosen + k; };
    int64_t found = -1;
    for (int64_t trial = 0; trial < nodes_ && found < 0; ++trial) {
      const auto j = static_cast<int64_t>(draws.below(static_cast<uint64_t>(nodes_)));
      if (draws.uniform() * view.bound < weight(j) && is_new(j)) found = j;
    }
    if (found < 0) {
      std::vector<double> passed(nodes_);
      double sum = 0.0;
      for (int64_t j = 0; j < nodes_; ++j) passed[j] = sum += is_new(j) ? weight(j) : 0.0;
      const double u = draws.uniform() * sum;
      found = std::upper_bound(passed.begin(), passed.end() - 1, u) - passed.begin();
    }
    chosen[k] = static_cast<int32_t>(found);
  }
}

std::vector<torch::Tensor> GraphEditors::trial(int64_t number) {
  std::vector<torch::Tensor> flips;
  for (int64_t k = 0; k < options_.views; ++k) {
    flips.push_back(draw(k, streams_.trial(k, number)));
  }
  return flips;
}

void GraphEditors::step(int64_t number, const std::vector<torch::Tensor>& flips, double reward) {
  ensure(static_cast<int64_t>(flips.size()) == options_.views, "editors: one draw per view");
  prepare();
  log_.note(number, reward);
  const kernels::editor::Step step =
      editor_step(options_.lr, static_cast<int64_t>(log_.rewards.size()));
  const double count =
      options_.law == EditorLaw::as_coded ? 1.0 : static_cast<double>(options_.edits);
  each_column([&](View& view, int64_t i) {
    const torch::Tensor& drawn = flips[&view - views_.data()];
    view.columns[i].step(drawn.data_ptr<int32_t>() + i * options_.edits, options_.edits, reward,
                         count, step, view.initial(i));
  });
}

torch::Tensor GraphEditors::parameters(int64_t k, int64_t target) {
  prepare();
  const View& view = views_.at(static_cast<size_t>(k));
  torch::Tensor result = torch::empty({nodes_}, torch::kFloat64);
  for (int64_t j = 0; j < nodes_; ++j) {
    result.data_ptr<double>()[j] = view.columns[target].parameter(j, view.initial(target));
  }
  return result;
}

torch::Tensor GraphEditors::probabilities(int64_t k, int64_t target) {
  prepare();
  const View& view = views_.at(static_cast<size_t>(k));
  const EditorColumn& column = view.columns[target];
  torch::Tensor result = torch::empty({nodes_}, torch::kFloat64);
  for (int64_t j = 0; j < nodes_; ++j) {
    result.data_ptr<double>()[j] = column.weight(j, view.initial(target)) / column.mass();
  }
  return result;
}

void EditorLog::note(int64_t number, double reward) {
  numbers.push_back(number);
  rewards.push_back(reward);
}

std::map<std::string, torch::Tensor> EditorLog::state() const {
  if (rewards.empty()) return {};
  return {{"trials", torch::tensor(numbers, torch::kInt64)},
          {"rewards", torch::tensor(rewards, torch::kFloat64)}};
}

EditorLog EditorLog::from(const std::map<std::string, torch::Tensor>& state) {
  if (state.empty()) return {};
  const auto trials = state.find("trials"), rewards = state.find("rewards");
  if (trials == state.end() || rewards == state.end() ||
      trials->second.numel() != rewards->second.numel() ||
      trials->second.scalar_type() != torch::kInt64) {
    fail(ErrorKind::data,
         "the saved state of the graph editors needs 'trials' (int64) and "
         "'rewards' of one length");
  }
  const torch::Tensor numbers = trials->second.contiguous();
  const int64_t* number = numbers.data_ptr<int64_t>();
  return {{number, number + numbers.numel()}, to_doubles(rewards->second)};
}

std::map<std::string, torch::Tensor> GraphEditors::state() const {
  if (options_.init == EditorInit::uniform_each_epoch) return {};
  return log_.state();
}

void GraphEditors::restore(const std::map<std::string, torch::Tensor>& state) {
  views_.clear();
  log_.clear();
  const EditorLog log = EditorLog::from(state);
  for (size_t t = 0; t < log.numbers.size(); ++t) {
    step(log.numbers[t], trial(log.numbers[t]), log.rewards[t]);
  }
}

}  // namespace grm
