// New graphs for a trained model: the same readers, with columns and classes from the model.
#include <torch/types.h>

#include <filesystem>

#include "core/lists.h"
#include "data/own/labels.h"
#include "data/own/locate.h"
#include "data/own/preprocessing.h"
#include "grm/core/log.h"

namespace grm::own {
namespace {

namespace fs = std::filesystem;

// Whether the tables of the folder have the column that told domains apart in training.
bool names_domains(const Description& d, Level level, Problems& problems) {
  if (d.csv.domain.empty()) return false;
  const std::string table =
      existing_table(d.folder, level == Level::graph ? d.csv.graphs : d.csv.nodes);
  return !table.empty() && CsvFile(table, d.csv.separator[0], problems).find(d.csv.domain) >= 0;
}

// What dataset.toml of the folder says; without one, the tables are called as in training.
Description describe(const std::string& path, Level level, const Preprocessing& model,
                     Problems& problems) {
  Description d;
  std::error_code ignored;
  const fs::path given(path);
  const bool has_description =
      given.extension() == ".toml" || fs::is_regular_file(given / "dataset.toml", ignored);
  if (has_description) {
    d = read_description(path, Purpose::prediction, problems);
    if (d.level != level) {
      problems.stop({d.file, 0, 0,
                     fmt::format("the data is of {} level, the model was trained at {} level",
                                 to_string(d.level), to_string(level)),
                     "choose a model of the same level"});
    }
  } else {
    d.file = d.folder = path;
    while (d.folder.size() > 1 && d.folder.back() == '/') d.folder.pop_back();
    d.name = fs::path(d.folder).filename().string();
    d.csv = model.csv;
    for (const std::string& name : {d.csv.nodes, d.csv.edges, d.csv.graphs, d.csv.features}) {
      if (!leaves_folder(name)) continue;
      problems.stop(
          {path, 0, 0,
           fmt::format("the model asks for the table '{}', which lies outside this folder",
                       shown(name)),
           "put the table into the folder and name it in a dataset.toml: [csv] nodes = "
           "\"...\""});
    }
    // Tables of one domain need no column that names it.
    if (!names_domains(d, level, problems)) d.csv.domain.clear();
  }
  d.level = level;
  d.target = model.target;
  if (d.csv.targets.empty()) d.csv.targets = model.csv.targets;
  d.split = Split::none;
  d.missing = "error";
  for (const ColumnRule& rule : model.columns) {
    if (rule.numeric) d.missing = rule.missing;
  }
  d.edge_columns.weight.text = model.edge_weight;
  return d;
}

std::string width_text(const Features& x) {
  const int64_t width = x.sparse || x.dense.defined() ? x.width() : 0;
  return fmt::format("{} column{}", width, width == 1 ? "" : "s");
}

void check_width(const RawDomain& raw, const Features& got, int64_t needed, const char* name,
                 Problems& problems) {
  const int64_t width = got.sparse || got.dense.defined() ? got.width() : 0;
  if (width == needed) return;
  problems.stop(
      {raw.file, 0, 0,
       fmt::format("{} has {}, the model was trained on {}", name, width_text(got), needed),
       "give the columns of the training data, in their order"});
}

class PredictReader {
 public:
  PredictReader(const Description& d, const Preprocessing& model, Problems& problems)
      : context_{d, Purpose::prediction, problems, notes_}, model_(model), plans_(model.plans()) {
    for (const Word& word : d.columns.ignore) plans_.nodes.ignore.push_back(word.text);
  }

  std::vector<RawDomain> read(const std::string& path) {
    const Description& d = context_.d;
    if (fs::path(path).extension() == ".npz") {
      add_npz(path, fs::path(path).stem().string());
      return std::move(list_);
    }
    std::vector<std::string> names;
    for (const DomainName& domain : d.domains) names.push_back(domain.name);
    if (!d.csv.domain.empty()) {
      add_tables(d.folder, names);
    } else if (names.empty() && !existing_table(d.folder, d.csv.nodes).empty()) {
      add_tables(d.folder, {d.name});
    } else {
      if (names.empty()) names = domains_in(d.folder, d.csv);
      for (const std::string& name : names) add_domain(name);
    }
    if (list_.empty()) {
      context_.problems.stop({d.folder, 0, 0,
                              "there is no domain: no .npz file and no folder with " + d.csv.nodes,
                              "give a folder of own data, or one .npz file"});
    }
    return std::move(list_);
  }

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void add_domain(const std::string& name) {
    const Description& d = context_.d;
    const DomainFiles files = find_domain(d.folder, name, d.csv);
    if (!files.npz.empty()) return add_npz(files.npz, name);
    if (!files.folder.empty()) return add_tables(files.folder, {name});
    context_.problems.stop({d.file, 0, 0,
                            fmt::format("domain '{0}': {1} holds neither {0}.npz nor {0}/{2}", name,
                                        d.folder, d.csv.nodes),
                            "add its files, or take it out of dataset.toml"});
  }

  void add_npz(const std::string& path, const std::string& name) {
    if (model_.kind != "npz") {
      const std::string columns =
          joined(model_.columns, ", ", [](const ColumnRule& rule) { return rule.name; });
      context_.problems.stop({path, 0, 0,
                              "the model was trained on tables with the columns " + columns,
                              "write nodes.csv with these columns, and edges.csv"});
    }
    list_.push_back(read_npz_domain(context_, path, name));
  }

  void add_tables(const std::string& folder, const std::vector<std::string>& names) {
    if (model_.kind != "csv") {
      context_.problems.stop({folder, 0, 0,
                              "the model was trained on arrays, whose columns have no names",
                              "write an .npz file with x and edge_index"});
    }
    for (RawDomain& raw : read_tables(context_, folder, names, plans_)) {
      list_.push_back(std::move(raw));
    }
  }

  std::vector<std::string> notes_;
  ReadContext context_;
  const Preprocessing& model_;
  Plans plans_;
  std::vector<RawDomain> list_;
};

// A model that was trained with weights needs them, another cannot use them.
void fit_weights(RawDomain& raw, const Preprocessing& model, Problems& problems) {
  if (model.edge_weights && !raw.weights.defined()) {
    problems.stop({raw.file, 0, 0, "edge_weight is missing; the model was trained with it",
                   "save a weight for each edge"});
  }
  if (!model.edge_weights) raw.weights = torch::Tensor();
}

// Rules are for the columns that training had.
void check_widths(const RawDomain& raw, const Preprocessing& model, int64_t features,
                  int64_t edge_features, Problems& problems) {
  if (model.kind == "csv") return;  // by name
  const auto flags = [](const std::vector<ColumnRule>& rules) {
    int64_t count = 0;
    for (const ColumnRule& rule : rules) count += rule.flag;
    return count;
  };
  const auto check = [&](const Features& x, int64_t given, const std::vector<ColumnRule>& rules,
                         int64_t width, const char* name) {
    check_width(raw, x, width - flags(rules), name, problems);
    const auto ruled = static_cast<int64_t>(rules.size());
    if (ruled == 0 || x.width() - given == ruled) return;
    problems.stop({raw.file, 0, 0,
                   fmt::format("{} has not the {} dense columns of the training data", name, ruled),
                   "save the same columns as dense and as sparse ones"});
  };
  check(raw.x, raw.x_sparse, model.columns, features, "x");
  check(raw.edge_x, raw.edge_x.sparse_width(), model.edge_columns, edge_features, "edge_attr");
}

}  // namespace
}  // namespace grm::own

namespace grm {

std::vector<Domain> load_for_prediction(const std::string& path, const std::string& preprocessing,
                                        Level level, int64_t features, int64_t edge_features) {
  own::Problems problems(false);
  const own::Preprocessing model = own::preprocessing_from_json(preprocessing);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    problems.stop({path, 0, 0, "there is no such file or folder",
                   "give a folder of own data, or one .npz file"});
  }
  const own::Description d = own::describe(path, level, model, problems);
  own::PredictReader reader(d, model, problems);
  std::vector<std::string> notes;
  std::vector<Domain> domains;
  for (own::RawDomain& raw : reader.read(path)) {
    if (!preprocessing.empty()) own::fit_weights(raw, model, problems);
    if (level == Level::node && edge_features == 0) raw.edge_x = Features();
    own::check_widths(raw, model, features, edge_features, problems);
    domains.push_back(own::assemble(raw, model, notes));
    if (model.target == Target::classes) {
      own::set_labels(domains.back(), raw,
                      own::class_numbers(raw, {model.classes, model.labels},
                                         own::Purpose::prediction, problems));
    } else if (raw.targets.defined() && raw.targets.size(1) == model.classes) {
      own::set_labels(domains.back(), raw, raw.targets);
    }
    for (const own::DomainName& domain : d.domains) {
      if (domain.name == raw.name) domains.back().group = domain.group;
    }
  }
  for (const std::string& note : reader.notes()) log_warning("{}", note);
  for (const std::string& note : notes) log_warning("{}", note);
  return domains;
}

}  // namespace grm
