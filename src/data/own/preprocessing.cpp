#include "data/own/preprocessing.h"

#include "core/json.h"
#include "core/json_number.h"

namespace grm::own {
namespace {

using nlohmann::ordered_json;
constexpr int kFormat = 1;

ordered_json rules_json(const std::vector<ColumnRule>& rules) {
  ordered_json list = ordered_json::array();
  for (const ColumnRule& rule : rules) {
    ordered_json entry = {{"name", rule.name}, {"kind", rule.numeric ? "numeric" : "categorical"}};
    if (rule.numeric) {
      entry["missing"] = rule.missing;
      entry["mean"] = rule.mean;
      entry["scale"] = rule.scale;
      entry["fill"] = rule.fill;
      entry["flag"] = rule.flag;
      if (rule.sparse) entry["sparse"] = true;
    } else {
      entry["categories"] = rule.categories;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<ColumnRule> rules_from(const ordered_json& list) {
  std::vector<ColumnRule> rules;
  for (const ordered_json& entry : list) {
    ColumnRule rule;
    rule.name = entry.at("name");
    rule.numeric = entry.at("kind") == "numeric";
    if (rule.numeric) {
      rule.missing = entry.at("missing");
      rule.mean = entry.at("mean");
      rule.scale = entry.at("scale");
      rule.fill = entry.at("fill");
      rule.flag = entry.at("flag");
      rule.sparse = entry.value("sparse", false);
    } else {
      rule.categories = entry.at("categories").get<std::vector<std::string>>();
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

Plan plan_of(const std::vector<ColumnRule>& rules) {
  Plan plan;
  plan.from = "the trained model";
  for (const ColumnRule& rule : rules) {
    plan.entries.push_back({rule.name, rule.numeric, rule.missing, rule.sparse});
  }
  return plan;
}

}  // namespace

Plans Preprocessing::plans() const {
  Plans plans;
  plans.made = true;
  plans.nodes = plan_of(columns);
  plans.nodes.ignore = ignore;
  plans.nodes.ignore_others = ignore_others;
  plans.edges = plan_of(edge_columns);
  plans.edges.ignore_others = true;
  return plans;
}

std::string to_json(const Preprocessing& p) {
  ordered_json json = {{"format", kFormat},
                       {"kind", p.kind},
                       {"classes", p.classes},
                       {"labels", p.labels},
                       {"undirected", p.undirected},
                       {"edge_weights", p.edge_weights},
                       {"columns", rules_json(p.columns)},
                       {"edge_columns", rules_json(p.edge_columns)}};
  if (p.target != Target::classes) json["target"] = to_string(p.target);
  if (p.kind == "csv") {
    json["csv"] = {{"nodes", p.csv.nodes},   {"edges", p.csv.edges},
                   {"graphs", p.csv.graphs}, {"id", p.csv.id},
                   {"label", p.csv.label},   {"source", p.csv.source},
                   {"target", p.csv.target}, {"graph", p.csv.graph},
                   {"domain", p.csv.domain}, {"separator", p.csv.separator}};
    if (!p.csv.features.empty()) json["csv"]["features"] = p.csv.features;
    if (!p.csv.targets.empty()) json["csv"]["targets"] = p.csv.targets;
    json["edge_weight"] = p.edge_weight;
    json["ignore"] = p.ignore;
    json["ignore_others"] = p.ignore_others;
  }
  return json_text(json);
}

Preprocessing preprocessing_from_json(const std::string& text) {
  Preprocessing p;
  if (text.empty()) return p;
  try {
    const ordered_json json = parse_json<ordered_json>(text, "preprocessing of the model");
    if (json.at("format") != kFormat) {
      fail(ErrorKind::data, "preprocessing of format {} needs another version (this one knows {})",
           json_text(json.at("format")), kFormat);
    }
    p.kind = json.at("kind");
    p.classes = whole_number(json, "classes", "preprocessing of the model");
    p.labels = json.at("labels").get<std::vector<std::string>>();
    p.undirected = json.at("undirected");
    p.edge_weights = json.at("edge_weights");
    if (json.contains("target")) {
      const auto target = value_of<Target>(json.at("target").get<std::string>());
      if (!target) fail(ErrorKind::data, "damaged preprocessing: its target is unknown");
      p.target = *target;
    }
    p.columns = rules_from(json.at("columns"));
    p.edge_columns = rules_from(json.at("edge_columns"));
    if (p.kind != "csv") return p;
    const ordered_json& csv = json.at("csv");
    p.csv.nodes = csv.at("nodes");
    p.csv.edges = csv.at("edges");
    p.csv.graphs = csv.at("graphs");
    p.csv.features = csv.value("features", "");
    p.csv.id = csv.at("id");
    p.csv.label = csv.at("label");
    p.csv.source = csv.at("source");
    p.csv.target = csv.at("target");
    p.csv.graph = csv.at("graph");
    p.csv.domain = csv.at("domain");
    if (csv.contains("targets")) p.csv.targets = csv.at("targets").get<std::vector<std::string>>();
    p.csv.separator = csv.at("separator");
    if (p.csv.separator.size() != 1) fail(ErrorKind::data, "damaged preprocessing: separator");
    p.edge_weight = json.at("edge_weight");
    p.ignore = json.at("ignore").get<std::vector<std::string>>();
    p.ignore_others = json.at("ignore_others");
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "damaged preprocessing of the model: {}", error.what());
  }
  return p;
}

}  // namespace grm::own
