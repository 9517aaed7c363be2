#include "methods/grm/device_epoch.h"

#include <torch/types.h>

#include <array>
#include <cstring>

#include "core/stages.h"
#include "graph/device_nets.h"
#include "graph/random.h"
#include "grm/core/error.h"
#include "grm/graph/device.h"

namespace grm {
namespace {

// Keys of a domain's step: neighbours, latent noise, then those of its dropout masks.
constexpr int64_t kDropoutKeys = 6;
constexpr int64_t kKeys = 2 + kDropoutKeys;

}  // namespace

bool DeviceEpoch::possible(const GrmOptions& options, const torch::Device& device) {
  return device.is_cuda() && !options.own_encoder() && options.scope == Scope::ego &&
         DeviceNets::fit(options.fanout) && options.invariance_nodes == 0 &&
         options.influence != InfluenceSearch::local &&
         (options.local_encoder() || options.domain_encoding == DomainPass::pooled);
}

DeviceEpoch::DeviceEpoch(const GrmOptions& options, const TrainView& view, const Rng& rng,
                         GrmModel& model, nn::Adam& optimiser, const torch::Device& device)
    : options_(options),
      view_(view),
      rng_(rng),
      model_(model),
      optimiser_(optimiser),
      device_(device),
      sums_(torch::zeros({5}, torch::dtype(torch::kFloat64).device(device))) {}

std::vector<double> DeviceEpoch::run(int64_t epoch, int64_t steps, const Targets& targets) {
  sums_.zero_();
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<torch::Tensor> chosen;
    std::vector<int64_t> counts;
    for (size_t d = 0; d < view_.training.size(); ++d) {
      chosen.push_back(targets(step, d));
      counts.push_back(chosen.back().numel());
    }
    const torch::Tensor numbers = words(epoch, step, chosen);
    const bool same = counts == recorded_counts_ && steps == recorded_steps_;
    if (!same || !record_ || StageRecorder::current()) {  // a replay has no stages
      // The first step of a shape runs as it is: it makes libtorch and our caches allocate what
      // they keep. The last, smaller step of an epoch must not drive out the record of the others.
      const torch::Tensor here = on_device(numbers, device_);
      cuda_torch::in_side_stream([&] { launch(here, counts, steps); });
      optimiser_.count_step();
      if (!record_) {
        recorded_counts_ = counts;
        recorded_steps_ = steps;
        recorded_words_ = torch::empty_like(here);
        record_ = std::make_unique<cuda_torch::RecordedWork>();
      }
      continue;
    }
    recorded_words_.copy_(numbers, /*non_blocking=*/true);
    if (!record_->recorded()) {
      record_->record([&] { launch(recorded_words_, counts, steps); });
    }
    record_->replay();
    optimiser_.count_step();
  }
  const torch::Tensor sums = sums_.cpu();
  const double* sum = sums.data_ptr<double>();
  return {sum, sum + 5};
}

torch::Tensor DeviceEpoch::words(int64_t epoch, int64_t step,
                                 const std::vector<torch::Tensor>& targets) {
  const std::array<double, 7> adam = optimiser_.next_step();
  int64_t size = static_cast<int64_t>(adam.size());
  for (const torch::Tensor& chosen : targets) size += 2 * chosen.numel() + kKeys;
  torch::Tensor words = torch::empty({size}, torch::dtype(torch::kInt64).pinned_memory(true));
  int64_t* word = words.data_ptr<int64_t>();
  std::memcpy(word, adam.data(), sizeof(adam));
  word += adam.size();
  for (size_t d = 0; d < targets.size(); ++d) {
    const torch::Tensor chosen = targets[d].contiguous();
    const int64_t* target = chosen.data_ptr<int64_t>();
    const torch::Tensor labels = view_.training[d].labels.y.contiguous();
    const int64_t* y = labels.data_ptr<int64_t>();
    const int64_t count = chosen.numel();
    for (int64_t k = 0; k < count; ++k) {
      word[k] = target[k];
      word[count + k] = y[target[k]];
    }
    word += 2 * count;
    const uint64_t place = static_cast<uint64_t>(step) * targets.size() + d;
    const auto e = static_cast<uint64_t>(epoch);
    const uint64_t dropout = rng_.stream("dropout", e, place).key();
    *word++ = static_cast<int64_t>(rng_.stream("neighbours", e, place).key());
    *word++ = static_cast<int64_t>(rng_.stream("latent", e, place).key());
    for (int64_t k = 0; k < kDropoutKeys; ++k) {
      *word++ = static_cast<int64_t>(nn::Pass::key_of_call(dropout, static_cast<uint64_t>(k)));
    }
  }
  return words;
}

void DeviceEpoch::launch(const torch::Tensor& words, const std::vector<int64_t>& counts,
                         int64_t steps) {
  optimiser_.zero_grad();
  int64_t at = 7;  // behind the numbers of Adam
  for (size_t d = 0; d < counts.size(); ++d) {
    const Domain& domain = view_.training[d];
    const torch::Tensor targets = words.narrow(0, at, counts[d]);
    const torch::Tensor y = words.narrow(0, at + counts[d], counts[d]);
    at += 2 * counts[d];
    const auto* keys = reinterpret_cast<const uint64_t*>(words.data_ptr<int64_t>()) + at;
    at += kKeys;
    const Stream placed(0);
    const PreparedBatch g = model_.prepare(
        DeviceNets(*domain.graph.edges, targets, options_.fanout, placed.at_place(keys)));
    torch::Tensor eps;
    if (options_.stochastic()) {
      eps = torch::empty({g.batch.rows(), options_.latent},
                         torch::dtype(torch::kFloat32).device(device_));
      fill_normal(placed.at_place(keys + 1), eps);
    }
    nn::Pass pass = nn::Pass::train(placed.at_place(keys + 2));
    const GrmTerms terms = model_.losses(domain.graph, g, eps, view_.loss, {}, y, pass);
    ensure(pass.calls() <= kDropoutKeys, "DeviceEpoch: more dropout masks than keys");
    const torch::Tensor total = terms.total(options_);
    const double share = 1.0 / static_cast<double>(counts.size());
    const Stage stage("backward");
    (total * share).backward();
    const at::NoGradGuard no_grad;
    sums_.add_(
        torch::stack({total, terms.supervision, terms.latent_kl, terms.edge_kl, terms.invariance}),
        share / static_cast<double>(steps));
  }
  optimiser_.step_at(words.data_ptr<int64_t>());
}

}  // namespace grm
