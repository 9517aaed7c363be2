#include "train/export_script.h"

#include <torch/script.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "train/export_text.h"

namespace grm {
namespace {

using script::Text;

// The code of each method's prediction, by level.
using Writers = std::map<std::string, void (*)(Text&)>;

const Writers& writers(Level level) {
  static const Writers node = [] {
    Writers all = {{"mixup", script::write_mixup},
                   {"arm", script::write_arm},
                   {"isgib", script::write_isgib},
                   {"mario", script::write_mario},
                   {"grm", script::write_grm}};
    for (const char* name : {"erm", "drnn", "mmd", "irm", "vrex", "groupdro", "coral", "dann",
                             "srgnn", "eerm", "lisa"}) {
      all[name] = script::write_backbone;
    }
    return all;
  }();
  static const Writers graph = [] {
    Writers all = {{"trivial", script::write_trivial}, {"grm", script::write_grm}};
    for (const char* name : {"erm", "irm", "vrex", "groupdro", "coral", "dann", "mixup"}) {
      all[name] = script::write_graph_model;
    }
    return all;
  }();
  return level == Level::node ? node : graph;
}

// What the preprocessing of own data says of its edges.
bool weighted_edges(const ModelAbout& about) {
  if (about.preprocessing.empty()) return false;
  const auto known = parse_json<nlohmann::json>(about.preprocessing, "preprocessing");
  const auto found = known.find("edge_weights");
  return found != known.end() && found->is_boolean() && found->get<bool>();
}

std::string script_name(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace

std::string script::exported_methods() {
  std::string text;
  for (const Level level : {Level::node, Level::graph}) {
    text += (text.empty() ? "" : "; ") + to_string(level) + " level:";
    for (const auto& entry : writers(level)) {
      text += (entry.first == writers(level).begin()->first ? " " : ", ") + entry.first;
    }
  }
  return text;
}

ScriptSource script_source(const ModelAbout& about, const std::string& path) {
  Text text(about, path);
  const auto found = writers(about.level).find(about.method);
  if (found == writers(about.level).end()) {
    text.refuse("it ranks the edges of each graph and predicts from a part of them");
  }
  if (about.level == Level::node && weighted_edges(about)) {
    text.refuse("it was trained on weighted edges, and exports of the node level read pairs alone");
  }
  found->second(text);
  return {text.source(), text.remark()};
}

void export_script(const ModelFile& file, const std::string& path) {
  const std::string source = script_source(file.about, file.path).code;
  torch::jit::Module module("GrmModel");
  for (const auto& [name, tensor] : file.weights) {
    module.register_buffer(script_name(name), tensor.cpu().clone());
  }
  module.register_attribute("temperature", c10::FloatType::get(), file.about.temperature);
  const TargetScale& scale = file.about.target_scale;
  if (!scale.mean.empty()) {
    module.register_buffer("scale_mean", torch::tensor(scale.mean, torch::kFloat64));
    module.register_buffer("scale_deviation", torch::tensor(scale.deviation, torch::kFloat64));
  }
  const auto texts = [&](const char* name, const std::vector<std::string>& list) {
    c10::List<std::string> values;
    for (const std::string& each : list) values.push_back(each);
    module.register_attribute(name, c10::ListType::ofStrings(), values);
  };
  texts("labels", file.about.label_names);
  texts("features", file.about.feature_names);
  module.define(source);
  module.eval();
  std::ostringstream bytes;
  module.save(bytes);
  write_file_atomic(path, bytes.str());
}

}  // namespace grm
