#include "data/convert.h"

#include <torch/types.h>

#include <cctype>
#include <filesystem>
#include <set>

#include "core/files.h"
#include "core/lists.h"
#include "core/toml_text.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "io/npz_write.h"

namespace grm {
namespace fs = std::filesystem;
namespace {

using Arrays = std::map<std::string, torch::Tensor>;

void put_features(Arrays& arrays, const std::string& name, const Features& x) {
  if (x.sparse) {
    arrays[name + "_indptr"] = x.sparse->in.offsets;
    arrays[name + "_indices"] = x.sparse->in.indices;
    arrays[name + "_width"] = torch::tensor({x.sparse->cols()}, torch::kInt64);
    if (x.sparse_values.defined()) arrays[name + "_data"] = x.sparse_values;
  }
  if (x.dense.defined()) arrays[name] = x.dense;
  if (x.shift.defined()) arrays[name + "_shift"] = x.shift;
}

torch::Tensor mask_of(const torch::Tensor& ids, int64_t items) {
  return torch::zeros({items}, torch::kBool).index_fill_(0, ids, true);
}

// Without a mask all labelled items count.
void put_masks(Arrays& arrays, const Labels& labels) {
  const torch::Tensor loss = mask_of(labels.loss, labels.y.size(0));
  const torch::Tensor evaluate = mask_of(labels.evaluate, labels.y.size(0));
  if (!torch::equal(loss, evaluate)) {
    arrays["loss_mask"] = loss;
    arrays["eval_mask"] = evaluate;
  } else if (!torch::equal(loss, labels.y.dim() == 2 ? labels.y.isnan().all(1).logical_not()
                                                     : labels.y.ge(0))) {
    arrays["mask"] = loss;
  }
}

bool plain_word(const std::string& text) {
  for (const char c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '-') {
      return false;
    }
  }
  return !text.empty() && text[0] != '.';
}

std::string list_of(const std::vector<std::string>& words) {
  return "[" + joined(words, ", ", toml_string) + "]";
}

// Comments must not end early.
std::string comment(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return "# " + text + "\n";
}

// The name of a domain is the name of its file, so it must be fit for one and occur once.
void check_names(const Task& task) {
  std::set<std::string> seen;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      if (!plain_word(domain.name)) {
        fail(ErrorKind::data,
             "{}: domain '{}' cannot be the name of a file; letters, digits, '_', '.' and '-' can",
             task.name, domain.name);
      }
      if (!seen.insert(domain.name).second) {
        fail(ErrorKind::data, "{}: two domains are called '{}', and each needs a file of its own",
             task.name, domain.name);
      }
    }
  }
}

// Own data is known by the last part of its path where the task came from a folder.
std::string short_name(const Task& task) {
  std::string name = fs::path(task.name).filename().string();
  for (char& c : name) {
    if (!plain_word("x" + std::string(1, c))) c = '_';
  }
  return name.empty() ? "data" : name;
}

}  // namespace

void require_free_folder(const std::string& folder, bool force) {
  std::error_code code;
  const fs::file_status status = fs::status(folder, code);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) fail(ErrorKind::io, "{}: is a file, a folder is needed", folder);
  const bool empty = fs::is_empty(folder, code);
  if (code) fail(ErrorKind::io, "{}: cannot be read: {}", folder, code.message());
  if (!empty && !force) {
    fail(ErrorKind::config,
         "{}: the folder is not empty; choose another, or --force to write into it", folder);
  }
}

Arrays own_arrays(const Domain& domain) {
  const Graph& graph = domain.graph;
  Arrays arrays;
  const auto [source, target] = edge_list(*graph.edges);
  arrays["edge_index"] = torch::stack({source, target});
  put_features(arrays, "x", graph.x);
  arrays["y"] = domain.labels.y;
  put_masks(arrays, domain.labels);
  if (graph.level() == Level::graph) {
    arrays["graph"] = torch::arange(graph.items()).repeat_interleave(graph.parts.diff());
  }
  put_features(arrays, "edge_attr", graph.edge_x);
  if (graph.edge_weights.defined()) arrays["edge_weight"] = graph.edge_weights;
  if (domain.labels.edge_truth.defined()) {
    arrays["edge_truth"] = domain.labels.edge_truth.to(torch::kBool);
  }
  return arrays;
}

std::string own_description(const Task& task, const std::string& origin) {
  std::string text = comment("Written by 'grm data convert' from " + origin + ".");
  for (const std::string& note : task.notes) text += comment("Note: " + note);
  text += fmt::format("name = {}\nlevel = {}\nmetric = {}\n", toml_string(short_name(task)),
                      toml_string(to_string(task.level)), toml_string(to_string(task.metric)));
  const Target target = target_of(task.loss);
  const char* key = "targets";
  if (target == Target::classes) {
    text +=
        fmt::format("loss = {}\nclasses = {}\n", toml_string(to_string(task.loss)), task.classes);
    key = "labels";
  } else {
    text += fmt::format("target = {}\n", toml_string(to_string(target)));
  }
  if (!task.label_names.empty()) text += fmt::format("{} = {}\n", key, list_of(task.label_names));
  std::string groups;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    std::vector<std::string> names;
    for (const Domain& domain : task.domains(role)) {
      names.push_back(domain.name);
      if (domain.group == domain.name) continue;
      groups += fmt::format("{} = {}\n", toml_string(domain.name), toml_string(domain.group));
    }
    text += fmt::format("\n[{}]\ndomains = {}\n", to_string(role), list_of(names));
  }
  if (!groups.empty()) text += "\n[groups]  # domains that are scored together\n" + groups;
  return text;
}

void write_own(const Task& task, const std::string& folder, const std::string& origin, bool force) {
  check_names(task);
  require_free_folder(folder, force);
  const std::string description = folder + "/dataset.toml";
  std::error_code code;
  fs::remove(description, code);  // an old description must not stand over half of the new files
  if (code) fail(ErrorKind::io, "{}: cannot be removed: {}", description, code.message());
  const size_t count = task.training.size() + task.validation.size() + task.test.size();
  size_t done = 0;
  for (const Role role : {Role::train, Role::validation, Role::test}) {
    for (const Domain& domain : task.domains(role)) {
      const std::string path = folder + "/" + domain.name + ".npz";
      io::write_npz(path, own_arrays(domain));
      log_info("{} ({} of {}): {:.1f} MiB", path, ++done, count,
               static_cast<double>(fs::file_size(path)) / (1 << 20));
    }
  }
  write_file_atomic(description, own_description(task, origin));
}

}  // namespace grm
