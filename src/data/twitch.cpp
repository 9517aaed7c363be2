// Twitch-Explicit: one graph per region, trained on DE, validated on ENGB.
#include <torch/types.h>

#include <algorithm>
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

io::TensorFile parse_region(const DataContext& context, const std::string& region) {
  const auto path = [&](const char* part) { return full_path(context, region_file(region, part)); };
  io::TensorFile file;
  const torch::Tensor y = read_labels(path("target.csv"));
  file.tensors["y"] = y;
  put_pattern(file, "edges", read_edge_csv(path("edges.csv"), y.numel(), {"from", "to"})->in);
  put_pattern(file, "x", read_features(path("features.json"), y.numel())->in);
  return file;
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
                 [&] { return parse_region(context, source.domain); });
      Graph graph;
      graph.name = source.domain;
      graph.edges = get_pattern(file, "edges");
      graph.x.sparse = get_pattern(file, "x");
      add_domain(task, source.use, make_domain(std::move(graph), file.tensors.at("y")));
    }
    return task;
  }
};

}  // namespace

std::unique_ptr<Dataset> make_twitch() {
  return std::make_unique<Twitch>();
}

}  // namespace grm
