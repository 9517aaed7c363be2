// Changes of a configuration that save memory. They are tried by the same estimate as the
// configuration itself, the mildest first; what is offered fits.
#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "train/memory.h"
#include "train/sampling.h"

namespace grm {
namespace {

constexpr size_t kOffered = 3;
const std::string kLayers = "layers";  // an option of methods whose networks have any number

// The method with some other values; nothing where a combination is refused.
std::optional<MethodChoice> changed(MethodChoice method, const Settings& settings) {
  try {
    for (const auto& [key, value] : settings) method.options().set("method", key, value);
    method.recipe().check();
    return method;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// What differs from the preset was asked for, and stays under another one too.
Settings asked_for(const RunConfig& config) {
  const MethodChoice named(config.method_name(), config.method.preset(), config.dataset_name());
  Settings settings;
  for (size_t k = 0; k < named.options().options().size(); ++k) {
    const Option& o = config.method.options().options()[k];
    if (o.get() != named.options().options()[k].get()) settings.emplace_back(o.key, o.get());
  }
  return settings;
}

std::vector<std::string> keys_of(const Settings& settings) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : settings) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

// What the method offers, one by one, and then pairs of the strongest of each kind, where one change
// alone is not enough.
std::vector<Settings> candidates(const std::vector<Saving>& savings) {
  std::vector<Settings> all, strongest;
  for (const Saving& saving : savings) {
    all.insert(all.end(), saving.begin(), saving.end());
    if (!saving.empty()) strongest.push_back(saving.back());
  }
  for (size_t a = 0; a < strongest.size(); ++a) {
    for (size_t b = a + 1; b < strongest.size(); ++b) {
      Settings both = strongest[a];
      both.insert(both.end(), strongest[b].begin(), strongest[b].end());
      all.push_back(std::move(both));
    }
  }
  return all;
}

// Steps on samples: 15 neighbours of a target, 10 of each of those, 5 of each further one.
std::pair<std::string, Sampling> in_batches(const RunConfig& config) {
  constexpr int64_t kBatch = 1024;
  int64_t hops = 2;
  for (const Option& o : config.method.options().options()) {
    if (o.key == kLayers) hops = std::max<int64_t>(1, std::stoll(o.get()));
  }
  Sampling sampling;
  sampling.batch = kBatch;
  for (int64_t k = 0; k < hops; ++k) sampling.fanout.push_back(std::max<int64_t>(5, 15 - 5 * k));
  return {fmt::format("--set train.batch={} --set train.fanout={}", kBatch,
                      fmt::join(sampling.fanout, ",")),
          sampling};
}

}  // namespace

std::vector<MemoryOption> options_that_fit(const RunConfig& config, const Task& task,
                                           const torch::Device& device, double limit) {
  const RunShape run(task, config.train.epochs, sampling_of(config));
  std::vector<MemoryOption> found;
  std::vector<std::vector<std::string>> used;  // keys of what is offered already
  // Offers a change if it is none that is refused and it fits.
  const auto offer = [&](const std::string& flags, const std::optional<MethodChoice>& method,
                         const RunShape& steps) {
    if (!method) return false;
    const MemoryEstimate estimate = estimate_memory(method->recipe(), task, steps, device);
    const double bytes = device.is_cuda() ? estimate.device() : estimate.host();
    if (bytes <= limit) found.push_back({flags, bytes});
    return bytes <= limit;
  };
  if (config.method.recipe().takes_batches() && !run.sampling.on()) {
    const auto [flags, sampling] = in_batches(config);
    RunShape steps = run;
    steps.sampling = sampling;
    offer(flags, config.method, steps);
  }
  for (const Settings& settings : candidates(config.method.recipe().savings(run))) {
    if (found.size() == kOffered) break;
    // Three ways out, not three sizes of one.
    const std::vector<std::string> keys = keys_of(settings);
    const bool covered = std::any_of(used.begin(), used.end(), [&](const auto& old) {
      return std::includes(keys.begin(), keys.end(), old.begin(), old.end());
    });
    if (covered) continue;
    std::string flags;
    for (const auto& [key, value] : settings) {
      flags += fmt::format("{}--set method.{}={}", flags.empty() ? "" : " ", key, value);
    }
    if (offer(flags, changed(config.method, settings), run)) used.push_back(keys);
  }
  for (const Preset& preset : config.method.entry().presets) {
    if (found.size() == kOffered) break;
    if (preset.name == config.method.preset()) continue;
    const MethodChoice other(config.method_name(), preset.name, config.dataset_name());
    offer("--preset " + preset.name, changed(other, asked_for(config)), run);
  }
  return found;
}

}  // namespace grm
