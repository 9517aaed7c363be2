// Specification files of studies: from TOML text to StudySpec, with the place of every mistake.
#include <set>

#include "study/dataset_names.h"
#include "study/spec_reader.h"
#include "study/toml_reader.h"

namespace grm::study {
namespace {

// Seeds or trials: every run of a study is kept in memory while it is planned.
constexpr int64_t kMostRepeats = 100000;

class Reader : public TomlReader {
 public:
  using TomlReader::TomlReader;

  StudySpec study(const std::string& text, std::vector<Include>& includes) {
    StudySpec spec;
    spec.origin = origin_;
    spec.text = text;
    const toml::table file = parse(text);
    only(file,
         {"name", "about", "seeds", "first_seed", "expected_minutes", "methods", "datasets",
          "dataset", "set", "variant", "when", "tune", "include"},
         "a study");
    spec.name = word(file, "name");
    spec.about = word(file, "about", "");
    if (spec.name.empty()) fail(ErrorKind::config, "{}: the study has no name", origin_);
    spec.seeds = whole(file, "seeds", 1, 1, kMostRepeats);
    spec.first_seed = whole(file, "first_seed", 1000, 0);
    spec.expected_minutes = number(file, "expected_minutes", 0.0);
    read_datasets(file, spec);
    read_methods(file, spec);
    if (const toml::node* set = file.get("set")) spec.set = settings(*set);
    read_variants(file, spec);
    read_when(file, spec);
    if (const toml::node* tune = file.get("tune")) spec.tune = read_tune(table(*tune), spec);
    read_includes(file, spec, includes);
    if (includes.empty() && (spec.datasets.empty() || spec.methods.empty())) {
      fail(ErrorKind::config, "{}: the study has no {}", origin_,
           spec.datasets.empty() ? "datasets" : "methods");
    }
    return spec;
  }

 private:
  void read_includes(const toml::table& file, const StudySpec& spec,
                     std::vector<Include>& includes) const {
    const toml::node* list = file.get("include");
    if (!list) return;
    if (spec.tune) fail_at(*list, "a study with [tune] cannot include others");
    if (!list->is_array()) fail_at(*list, "'include' is a list");
    for (const toml::node& node : *list->as_array()) includes.push_back({word(node), place(node)});
  }

  // "section.key" may be written as a quoted key, a dotted key or a nested table.
  std::vector<Setting> settings(const toml::node& node, const std::string& prefix = "") const {
    std::vector<Setting> list;
    for (const auto& [key, value] : table(node)) {
      const std::string path = prefix + std::string(key.str());
      if (value.is_table()) {
        for (Setting& inner : settings(value, path + ".")) list.push_back(std::move(inner));
        continue;
      }
      for (const auto& [name, instead] :
           {std::pair<const char*, const char*>{"train.seeds", "the study's own 'seeds'"},
            {"train.first_seed", "the study's own 'first_seed'"},
            {"train.checkpoint_seconds", "the flag --checkpoint-seconds"}}) {
        if (path == name) {
          fail_at(value, "'{}' cannot be set by a study; use {}", name, instead);
        }
      }
      list.push_back({path, value_text(value), place(value)});
    }
    return list;
  }

  void read_dataset(const toml::node& node, StudySpec& spec) const {
    DatasetSpec dataset;
    dataset.place = place(node);
    if (node.is_string()) {
      dataset.name = word(node);
    } else {
      const toml::table& entry = table(node);
      only(entry, {"name", "label", "seeds", "set"}, "a dataset");
      dataset.name = word(entry, "name");
      dataset.label = word(entry, "label");
      dataset.seeds = whole(entry, "seeds", 0, 0, kMostRepeats);
      if (const toml::node* set = entry.get("set")) dataset.set = settings(*set);
    }
    checked(node, [&] { find_dataset(dataset.name); });
    spec.datasets.push_back(std::move(dataset));
  }

  // Datasets without a label are called by their own names, which must not meet in one column.
  static void label_datasets(std::vector<DatasetSpec>& datasets) {
    std::set<std::string> given;
    std::vector<std::string> names;
    for (const DatasetSpec& dataset : datasets) {
      if (dataset.label.empty()) names.push_back(dataset.name);
      given.insert(dataset.label);
    }
    const std::vector<std::string> labels = dataset_labels(names, given);
    size_t next = 0;
    std::set<std::string> seen;
    for (DatasetSpec& dataset : datasets) {
      if (dataset.label.empty()) dataset.label = labels[next++];
      if (!seen.insert(dataset.label).second) {
        fail(ErrorKind::config, "{}: the dataset '{}' is here already; give it another label",
             dataset.place, dataset.label);
      }
    }
  }

  void read_datasets(const toml::table& file, StudySpec& spec) const {
    if (const toml::node* list = file.get("datasets")) {
      if (!list->is_array()) fail_at(*list, "'datasets' is a list");
      for (const toml::node& node : *list->as_array()) read_dataset(node, spec);
    }
    tables(file, "dataset", [&](const toml::table& entry) { read_dataset(entry, spec); });
    label_datasets(spec.datasets);
  }

  void read_methods(const toml::table& file, StudySpec& spec) const {
    const toml::node* list = file.get("methods");
    if (!list) return;
    if (!list->is_array()) fail_at(*list, "'methods' is a list");
    for (const toml::node& node : *list->as_array()) {
      MethodSpec method;
      method.text = word(node);
      method.place = place(node);
      const size_t colon = method.text.find(':');
      method.name = method.text.substr(0, colon);
      if (colon != std::string::npos) method.preset = method.text.substr(colon + 1);
      // What a name means depends on the level of the dataset.
      const std::string dataset = spec.datasets.empty() ? "" : spec.datasets.front().name;
      checked(node, [&] { MethodChoice(method.name, method.preset, dataset); });
      for (const MethodSpec& other : spec.methods) {
        if (other.text == method.text) fail_at(node, "'{}' is here already", method.text);
      }
      spec.methods.push_back(std::move(method));
    }
  }

  void read_variants(const toml::table& file, StudySpec& spec) const {
    tables(file, "variant", [&](const toml::table& entry) {
      only(entry, {"name", "set", "method"}, "a variant");
      VariantSpec variant{word(entry, "name"), {}, {}};
      variant.methods = condition(entry, "method", method_words(spec));
      if (variant.name.empty()) fail_at(entry, "the variant has no name");
      for (const VariantSpec& other : spec.variants) {
        if (other.name == variant.name) fail_at(entry, "'{}' is here already", variant.name);
      }
      if (const toml::node* set = entry.get("set")) variant.set = settings(*set);
      spec.variants.push_back(std::move(variant));
    });
    if (spec.variants.empty()) spec.variants.push_back({});
  }

  // The names of a condition must occur in the study: a misspelt one would silently never match.
  std::vector<std::string> condition(const toml::table& entry, const char* key,
                                     const std::set<std::string>& known) const {
    const toml::node* node = entry.get(key);
    if (!node) return {};
    const std::vector<std::string> names = words(*node);
    for (const std::string& name : names) {
      if (!known.count(name)) {
        fail_at(*node, "this study has no {} '{}'{}", key, name,
                did_you_mean(name, {known.begin(), known.end()}));
      }
    }
    return names;
  }

  static std::set<std::string> method_words(const StudySpec& spec) {
    std::set<std::string> known;
    for (const MethodSpec& method : spec.methods) known.insert({method.name, method.text});
    return known;
  }

  void read_when(const toml::table& file, StudySpec& spec) const {
    std::set<std::string> datasets, variants;
    for (const DatasetSpec& each : spec.datasets) datasets.insert({each.name, each.label});
    for (const VariantSpec& each : spec.variants) variants.insert(each.name);
    tables(file, "when", [&](const toml::table& entry) {
      only(entry, {"dataset", "method", "variant", "set"}, "a condition");
      WhenSpec when;
      when.datasets = condition(entry, "dataset", datasets);
      when.methods = condition(entry, "method", method_words(spec));
      when.variants = condition(entry, "variant", variants);
      const toml::node* set = entry.get("set");
      if (!set) fail_at(entry, "the condition sets nothing; write set.section.key = value");
      when.set = settings(*set);
      spec.when.push_back(std::move(when));
    });
  }

  SpaceSpec dimension(const std::string& key, const toml::node& node, bool grid) const {
    SpaceSpec space;
    space.key = key;
    space.place = place(node);
    if (const auto* list = node.as_array()) {
      for (const toml::node& each : *list) space.choices.push_back(value_text(each));
      if (list->empty()) fail_at(node, "'{}' has no values to choose from", key);
      return space;
    }
    const toml::table& range = table(node);
    only(range, {"low", "high", "log"}, "an interval");
    if (grid) fail_at(node, "a grid search needs a list of values for '{}'", key);
    if (!range.contains("low") || !range.contains("high")) {
      fail_at(node, "an interval has 'low' and 'high'");
    }
    space.low = number(*range.get("low"));
    space.high = number(*range.get("high"));
    space.whole = range.get("low")->is_integer() && range.get("high")->is_integer();
    space.log = range["log"].value_or(false);
    if (!(space.low < space.high)) fail_at(node, "'low' is not below 'high'");
    if (space.log && space.low <= 0) fail_at(node, "with log = true 'low' is above 0");
    return space;
  }

  // An interval is a table too: { low, high, log }; any other table is a section of keys.
  std::vector<SpaceSpec> space(const toml::node& node, bool grid,
                               const std::string& prefix = "") const {
    std::vector<SpaceSpec> list;
    for (const auto& [key, value] : table(node)) {
      const std::string path = prefix + std::string(key.str());
      const toml::table* inner = value.as_table();
      if (inner && !inner->contains("low") && !inner->contains("high")) {
        for (SpaceSpec& each : space(value, grid, path + ".")) list.push_back(std::move(each));
      } else {
        list.push_back(dimension(path, value, grid));
      }
    }
    return list;
  }

  TuneSpec read_tune(const toml::table& in, const StudySpec& spec) const {
    only(in,
         {"search", "trials", "seeds", "halving", "draws", "first_seed", "expected_minutes",
          "space", "methods"},
         "[tune]");
    TuneSpec tune;
    tune.place = place(in);
    tune.search = word(in, "search", "random");
    const bool grid = tune.search == "grid";
    if (!grid && tune.search != "random") {
      fail_at(*in.get("search"), "search is \"random\" or \"grid\", not \"{}\"{}", tune.search,
              did_you_mean(tune.search, {"random", "grid"}));
    }
    tune.trials = whole(in, "trials", 0, 1, kMostRepeats);
    if (!grid && tune.trials == 0)
      fail_at(in, "[tune] needs 'trials', the number for every method");
    tune.seeds = whole(in, "seeds", 1, 1, kMostRepeats);
    tune.halving = whole(in, "halving", 0, 2, kMostRepeats);
    const std::string draws = word(in, "draws", "apart");
    tune.draws_together = draws == "together";
    if (!tune.draws_together && draws != "apart") {
      fail_at(*in.get("draws"), "draws is \"apart\" or \"together\", not \"{}\"{}", draws,
              did_you_mean(draws, {"apart", "together"}));
    }
    tune.first_seed = whole(in, "first_seed", 5000, 0);
    tune.expected_minutes = number(in, "expected_minutes", 0.0);
    if (tune.first_seed < spec.first_seed + spec.seeds &&
        spec.first_seed < tune.first_seed + tune.seeds) {
      fail_at(in, "the seeds of the trials overlap with the fresh seeds {} .. {} of the final runs",
              spec.first_seed, spec.first_seed + spec.seeds - 1);
    }
    if (const toml::node* node = in.get("space")) tune.space = space(*node, grid);
    if (const toml::node* node = in.get("methods")) {
      const std::set<std::string> known = method_words(spec);
      for (const auto& [key, value] : table(*node)) {
        const std::string method(key.str());
        if (!known.count(method)) {
          fail_at(value, "this study has no method '{}'{}", method,
                  did_you_mean(method, {known.begin(), known.end()}));
        }
        tune.by_method.emplace_back(method, space(value, grid));
      }
    }
    return tune;
  }
};

}  // namespace

StudySpec read_spec(const std::string& text, const std::string& origin,
                    std::vector<Include>& includes) {
  return Reader(origin).study(text, includes);
}

}  // namespace grm::study
