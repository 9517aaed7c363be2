// Regions of Twitch as the files of the publishers have them.
#include "data/twitch_regions.h"

#include <torch/types.h>

#include <algorithm>

#include "data/parsed_cache.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "io/csv.h"
#include "io/json_lists.h"

namespace grm {
namespace {

constexpr int kTwitchParser = 1;        // raise when the parsed form changes
constexpr int64_t kTwitchWidth = 3170;  // feature ids of all regions together

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

}  // namespace

std::string twitch_file(const std::string& region, const std::string& part) {
  return "twitch/" + region + "/musae_" + region + "_" + part;
}

Task twitch_task(const std::string& name) {
  Task task;
  task.name = name;
  task.classes = 2;
  task.loss = LossKind::binary_pair;
  task.metric = MetricKind::roc_auc;
  return task;
}

Source twitch_region(const std::string& region, Use use) {
  return {region,
          use,
          {{twitch_file(region, "target.csv")},
           {twitch_file(region, "edges.csv")},
           {twitch_file(region, "features.json")}}};
}

Domain read_twitch_region(const std::string& name, const std::string& stem) {
  return region_domain(name, parse_region(stem));
}

Domain cached_twitch_region(const DataContext& context, const Source& source,
                            const std::map<std::string, std::string>& hashes) {
  const std::string stem = full_path(context, twitch_file(source.domain, ""));
  return region_domain(source.domain,
                       cached(context, "twitch-" + source.domain, hashes_of(source, hashes),
                              kTwitchParser, [&] { return parse_region(stem); }));
}

}  // namespace grm
