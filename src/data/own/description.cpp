// dataset.toml: every key with its place, so that whatever turns out to be wrong later can point at
// the word that asked for it.
#include "data/own/description.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "data/own/toml_words.h"
#include "grm/core/options.h"

namespace grm::own {
namespace {

namespace fs = std::filesystem;

const Keys kTop = {"name",       "level",   "metric",  "loss",    "classes",       "labels",
                   "undirected", "domain",  "missing", "scale",   "edges_between", "train",
                   "validation", "test",    "csv",     "columns", "edge_columns",  "groups",
                   "target",     "targets", "split",   "until"};

constexpr size_t kMostDomains = 10000;

class DescriptionReader : private TomlWords {
 public:
  DescriptionReader(Description& into, Problems& problems)
      : TomlWords(into, problems, kTop), d_(into) {}

  void read(Purpose purpose) {
    const toml::table file = parse();
    only(file, kTop, "dataset.toml");
    read_name(file, purpose);
    choice(file, "level", d_.level);
    read_target(file);
    choice(file, "missing", d_.missing, {"error", "mean", "zero", "flag"});
    choice(file, "scale", d_.scale, {"standard", "none"});
    choice(file, "edges_between", d_.between);
    text(file, "domain", d_.csv.domain);
    read_classes(file);
    if (const toml::node* node = file.get("undirected")) {
      if (node->is_boolean()) {
        d_.undirected = node->as_boolean()->get();
      } else {
        wrong(*node, "'undirected' is true or false", "write it without quotes");
      }
    }
    read_csv_names(file);
    read_split(file);
    read_columns(file, "columns", d_.columns);
    read_columns(file, "edge_columns", d_.edge_columns);
    read_roles(file, purpose);
    read_groups(file);
  }

 private:
  void read_name(const toml::table& file, Purpose purpose) {
    const Place place = text(file, "name", d_.name);
    if (d_.name.empty()) {
      if (place.line == 0 && purpose == Purpose::training) {
        problems_.add(d_.problem({1, 1}, "the dataset has no name",
                                 "write name = \"...\" in the first line"));
      }
      d_.name = fs::path(d_.folder).filename().string();
      return;
    }
    const std::string allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    if (d_.name.find_first_not_of(allowed) != std::string::npos || d_.name[0] == '.') {
      problems_.add(d_.problem(
          place, fmt::format("the name '{}' cannot be that of a folder of runs", shown(d_.name)),
          "use letters, digits, '_', '.' and '-', not '.' first"));
    }
  }

  void read_target(const toml::table& file) {
    d_.target_place = choice(file, "target", d_.target);
    Keys known;
    for (const MetricKind metric : metrics_of(d_.target)) known.push_back(to_string(metric));
    std::string metric = known.front(), loss = to_string(d_.loss);
    d_.metric_place = choice(file, "metric", metric, known);
    d_.metric = value_of<MetricKind>(metric).value();
    if (d_.target == Target::classes) {
      d_.loss_place = choice(file, "loss", loss,
                             {to_string(LossKind::softmax), to_string(LossKind::binary_pair)});
      d_.loss = value_of<LossKind>(loss).value();
      if (const toml::node* node = file.get("targets")) {
        wrong(*node, "'targets' names columns of other targets than classes",
              "write target = \"multi-label\" or \"regression\", or remove it");
      }
      return;
    }
    for (const char* key : {"loss", "labels", "classes"}) {
      if (const toml::node* node = file.get(key)) {
        wrong(*node,
              fmt::format("'{}' is for classes, the target is {}", key, to_string(d_.target)),
              "remove it; 'targets' names what is predicted");
      }
    }
    d_.loss = d_.target == Target::multi_label ? LossKind::multi_label : LossKind::squared;
    std::unordered_set<std::string> seen;
    for (const Word& word : words(file, "targets")) {
      d_.csv.targets.push_back(word.text);
      if (seen.insert(word.text).second) continue;
      wrong(*file.get("targets"), fmt::format("the target '{}' is there twice", shown(word.text)),
            "name each once");
    }
  }

  void read_split(const toml::table& file) {
    choice(file, "split", d_.split);
    d_.until = words(file, "until");
    if (d_.split == Split::time && d_.until.size() != 2) {
      problems_.add(d_.problem(file.get("until") ? place_of(file.get("until")->source()) : Place{},
                               "split = \"time\" needs two moments",
                               "write until = [\"2019\", \"2020\"]: the last of training, and the "
                               "last of validation"));
    } else if (d_.split != Split::time && file.get("until")) {
      wrong(*file.get("until"), "'until' is for split = \"time\"", "remove it");
    }
  }

  void read_classes(const toml::table& file) {
    for (const Word& word : words(file, "labels")) d_.labels.push_back(word.text);
    std::unordered_set<std::string> seen;
    for (const std::string& label : d_.labels) {
      if (seen.insert(label).second) continue;
      wrong(*file.get("labels"), fmt::format("the label '{}' is there twice", label),
            "name each class once");
    }
    const toml::node* node = file.get("classes");
    if (!node) {
      if (file.get("labels")) d_.classes_place = place_of(file.get("labels")->source());
      d_.classes = static_cast<int64_t>(d_.labels.size());
      if (d_.labels.size() == 1) {
        wrong(*file.get("labels"), "one label, but at least 2 classes are needed",
              "name all classes");
      }
      return;
    }
    d_.classes_place = place_of(node->source());
    const auto* value = node->as_integer();
    if (!value || value->get() < 2 || value->get() > 1000000) {
      wrong(*node, "'classes' is a whole number from 2 on", "count the classes, or remove it");
    } else if (!d_.labels.empty() && value->get() != static_cast<int64_t>(d_.labels.size())) {
      wrong(*node,
            fmt::format("classes = {}, but {} labels are named", value->get(), d_.labels.size()),
            "remove 'classes': the labels say it");
    } else {
      d_.classes = value->get();
    }
  }

  void read_csv_names(const toml::table& file) {
    const toml::table* in = section(file, "csv");
    if (!in) return;
    CsvNames& csv = d_.csv;
    only(*in,
         {"nodes", "edges", "graphs", "features", "id", "label", "source", "target", "graph",
          "separator", "split", "time"},
         "[csv]");
    for (const auto& [key, into] : {std::pair<const char*, std::string*>{"nodes", &csv.nodes},
                                    {"edges", &csv.edges},
                                    {"graphs", &csv.graphs},
                                    {"features", &csv.features}}) {
      const Place place = text(*in, key, *into);
      if (!leaves_folder(*into)) continue;
      problems_.warn(
          d_.problem(place, fmt::format("'{}' lies outside the folder", shown(*into)),
                     "copy the table into the folder: moved or packed, it would be lost"));
    }
    text(*in, "id", csv.id);
    text(*in, "label", csv.label);
    text(*in, "source", csv.source);
    text(*in, "target", csv.target);
    text(*in, "graph", csv.graph);
    text(*in, "split", csv.split);
    text(*in, "time", csv.time);
    text(*in, "separator", csv.separator);
    if (csv.separator == "tab") csv.separator = "\t";
    if (csv.separator.size() != 1 || csv.separator == "\"" || csv.separator == "\n") {
      wrong(*in->get("separator"), "the separator is one character",
            "write \",\", \";\", \"|\" or \"tab\"");
      csv.separator = ",";
    }
  }

  void read_columns(const toml::table& file, const char* name, ColumnWords& into) {
    const toml::table* in = section(file, name);
    if (!in) return;
    const bool edges = &into == &d_.edge_columns;
    Keys known = {"numeric", "categorical", "ignore"};
    if (edges) known.push_back("weight");
    only(*in, known, fmt::format("[{}]", name));
    into.numeric = words(*in, "numeric");
    into.categorical = words(*in, "categorical");
    into.ignore = words(*in, "ignore");
    into.lists_numeric = in->get("numeric") != nullptr;
    into.weight.place = text(*in, "weight", into.weight.text);
    std::unordered_set<std::string> seen;
    for (const auto* list : {&into.numeric, &into.categorical, &into.ignore}) {
      for (const Word& word : *list) {
        if (seen.insert(word.text).second) continue;
        problems_.add(d_.problem(word.place,
                                 fmt::format("column '{}' is named twice", shown(word.text)),
                                 "name it in one of numeric, categorical, ignore"));
      }
    }
  }

  void read_roles(const toml::table& file, Purpose purpose) {
    for (const auto& [key, role] : {std::pair<const char*, Role>{"train", Role::train},
                                    {"validation", Role::validation},
                                    {"test", Role::test}}) {
      const toml::table* in = section(file, key);
      // Where training domains are split, validation comes out of them.
      const bool needed = purpose == Purpose::training && role != Role::test &&
                          (role == Role::train || d_.split == Split::none);
      if (in) {
        only(*in, {"domains"}, fmt::format("[{}]", key));
        read_domains(*in, key, role);
      } else if (needed && !file.get(key)) {
        problems_.add(d_.problem({}, fmt::format("there is no [{}]", key),
                                 fmt::format("add [{}] with domains = [\"...\"]", key)));
      }
    }
  }

  void read_domains(const toml::table& in, const char* key, Role role) {
    const std::vector<Word> names = words(in, "domains");
    if (names.empty() && (role == Role::train || (role != Role::test && d_.split == Split::none)) &&
        (!in.get("domains") || in.get("domains")->is_array())) {
      problems_.add(d_.problem(place_of(in.source()), fmt::format("[{}] names no domain", key),
                               "write domains = [\"...\"]"));
    }
    for (const Word& name : names) {
      if (d_.domains.size() == kMostDomains) {
        problems_.stop(d_.problem(
            name.place, fmt::format("there are more than {} domains", kMostDomains),
            "a domain is one environment, with many nodes or graphs; join those that belong "
            "together"));
      }
      if (const auto found = domain_at_.find(name.text); found != domain_at_.end()) {
        const DomainName& other = d_.domains[found->second];
        problems_.add(
            d_.problem(name.place,
                       fmt::format("domain '{}' is already in [{}], line {}", shown(name.text),
                                   to_string(other.role), other.place.line),
                       "a domain has one role: what is trained on must not be tested on"));
      }
      if (d_.csv.domain.empty() &&
          (name.text.find('/') != std::string::npos || name.text[0] == '.')) {
        problems_.add(d_.problem(
            name.place,
            fmt::format("'{}' is not the name of a file in this folder", shown(name.text)),
            "name the domain as its .npz file or its folder, without path and ending"));
        continue;
      }
      domain_at_.emplace(name.text, d_.domains.size());
      d_.domains.push_back({name.text, role, name.place, name.text});
    }
  }

  void read_groups(const toml::table& file) {
    const toml::table* in = section(file, "groups");
    if (!in) return;
    std::vector<std::string> known;
    for (const DomainName& domain : d_.domains) known.push_back(domain.name);
    for (const auto& [key, node] : *in) {
      const std::string name(key.str());
      const auto found = domain_at_.find(name);
      if (!node.is_string()) {
        wrong(node, fmt::format("the group of '{}' is text", shown(name)),
              "write domain = \"group\"");
      } else if (found == domain_at_.end()) {
        problems_.add(d_.problem(place_of(key.source()),
                                 fmt::format("[groups] names '{}', which is not a domain here{}",
                                             shown(name), did_you_mean(name, known)),
                                 "name a domain of [train], [validation] or [test]"));
      } else {
        d_.domains[found->second].group = node.as_string()->get();
      }
    }
  }

  Description& d_;
  std::unordered_map<std::string, size_t> domain_at_;  // where a name stands first in d_.domains
};

}  // namespace

bool is_table(const std::string& name) {
  const fs::path path(name);
  const fs::path plain = path.extension() == ".gz" ? path.stem() : path;
  const std::string kind = plain.extension().string();
  return kind == ".csv" || kind == ".tsv" || kind == ".txt";
}

bool leaves_folder(const std::string& name) {
  const fs::path path(name);
  if (path.is_absolute()) return true;
  return std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

Description read_description(const std::string& path, Purpose purpose, Problems& problems) {
  Description d;
  std::error_code ignored;
  fs::path given(path);
  if (!given.has_filename()) given = given.parent_path();  // "data/" is "data"
  const bool is_file = fs::is_regular_file(given, ignored) || given.extension() == ".toml";
  d.file = is_file ? given.string() : (given / "dataset.toml").string();
  d.folder = is_file ? given.parent_path().string() : given.string();
  if (d.folder.empty()) d.folder = ".";
  if (!fs::exists(given, ignored)) {
    problems.stop({given.string(), 0, 0,
                   is_file ? "there is no such file" : "there is no such folder",
                   "give the folder that holds dataset.toml; 'grm data init DIR' makes one"});
  }
  if (is_table(given.string())) {
    problems.stop(
        {given.string(), 0, 0, "this is a table; a folder with dataset.toml is expected",
         "'grm data init DIR' writes one; put the tables of nodes and edges beside it and "
         "give the folder"});
  }
  if (given.extension() == ".npz") {
    problems.stop({given.string(), 0, 0, "this is one domain; training needs several",
                   "put a dataset.toml beside it and give the folder: 'grm data init DIR'"});
  }
  if (!fs::is_regular_file(d.file, ignored)) {
    problems.stop({d.file, 0, 0, "there is no such file",
                   "'grm data init " + d.folder + "' writes a template"});
  }
  DescriptionReader(d, problems).read(purpose);
  return d;
}

}  // namespace grm::own
