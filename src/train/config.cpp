#include "grm/train/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "core/text.h"
#include "core/toml_library.h"
#include "core/toml_text.h"
#include "grm/core/error.h"
#include "methods/good_settings.h"

namespace grm {

void TrainOptions::declare(OptionList& list) {
  list.add("epochs", epochs, {1, 1e7}, "training epochs");
  list.add("eval_every", eval_every, {1, 1e7},
           "epochs between evaluations; the last epoch is always evaluated");
  list.add("patience", patience, {0, 1e7},
           "evaluations that the rule of early stopping looks back; 0: never stop early");
  list.choice("stop", stop,
              "stop when the best validation score is `patience` evaluations old, or when the "
              "latest is below the mean of the `patience` before it (LiSA)");
  list.add("warm_up", warm_up, {0, 1e7}, "below_mean: epochs before it may stop a run");
  list.add("milestone", milestone, {0, 1e7},
           "epochs after which learning rates are a tenth of what they were; 0: never");
  list.choice("test", test,
              "when test domains are scored: once the model is chosen, at every evaluation (for "
              "the oracle rule), or not at all (tuning)");
  list.choice("selection", selection,
              "which epoch's model is kept and reported: best validation, the last, or best test "
              "(an upper bound, not a result; needs test = every)");
  list.choice(
      "validate_on", validate_on,
      "what validation looks at: what the dataset gives, or a tenth of the training graphs, "
      "the largest ones (of all, or of each class), which leave training");
  list.choice("average", average,
              "weights that are evaluated, chosen and saved: those of an epoch, or an exponential "
              "(ema) or equal (swa) average over epochs, running statistics included");
  list.add("average_decay", average_decay, {0, 1}, "ema: share of the old average in an epoch");
  list.add("average_start", average_start, {0, 1e7}, "epochs before the first that is averaged");
  list.add("calibrate", calibrate,
           "fit a temperature on validation when the model is chosen, so that its probabilities "
           "mean what they say; it changes no class and no score");
  list.add("class_weights", class_weights,
           "what items of each class count in the loss: none (all the same), balanced (classes "
           "alike), names as in fraud=5, or a number for each class as in 1,5");
  list.add("focal", focal, {0, 10},
           "gamma of the focal loss: an item counts (1 - p)^gamma, p the probability of its label; "
           "0: plain loss");
  list.add("shards", shards, {1, 100000},
           "parts into which a batch is cut: each is computed alone and gradients are summed in "
           "their order, so that as many processes as divide it train to the same bits");
  list.add("batch", batch, {0, 1e9},
           "node level: target nodes of each training domain in a step, on a sample of their "
           "neighbourhood, for graphs that are too large to train on as a whole; 0: whole graphs");
  list.add(
      "fanout", fanout, {0, 1e6},
      "neighbours drawn for a node of a sample, by hop from the targets on, as in [15, 10]; 0, "
      "or an empty list: all of them");
  list.add("seeds", seeds, {1, 100000}, "independent runs");
  list.add("first_seed", first_seed, {0, 9e15}, "seed of the first run; the others count up");
  list.add("checkpoint_seconds", checkpoint_seconds, {0, 1e9},
           "seconds between checkpoints; they never change a result");
  list.choice("log", log,
              "what a run writes beside metrics.jsonl: metrics.csv, event files for TensorBoard, "
              "or both; it changes no result");
  list.add("device", device,
           "where to compute: cpu, cuda, cuda:1 (a number) or auto, the first GPU if there is one; "
           "the flag --device goes over it");
}

namespace {

enum class Section { dataset, method, train };
GRM_WORDS(Section, "dataset", "method", "train")

Section section_named(const std::string& word) {
  if (const std::optional<Section> section = grm::value_of<Section>(word)) return *section;
  fail(ErrorKind::config, "'{}' is not a section{}; the sections are dataset, method, train", word,
       did_you_mean(word, words_of(Section{})));
}

// Options that came after the first runs were recorded. Those of a line are left out where all of
// them have their defaults: runs of programs that did not know them keep their text. "grm.x" is an
// option of that method alone, "train.x" one of the training loop, "scale.x" one of that
// dataset.
const std::vector<std::vector<std::string>>& later_options() {
  static const std::vector<std::vector<std::string>> groups = {
      {"input_dropout"},
      {"pool"},
      {"grm.pooling"},
      {"grm.batch_norm"},
      {"presence", "presence_weight", "presence_prior", "presence_warm_up"},
      {"validate_on"},
      {"average", "average_decay", "average_start"},
      {"class_weights"},
      {"focal"},
      {"shards"},
      {"train.batch", "train.fanout"},
      {"milestone"},
      {"scale.labelled"},
      {"grm.classifier"},
      {"arm.backbone"},
      {"isgib.backbone"},
      {"mario.encoder"}};
  return groups;
}

// The keys of a list that its owner's text leaves out.
std::set<std::string> untouched_later_options(const OptionList& list, const std::string& owner) {
  std::set<std::string> out;
  for (const std::vector<std::string>& group : later_options()) {
    std::set<std::string> members;
    bool touched = false;
    for (const Option& o : list.options()) {
      const bool member = std::count(group.begin(), group.end(), o.key) > 0 ||
                          std::count(group.begin(), group.end(), owner + "." + o.key) > 0;
      if (!member) continue;
      members.insert(o.key);
      touched = touched || o.get() != o.default_value;
    }
    if (!touched) out.insert(members.begin(), members.end());
  }
  return out;
}

void append_values(std::string& text, const OptionList& list, const std::set<std::string>& but) {
  for (const Option& o : list.options()) {
    if (but.count(o.key) == 0) text += fmt::format("{} = {}\n", o.key, o.get());
  }
}

// The options of GOOD's datasets that say what shifts, and how.
const std::string kDomainKey = "domain", kShiftKey = "shift";

// The word of a choice without its quotes.
std::string plain_word(const std::string& value) {
  const bool quoted = value.size() > 1 && value.front() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

RunConfig::RunConfig(const std::string& dataset_name, const std::string& method_name,
                     const std::string& preset)
    : dataset(dataset_name), method(method_name, preset, dataset_name) {
  if (!is_utf8(this->dataset_name())) {
    fail(ErrorKind::config,
         "{}: the path of the data is not UTF-8, so no configuration file can name it; rename it, "
         "or "
         "make a link to it: ln -s PATH data",
         utf8_text(this->dataset_name()));
  }
  train.declare(train_options_);
  for (const auto& [key, value] : method.train_values()) train_options_.set("train", key, value);
  follow_dataset();
}

RunConfig::RunConfig(const RunConfig& other)
    : dataset(other.dataset), method(other.method), told_(other.told_) {
  train.declare(train_options_);
  train = other.train;
}

RunConfig& RunConfig::operator=(const RunConfig& other) {
  dataset = other.dataset;
  method = other.method;
  train = other.train;
  told_ = other.told_;
  return *this;
}

void RunConfig::set(const std::string& path, const std::string& value) {
  const size_t dot = path.find('.');
  const std::string section = path.substr(0, dot);
  if (dot == std::string::npos) {
    fail(ErrorKind::config, "'{}' is not of the form section.key, as in method.lr=0.01", path);
  }
  const std::string key = path.substr(dot + 1);
  const Section named = section_named(section);
  told_.insert(path);
  switch (named) {
    case Section::dataset:
      dataset.options().set(section, key, value);
      return follow_dataset();
    case Section::method:
      return method.options().set(section, key, value);
    case Section::train:
      return train_options_.set(section, key, value);
  }
}

void RunConfig::follow_dataset() {
  if (method.preset() != kGoodPreset) return;
  std::string domain, shift;
  for (const Option& o : dataset.options().options()) {
    if (o.key == kDomainKey) domain = plain_word(o.get());
    if (o.key == kShiftKey) shift = plain_word(o.get());
  }
  for (const auto& [key, value] :
       good_values(method_name(), dataset_name(), domain, shift, method.options())) {
    static const std::string kTrain = "train.";
    const bool of_train = key.rfind(kTrain, 0) == 0;
    if (told_.count(of_train ? key : "method." + key) > 0) continue;
    if (of_train) {
      train_options_.set("train", key.substr(kTrain.size()), value);
    } else {
      method.options().set("method", key, value);
    }
  }
}

std::string RunConfig::to_toml(int64_t seed) const {
  std::string text =
      fmt::format("seed = {}\n\n[dataset]\nname = {}\n", seed, toml_string(dataset_name()));
  append_values(text, dataset.options(),
                untouched_later_options(dataset.options(), dataset_name()));
  text += fmt::format("\n[method]\nname = {}\npreset = {}\n", toml_string(method_name()),
                      toml_string(method.preset()));
  append_values(text, method.options(), untouched_later_options(method.options(), method_name()));
  text += "\n[train]\n";
  std::set<std::string> silent = untouched_later_options(train_options_, "train");
  silent.insert({"seeds", "first_seed", "checkpoint_seconds", "log"});
  if (train.device == TrainOptions{}.device) silent.insert("device");
  if (train.calibrate) silent.insert("calibrate");
  append_values(text, train_options_, silent);
  return text;
}

namespace {

std::string value_text(const toml::node& node) {
  if (const auto* word = node.as_string()) return word->get();
  std::ostringstream out;
  out << toml::default_formatter(toml::table{{"v", toml::inserter{node}}},
                                 toml::format_flags::none);
  const std::string line = out.str();  // "v = value"
  return line.substr(line.find('=') + 2);
}

// As OptionList::set takes it: quotes that belong to the text are not taken off it.
std::string option_text(const toml::node& node) {
  const std::string text = value_text(node);
  const bool in_quotes = node.is_string() && !text.empty() && (text[0] == '"' || text[0] == '\'');
  return in_quotes ? toml_string(text) : text;
}

}  // namespace

ConfigSections config_sections(const std::string& text, const std::string& origin) {
  ConfigSections sections;
  for (const auto& [section, table] : read_toml(text, origin)) {
    if (!table.is_table()) continue;
    auto& values = sections[std::string(section.str())];
    for (const auto& [key, value] : *table.as_table()) {
      values[std::string(key.str())] = value_text(value);
    }
  }
  return sections;
}

RunConfig config_from_toml(const std::string& text, const std::string& origin,
                           const std::string& dataset, const std::string& method,
                           const std::string& preset) {
  const toml::table file = read_toml(text, origin);
  const auto word = [&](const char* section, const char* key, const std::string& given) {
    return given.empty() ? file[section][key].value_or(std::string()) : given;
  };
  const std::string dataset_name = word("dataset", "name", dataset);
  const std::string method_name = word("method", "name", method);
  if (dataset_name.empty() || method_name.empty()) {
    fail(ErrorKind::config, "{}: no {} is named; write [{}] with name = \"...\"", origin,
         dataset_name.empty() ? "dataset" : "method", dataset_name.empty() ? "dataset" : "method");
  }
  RunConfig config(dataset_name, method_name, word("method", "preset", preset));
  const std::set<std::string> read = {"dataset.name", "method.name", "method.preset"};
  const std::set<std::string> apart = {"seed"};  // the files that runs leave behind carry theirs
  for (const auto& [section, table] : file) {
    const std::string name(section.str());
    if (!table.is_table()) {
      if (apart.count(name) > 0) continue;
      fail(ErrorKind::config, "{}: '{}' is outside [dataset], [method] and [train]",
           toml_place(origin, table.source()), name);
    }
    for (const auto& [key, value] : *table.as_table()) {
      const std::string option = name + "." + std::string(key.str());
      if (read.count(option) > 0) continue;
      try {
        config.set(option, option_text(value));
      } catch (const Error& error) {
        fail(ErrorKind::config, "{}: {}", toml_place(origin, value.source()), error.what());
      }
    }
  }
  return config;
}

namespace {

void append_table(std::string& page, const OptionList& list, const std::string& section) {
  page += "| key | default | allowed | meaning |\n|---|---|---|---|\n";
  for (const Option& o : list.options()) {
    std::string allowed = o.allowed.empty() ? o.type : o.allowed;
    for (size_t at = 0; (at = allowed.find('|', at)) != std::string::npos; at += 2) {
      allowed.insert(at, "\\");
    }
    page += fmt::format("| `{}.{}` | `{}` | {} | {} |\n", section, o.key, o.default_value, allowed,
                        o.help);
  }
  page += "\n";
}

}  // namespace

std::string options_reference() {
  std::string page =
      "# Options\n\nMade by `grm options --markdown` from the declarations in the source; a test "
      "compares the two.\nSet an option with `--set section.key=value` or in a TOML file under "
      "`[section]`.\n\n## Training\n\n";
  TrainOptions train;
  OptionList train_list;
  train.declare(train_list);
  append_table(page, train_list, "train");
  page += "# Datasets\n\n";
  for (const DatasetEntry& entry : datasets()) {
    page += fmt::format("## {}\n\n{}.\n\n", entry.name, entry.summary);
    const DatasetChoice choice(entry.name);
    append_table(page, choice.options(), "dataset");
  }
  page += "# Methods\n\n";
  for (const MethodEntry& entry : methods()) {
    page += fmt::format("## {}\n\n{}.\n\nPresets (the first is the default):\n\n", entry.name,
                        entry.summary);
    for (const Preset& preset : entry.presets) {
      page += fmt::format("* `{}`: {}", preset.name, preset.summary);
      for (size_t k = 0; k < preset.values.size(); ++k) {
        page += fmt::format("{}`{} = {}`", k == 0 ? " (" : ", ", preset.values[k].first,
                            preset.values[k].second);
      }
      page += preset.values.empty() ? "\n" : ")\n";
    }
    page += "\n";
    const std::unique_ptr<MethodRecipe> recipe = entry.make();
    OptionList list;
    recipe->declare(list);
    append_table(page, list, "method");
  }
  while (page.size() > 1 && page[page.size() - 2] == '\n') page.pop_back();
  return page;
}

}  // namespace grm
