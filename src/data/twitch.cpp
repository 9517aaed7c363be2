// Twitch-Explicit: one graph per region, trained on DE, validated on ENGB.
#include <torch/types.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "data/makers.h"
#include "data/parsed_cache.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "io/csv.h"
#include "io/json_lists.h"

namespace grm {
namespace {

constexpr int kTwitchParser = 1;        // raise when the parsed form changes
constexpr int64_t kTwitchWidth = 3170;  // feature ids of all regions together
const std::string kTwitchFeatures = "_features.json";

struct Region {
  const char* name;
  Use use;
};
constexpr Region kRegions[] = {{"DE", Use::training}, {"ENGB", Use::validation}, {"ES", Use::test},
                               {"FR", Use::test},     {"PTBR", Use::test},       {"RU", Use::test},
                               {"TW", Use::test}};

std::string region_file(const std::string& region, const std::string& part) {
  return "twitch/" + region + "/musae_" + region + "_" + part;
}

// Labels by new_id, which is not the order of the file; the first row of a repeated id counts.
torch::Tensor read_labels(const std::string& path) {
  std::map<int64_t, int64_t> label_of;
  io::read_csv(path, [&](const io::CsvRow& row) {
    if (row.line == 1) return row.expect({"id", "days", "mature", "views", "partner", "new_id"});
    row.expect_size(6);
    const std::string_view mature = row.text(2);
    if (mature != "True" && mature != "False") {
      fail(ErrorKind::data, "{}:{}: the label 'mature' is '{}', expected True or False", path,
           row.line, mature);
    }
    label_of.emplace(row.parse_int(5), mature == "True" ? 1 : 0);
  });
  std::vector<int64_t> labels;
  for (const auto& [id, label] : label_of) {
    if (id != static_cast<int64_t>(labels.size())) {
      fail(ErrorKind::data, "{}: no row has new_id {}, though one has {}", path, labels.size(), id);
    }
    labels.push_back(label);
  }
  return torch::tensor(labels, torch::kInt64);
}

AdjacencyPtr read_features(const std::string& path, int64_t n) {
  io::IntLists lists = io::read_json_lists(path);
  const auto node = lists.key.accessor<int64_t, 1>();
  const auto column = lists.value.accessor<int64_t, 1>();
  int64_t skipped = 0;
  for (int64_t k = 0; k < lists.key.numel(); ++k) {
    if (node[k] < 0 || column[k] < 0 || column[k] >= kTwitchWidth) {
      fail(ErrorKind::data, "{}: node {} has feature {}, expected 0..{}", path, node[k], column[k],
           kTwitchWidth - 1);
    }
    skipped += node[k] >= n;
  }
  if (skipped > 0) {
    log_warning("{}: {} features of nodes beyond {} are skipped", path, skipped, n - 1);
    const torch::Tensor kept = lists.key.lt(n);
    lists.key = lists.key.masked_select(kept);
    lists.value = lists.value.masked_select(kept);
  }
  return adjacency_of_file(path, n, kTwitchWidth, lists.value, lists.key);
}

// `stem` is the path of the three files up to target.csv, edges.csv and features.json.
io::TensorFile parse_region(const std::string& stem) {
  io::TensorFile file;
  const torch::Tensor y = read_labels(stem + "target.csv");
  file.tensors["y"] = y;
  put_pattern(file, "edges", read_edge_csv(stem + "edges.csv", y.numel(), {"from", "to"})->in);
  put_pattern(file, "x", read_features(stem + "features.json", y.numel())->in);
  return file;
}

Domain region_domain(const std::string& name, const io::TensorFile& file) {
  Graph graph;
  graph.name = name;
  graph.edges = get_pattern(file, "edges");
  graph.x.sparse = get_pattern(file, "x");
  return make_domain(std::move(graph), file.tensors.at("y"));
}

Source region_source(const Region& region) {
  return {region.name,
          region.use,
          {{region_file(region.name, "target.csv")},
           {region_file(region.name, "edges.csv")},
           {region_file(region.name, "features.json")}}};
}

class Twitch final : public Dataset {
 public:
  std::vector<std::string> files() const override {
    std::vector<std::string> all;
    for (const Region& region : kRegions) {
      for (const SourceFile& file : region_source(region).files) all.push_back(file.path);
    }
    return all;
  }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "twitch";
    task.classes = 2;
    task.loss = LossKind::binary_pair;
    task.metric = MetricKind::roc_auc;
    std::vector<Source> sources;
    for (const Region& region : kRegions) sources.push_back(region_source(region));
    for (const Source& source : require_sources(context, sources, task)) {
      const io::TensorFile file =
          cached(context, "twitch-" + source.domain, hashes_of(source, task.hashes), kTwitchParser,
                 [&] { return parse_region(full_path(context, region_file(source.domain, ""))); });
      add_domain(task, source.use, region_domain(source.domain, file));
    }
    return task;
  }

  std::string unseen_form() const override {
    return "a folder with musae_X_edges.csv, musae_X_features.json and musae_X_target.csv";
  }
  bool is_unseen_form(const std::string& path) const override {
    return !files_in(path, kTwitchFeatures).empty();
  }
  std::vector<Domain> load_unseen(const std::string& path,
                                  const std::vector<std::string>& /*names*/) const override {
    std::vector<Domain> domains;
    for (const std::string& file : files_in(path, kTwitchFeatures)) {
      const std::string stem = file.substr(0, file.size() - kTwitchFeatures.size() + 1);
      std::string name = std::filesystem::path(stem).filename().string();
      name = name.substr(name.find('_') + 1);  // "musae_NL_" -> "NL_"
      if (!name.empty() && name.back() == '_') name.pop_back();
      domains.push_back(region_domain(name, parse_region(stem)));
    }
    return domains;
  }
};

}  // namespace

std::unique_ptr<Dataset> make_twitch() {
  return std::make_unique<Twitch>();
}

}  // namespace grm
