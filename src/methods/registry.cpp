#include "grm/core/error.h"
#include "grm/methods/grm/options.h"
#include "grm/methods/table.h"

namespace grm {
namespace {

// Values that the reference protocol (EERM's run scripts) or our measurements on validation give
// for one dataset. Applied after the preset and before the user's own.
struct Suggestion {
  const char* dataset;
  const char* method;
  const char* preset;  // "" for all presets
  const char* key;
  const char* value;
};

constexpr Suggestion kSuggestions[] = {
    {"cora", "erm", "", "lr", "0.001"},           {"photo", "erm", "", "lr", "0.001"},
    {"cora-mix", "erm", "", "lr", "0.001"},       {"fb100", "erm", "", "update", "per_domain"},
    {"elliptic", "erm", "", "weight_decay", "0"}, {"arxiv", "erm", "", "weight_decay", "0"},
    {"arxiv", "erm", "", "train.epochs", "500"},  {"arxiv", "grm", "", "batch", "1000"},
    {"elliptic", "grm", "", "batch", "100"},      {"twitch", "grm", "centred", "lr", "0.01"},
};

}  // namespace

const std::vector<MethodEntry>& methods() {
  static const std::vector<MethodEntry> table = {
      {"erm",
       {"node"},
       "Empirical risk minimisation on one of six backbones",
       {{"kipf", "GCN with self-loops and symmetric normalisation, 2 layers of 128", {}},
        {"as-coded",
         "The sum convolution of the published code, hidden width 32",
         {{"conv", "sum"}, {"hidden", "32"}}}},
       make_erm},
      {"grm",
       {"node"},
       "Generative Risk Minimization: generates the invariant subgraph it classifies",
       grm_presets(),
       make_grm},
  };
  return table;
}

const MethodEntry& find_method(const std::string& name) {
  std::vector<std::string> known;
  for (const MethodEntry& entry : methods()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  fail(ErrorKind::config, "'{}' is not a method{}; 'grm methods' lists them", name,
       did_you_mean(name, known));
}

MethodChoice::MethodChoice(const std::string& name, const std::string& preset,
                           const std::string& dataset)
    : entry_(find_method(name)),
      preset_(preset.empty() ? entry_.presets.front().name : preset),
      recipe_(entry_.make()) {
  recipe_->declare(options_);
  const Preset* chosen = nullptr;
  std::vector<std::string> known;
  for (const Preset& candidate : entry_.presets) {
    if (candidate.name == preset_) chosen = &candidate;
    known.push_back(candidate.name);
  }
  if (!chosen) {
    std::string names;
    for (const std::string& word : known) names += (names.empty() ? "" : ", ") + word;
    fail(ErrorKind::config, "'{}' is not a preset of {}{}; it has: {}", preset_, name,
         did_you_mean(preset_, known), names);
  }
  const auto apply = [&](const std::string& key, const std::string& value) {
    if (key.rfind("train.", 0) == 0) {
      train_values_.emplace_back(key.substr(6), value);
    } else {
      options_.set("method", key, value);
    }
  };
  for (const auto& [key, value] : chosen->values) apply(key, value);
  for (const Suggestion& s : kSuggestions) {
    if (dataset == s.dataset && name == s.method && (!*s.preset || preset_ == s.preset)) {
      apply(s.key, s.value);
    }
  }
}

}  // namespace grm
