// Changes of a configuration that save memory. They are tried by the same estimate as the
// configuration itself, the mildest first; what is offered fits.
#include <torch/types.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/methods/grm/domain.h"
#include "grm/train/memory.h"
#include "grm/train/shapes.h"
#include "memory_parts.h"

namespace grm {
namespace {

constexpr size_t kOffered = 3;

using Settings = std::vector<std::pair<std::string, std::string>>;

// The same configuration with another preset or some other values; null where a combination is
// refused.
std::unique_ptr<RunConfig> changed(const RunConfig& config, const std::string& preset,
                                   const Settings& settings) {
  try {
    auto copy = std::make_unique<RunConfig>(config.dataset_name(), config.method_name(),
                                            preset.empty() ? config.method.preset() : preset);
    for (const Option& o : config.dataset.options().options()) {
      copy->dataset.options().set("dataset", o.key, o.get());
    }
    // What differs from the preset was asked for, and stays under another one too.
    const RunConfig as_named(config.dataset_name(), config.method_name(), config.method.preset());
    const std::vector<Option>& named = as_named.method.options().options();
    for (size_t k = 0; k < named.size(); ++k) {
      const Option& o = config.method.options().options()[k];
      if (o.get() != named[k].get()) copy->method.options().set("method", o.key, o.get());
    }
    for (const auto& [key, value] : settings) copy->set("method." + key, value);
    copy->train = config.train;
    if (config.method_name() == "grm" && config.dataset.entry().level == Level::node) {
      grm_options(copy->method.options(), false).check();
    }
    return copy;
  } catch (const Error&) {
    return nullptr;
  }
}

// One setting that may save memory, if the method has such an option and it is not there yet.
class Candidates {
 public:
  explicit Candidates(const OptionValues& values) : values_(values) {}

  void text(const std::string& key, const std::string& value) {
    if (values_.has(key) && values_.text(key) != value) singles.push_back({{key, value}});
  }
  // A half, a quarter and an eighth of a whole number, and at least `least`.
  void smaller(const std::string& key, double least) {
    if (!values_.has(key)) return;
    double value = values_.number(key);
    for (int k = 0; k < 3 && value > least; ++k) {
      value = std::max(least, static_cast<double>(static_cast<int64_t>(value / 2)));
      singles.push_back({{key, fmt::format("{:.0f}", value)}});
    }
  }
  std::vector<Settings> singles;

 private:
  const OptionValues& values_;
};

std::vector<std::string> keys_of(const Settings& settings) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : settings) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<Settings> candidates(const RunConfig& config, const Task& task) {
  const OptionValues values(config.method.options());
  Candidates c(values);
  // What changes a result least comes first.
  c.smaller("editor_memory_mib", 0);
  if (values.has("influence")) {
    const GrmOptions options = grm_options(config.method.options(), false);
    const bool exact = std::any_of(
        task.training.begin(), task.training.end(),
        [&](const Domain& d) { return uses_exact_influence(options, d.graph.nodes()); });
    if (exact) c.text("influence", "sampled");
  }
  if (values.has("invariance_nodes") && values.number("invariance_nodes") == 0) {
    c.singles.push_back({{"invariance_nodes", "1"}});
  }
  c.text("update", "per_domain");
  c.text("ad_aug", "false");
  c.smaller("contrast_nodes", 256);
  if (values.has("contrast_nodes") && values.number("contrast_nodes") == 0) {
    c.singles.push_back({{"contrast_nodes", "1024"}});
  }
  c.smaller("batch", 8);
  c.smaller("influence_members", 8);
  c.smaller("views", 1);
  c.smaller("heads", 1);
  c.text("encoder_input", "raw");
  if (values.has("fanout") && values.text("fanout") != "[10, 0]") {
    c.singles.push_back({{"fanout", "10,0"}});
  }
  c.smaller("hidden", 16);
  if (values.has("latent")) {
    for (const char* width : {"64", "32", "16"}) {
      if (values.number("latent") > std::stod(width)) {
        c.singles.push_back({{"hidden", width}, {"latent", width}});
      }
    }
  }
  c.smaller("layers", 2);
  // Pairs of the strongest of each kind, where one change alone is not enough.
  std::vector<Settings> strongest, all = c.singles;
  for (size_t k = 0; k < c.singles.size(); ++k) {
    const bool last =
        k + 1 == c.singles.size() || keys_of(c.singles[k + 1]) != keys_of(c.singles[k]);
    if (last) strongest.push_back(c.singles[k]);
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

}  // namespace

std::vector<MemoryOption> options_that_fit(const RunConfig& config, const Task& task,
                                           const torch::Device& device, double limit) {
  memory::Measures measures;
  std::vector<MemoryOption> found;
  std::vector<std::vector<std::string>> used;  // keys of what is offered already
  const auto bytes_of = [&](const RunConfig& candidate) {
    const MemoryEstimate estimate = memory::estimate(candidate, task, device, measures);
    return device.is_cuda() ? estimate.device() : estimate.host();
  };
  for (const Settings& settings : candidates(config, task)) {
    if (found.size() == kOffered) break;
    // Three ways out, not three sizes of one.
    const std::vector<std::string> keys = keys_of(settings);
    const bool covered = std::any_of(used.begin(), used.end(), [&](const auto& old) {
      return std::includes(keys.begin(), keys.end(), old.begin(), old.end());
    });
    if (covered) continue;
    const std::unique_ptr<RunConfig> candidate = changed(config, "", settings);
    if (!candidate) continue;
    const double bytes = bytes_of(*candidate);
    if (bytes > limit) continue;
    std::string flags;
    for (const auto& [key, value] : settings) {
      flags += fmt::format("{}--set method.{}={}", flags.empty() ? "" : " ", key, value);
    }
    found.push_back({flags, bytes});
    used.push_back(keys);
  }
  for (const Preset& preset : config.method.entry().presets) {
    if (found.size() == kOffered) break;
    if (preset.name == config.method.preset()) continue;
    const std::unique_ptr<RunConfig> candidate = changed(config, preset.name, {});
    if (!candidate) continue;
    const double bytes = bytes_of(*candidate);
    if (bytes <= limit) found.push_back({"--preset " + preset.name, bytes});
  }
  return found;
}

}  // namespace grm
