// From a folder to a task: read all domains, let those of training decide about columns and
// classes, and build every domain by that.
#include "data/own/load.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <set>

#include "core/files.h"
#include "core/text.h"
#include "data/own/labels.h"
#include "data/own/preprocessing.h"
#include "data/own/read_all.h"
#include "data/own/targets.h"

namespace grm::own {
namespace {

class Loader {
 public:
  Loader(const Description& d, Problems& problems) : d_(d), problems_(problems) {}

  Task load(bool allow_missing) {
    task_.name = d_.name;
    task_.level = d_.level;
    task_.loss = d_.loss;
    task_.metric = d_.metric;
    const ReadContext context{d_, Purpose::training, problems_, task_.notes};
    const Reading reading = read_all(context, allow_missing);
    task_.missing = reading.left_out;
    const std::vector<const RawDomain*> training = reading.training();
    const Classes classes = find_outputs(reading, training);
    std::vector<torch::Tensor> y;
    for (const ReadDomain& each : reading.domains) {
      y.push_back(each.raw.targets.defined()
                      ? each.raw.targets
                      : class_numbers(each.raw, classes, Purpose::training, problems_));
    }
    problems_.stop_if_more_than(0);
    task_.classes = classes.count;
    task_.label_names = classes.names;
    const Preprocessing preprocessing = fit(reading, classes);
    problems_.stop_if_more_than(0);
    for (size_t k = 0; k < reading.domains.size(); ++k) {
      add_domain(reading.domains[k], preprocessing, std::move(y[k]));
    }
    check_counted();
    problems_.stop_if_more_than(0);
    if (d_.target == Target::regression) task_.target_scale = fit_scale(task_.training);
    if (d_.target == Target::classes) note_unseen_classes();
    for (const Problem& warning : problems_.warnings()) task_.notes.push_back(warning.text());
    hash(d_.file);
    for (const std::string& path : reading.files) hash(path);
    task_.preprocessing = to_json(preprocessing);
    try {
      check_task(task_);
    } catch (const Error& error) {
      problems_.stop({d_.file, 0, 0, error.what(), ""});
    }
    return std::move(task_);
  }

 private:
  // Classes, or tasks and their names.
  Classes find_outputs(const Reading& reading, const std::vector<const RawDomain*>& training) {
    if (d_.target == Target::classes) return find_classes(d_, training, problems_);
    std::vector<const RawDomain*> all;
    for (const ReadDomain& each : reading.domains) {
      all.push_back(&each.raw);
      if (each.raw.targets.defined()) continue;
      problems_.add(
          {each.raw.file, 0, 0,
           fmt::format("domain '{}' has no {} targets", each.raw.name, to_string(d_.target)),
           "write them as columns of nodes.csv or graphs.csv, or as y of an .npz file; a "
           "libsvm file holds classes"});
    }
    Classes outputs;
    outputs.count = find_tasks(d_, all, problems_);
    outputs.names = reading.kind == "csv" ? target_columns(d_) : d_.csv.targets;
    return outputs;
  }

  Preprocessing fit(const Reading& reading, const Classes& classes) {
    Preprocessing p;
    p.kind = reading.kind;
    p.classes = classes.count;
    p.labels = classes.names;
    p.undirected = d_.undirected;
    p.target = d_.target;
    p.edge_weights = reading.training().front()->weights.defined();
    const bool tables = reading.kind == "csv";
    const std::string scale = d_.scale.empty() ? (tables ? "standard" : "none") : d_.scale;
    if (!tables && scale == "none" && d_.missing == "error") return p;  // arrays as they are
    p.columns = fit_part(reading.training(), scale, false);
    p.edge_columns = fit_part(reading.training(), scale, true);
    if (!tables) return p;
    p.csv = d_.csv;
    p.edge_weight = d_.edge_columns.weight.text;
    p.ignore = reading.plans.nodes.ignore;
    p.ignore_others = reading.plans.nodes.ignore_others;
    task_.feature_names = names_of_features(p.columns);
    return p;
  }

  std::vector<ColumnRule> fit_part(const std::vector<const RawDomain*>& training,
                                   const std::string& scale, bool edges) {
    std::vector<std::shared_ptr<const Columns>> made;  // tables of arrays, until the fit is done
    std::vector<Part> parts;
    for (const RawDomain* raw : training) {
      const auto& table = edges ? raw->edge_columns : raw->columns;
      const Features& x = edges ? raw->edge_x : raw->x;
      const int64_t given = edges ? x.sparse_width() : raw->x_sparse;
      if (table) {
        parts.push_back({table.get(), edges ? raw->edge_rows : raw->rows});
      } else if ((x.sparse || x.dense.defined()) && x.width() > given) {
        made.push_back(columns_of(x, given, edges ? "edge_attr" : "x"));
        parts.push_back({made.back().get(), torch::arange(x.rows(), torch::kInt64)});
      }
    }
    if (parts.empty()) return {};
    std::vector<std::string> empty;
    const std::vector<ColumnRule> rules = fit_rules(parts, d_.missing, scale, empty);
    for (const std::string& name : empty) {
      problems_.add({training.front()->file, 0, 0,
                     fmt::format("column '{}' has no value in the training domains", name),
                     edges ? "leave it out under [edge_columns]"
                           : "leave it out: [columns] ignore = [\"" + name + "\"]"});
    }
    return rules;
  }

  void add_domain(const ReadDomain& each, const Preprocessing& preprocessing, torch::Tensor y) {
    Domain domain = assemble(each.raw, preprocessing, task_.notes);
    set_labels(domain, each.raw, std::move(y));
    if (domain.graph.edges->nnz() == 0) {
      problems_.warn(
          {each.raw.file, 0, 0,
           fmt::format("domain '{}' has no edge: every node stands alone", shown(domain.name)),
           "write its edges, if there are any"});
    }
    domain.group = each.about.group;
    switch (each.about.role) {
      case Role::train:
        if (d_.split != Split::none && !each.raw.role.defined()) {
          const bool masks = d_.split == Split::masks;
          problems_.add({each.raw.file, 0, 0,
                         fmt::format("domain '{}' has nothing to be split by", domain.name),
                         masks ? fmt::format("save train_mask, val_mask and test_mask, or write a "
                                             "column '{}'; or write split = \"none\"",
                                             d_.csv.split)
                               : fmt::format("save an array time, or write a column '{}'; or write "
                                             "split = \"none\"",
                                             d_.csv.time)});
        }
        if (each.raw.role.defined()) {
          SplitDomain split = split_domain(domain, each.raw.role);
          domain = std::move(split.training);
          for (Domain& part : split.validation) task_.validation.push_back(std::move(part));
          for (Domain& part : split.test) task_.test.push_back(std::move(part));
        }
        if (domain.labels.loss.numel() == 0) {
          problems_.add({each.raw.file, 0, 0,
                         fmt::format("training domain '{}' has no label that counts", domain.name),
                         "label some of it, or take it out of [train]"});
        }
        return task_.training.push_back(std::move(domain));
      case Role::validation:
        return task_.validation.push_back(std::move(domain));
      case Role::test:
        return task_.test.push_back(std::move(domain));
    }
  }

  // What the metric needs of each group of domains that is scored.
  void check_counted() {
    for (const Role role : {Role::validation, Role::test}) {
      std::map<std::string, std::set<int64_t>> classes_of;
      for (const Domain& domain : task_.domains(role)) {
        std::set<int64_t>& seen = classes_of[domain.group];
        if (d_.target != Target::classes) {
          if (domain.labels.evaluate.numel() > 0) seen.insert({0, 1});
          continue;
        }
        const torch::Tensor y = domain.labels.y.index_select(0, domain.labels.evaluate);
        for (int64_t i = 0; i < y.numel(); ++i) seen.insert(y.data_ptr<int64_t>()[i]);
      }
      for (const auto& [group, seen] : classes_of) {
        const bool one_class =
            (task_.metric == MetricKind::roc_auc && seen.size() == 1) ||
            (task_.metric == MetricKind::average_precision && !seen.empty() && seen.count(1) == 0);
        if (!seen.empty() && !one_class) continue;
        const std::string whose = fmt::format("{} domain '{}'", to_string(role), group);
        problems_.add(d_.problem(
            place_of_group(group, role),
            one_class ? fmt::format("{} holds one class, so {} is undefined", whose,
                                    to_string(task_.metric))
                      : whose + " has no label that counts",
            one_class ? "choose another metric, or put it into a group with others: [groups]"
                      : "label some of it; what has no labels is for 'grm predict'"));
      }
    }
  }

  Place place_of_group(const std::string& group, Role role) const {
    for (const DomainName& domain : d_.domains) {
      if (domain.group == group && domain.role == role) return domain.place;
    }
    return {};
  }

  void note_unseen_classes() {
    torch::Tensor counts = torch::zeros({task_.classes}, torch::kInt64);
    for (const Domain& domain : task_.training) {
      const torch::Tensor y = domain.labels.y.index_select(0, domain.labels.loss);
      counts += torch::bincount(y, {}, task_.classes);
    }
    std::vector<int64_t> unseen;
    for (int64_t c = 0; c < task_.classes; ++c) {
      if (counts.data_ptr<int64_t>()[c] == 0) unseen.push_back(c);
    }
    if (unseen.empty()) return;
    task_.notes.push_back(fmt::format("no training item is of class {}", fmt::join(unseen, ", ")));
  }

  void hash(const std::string& path) {
    const std::filesystem::path file(path);
    task_.hashes[utf8_text(file.lexically_relative(d_.folder).string())] = sha256_file(path);
  }

  const Description& d_;
  Problems& problems_;
  Task task_;
};

}  // namespace

Task load(const std::string& path, bool allow_missing, Problems& problems) {
  const Description d = read_description(path, Purpose::training, problems);
  return Loader(d, problems).load(allow_missing);
}

}  // namespace grm::own
