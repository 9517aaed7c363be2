// Elliptic: Bitcoin transactions in 49 snapshots, a few of them labelled licit or illicit.
#include <torch/types.h>

#include <cmath>
#include <filesystem>
#include <unordered_map>

#include "data/makers.h"
#include "data/parsed_cache.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "io/csv.h"

namespace grm {
namespace {

constexpr int kEllipticParser = 1;       // raise when the parsed form changes
constexpr int64_t kEllipticWidth = 165;  // features after transaction id and time step
constexpr int64_t kSnapshots = 49;
constexpr int64_t kFirstTraining = 6, kFirstValidation = 11, kFirstTest = 16;  // from 0
constexpr char kEllipticFeatures[] = "elliptic/elliptic_txs_features.csv";
constexpr char kClasses[] = "elliptic/elliptic_txs_classes.csv";
constexpr char kEllipticEdges[] = "elliptic/elliptic_txs_edgelist.csv";

// Rows of the features file are numbered 0, 1, ...; everything else refers to these numbers.
class Parser {
 public:
  // `most` is the last time step there may be.
  explicit Parser(int64_t most) : most_(most) {}

  io::TensorFile parse(const std::string& features, const std::string& classes,
                       const std::string& edges) {
    read_features(features);
    read_classes(classes);
    read_edges(edges);
    io::TensorFile file;
    const auto n = static_cast<int64_t>(snapshot_.size());
    file.tensors["x"] = torch::tensor(x_).reshape({n, kEllipticWidth});
    file.tensors["snapshot"] = torch::tensor(snapshot_, torch::kInt64);
    file.tensors["y"] = torch::tensor(label_, torch::kInt64);
    file.tensors["source"] = torch::tensor(source_, torch::kInt64);
    file.tensors["target"] = torch::tensor(target_, torch::kInt64);
    return file;
  }

 private:
  void read_features(const std::string& path) {
    io::read_csv(path, [&](const io::CsvRow& row) {
      row.expect_size(kEllipticWidth + 2);
      const int64_t id = row.parse_int(0), step = row.parse_int(1);
      if (step < 1 || step > most_) {
        fail(ErrorKind::data, "{}:{} column 2: time step {} is outside 1..{}", path, row.line, step,
             most_);
      }
      if (!row_of_.emplace(id, static_cast<int64_t>(snapshot_.size())).second) {
        fail(ErrorKind::data, "{}:{}: transaction {} came before", path, row.line, id);
      }
      snapshot_.push_back(step - 1);
      for (int64_t k = 2; k < kEllipticWidth + 2; ++k) {
        const double value = row.parse_double(k);
        if (!std::isfinite(value)) {
          fail(ErrorKind::data, "{}:{} column {}: the feature is {}", path, row.line, k + 1, value);
        }
        x_.push_back(static_cast<float>(value));
      }
    });
  }

  void read_classes(const std::string& path) {
    constexpr int64_t kUnseen = -2;
    label_.assign(snapshot_.size(), kUnseen);
    io::read_csv(path, [&](const io::CsvRow& row) {
      if (row.line == 1) return row.expect({"txId", "class"});
      row.expect_size(2);
      const std::string_view name = row.text(1);
      if (name != "1" && name != "2" && name != "unknown") {
        fail(ErrorKind::data, "{}:{}: the class is '{}', expected 1, 2 or unknown", path, row.line,
             name);
      }
      label_[node(row, 0)] = name == "1" ? 1 : name == "2" ? 0 : -1;
    });
    for (const auto& [id, row] : row_of_) {
      if (label_[row] == kUnseen) {
        fail(ErrorKind::data, "{}: transaction {} has no class", path, id);
      }
    }
  }

  void read_edges(const std::string& path) {
    io::read_csv(path, [&](const io::CsvRow& row) {
      if (row.line == 1) return row.expect({"txId1", "txId2"});
      row.expect_size(2);
      const int64_t u = node(row, 0), v = node(row, 1);
      if (snapshot_[u] != snapshot_[v]) {
        fail(ErrorKind::data, "{}:{}: the edge joins time steps {} and {}", path, row.line,
             snapshot_[u] + 1, snapshot_[v] + 1);
      }
      source_.push_back(u);
      target_.push_back(v);
    });
  }

  int64_t node(const io::CsvRow& row, int64_t column) const {
    const int64_t id = row.parse_int(column);
    const auto found = row_of_.find(id);
    if (found == row_of_.end()) {
      fail(ErrorKind::data, "{}:{} column {}: transaction {} has no features", row.path, row.line,
           column + 1, id);
    }
    return found->second;
  }

  int64_t most_;
  std::unordered_map<int64_t, int64_t> row_of_;  // transaction id -> row
  std::vector<float> x_;
  std::vector<int64_t> snapshot_, label_, source_, target_;
};

// The rows of one snapshot in order of appearance, and the edges between them.
Domain make_snapshot(const io::TensorFile& file, int64_t t, const std::string& group) {
  const torch::Tensor rows = torch::nonzero(file.tensors.at("snapshot").eq(t)).reshape({-1});
  const int64_t n = rows.numel();
  torch::Tensor local = torch::full({file.tensors.at("y").numel()}, -1, torch::kInt64);
  local.index_put_({rows}, torch::arange(n, torch::kInt64));
  const torch::Tensor source = local.index_select(0, file.tensors.at("source"));
  const torch::Tensor target = local.index_select(0, file.tensors.at("target"));
  const torch::Tensor inside = source.ge(0);
  Graph graph;
  graph.name = fmt::format("step{}", t + 1);
  graph.edges = make_adjacency(n, n, source.masked_select(inside), target.masked_select(inside));
  graph.x.dense = file.tensors.at("x").index_select(0, rows);
  Domain domain = make_domain(std::move(graph), file.tensors.at("y").index_select(0, rows));
  domain.group = group;
  domain.labels.loss = domain.labels.evaluate = torch::nonzero(domain.labels.y.ge(0)).reshape({-1});
  return domain;
}

// Numbers that the published files are said to have; others are worth a word, not an error.
void compare_counts(const io::TensorFile& file, Task& task) {
  const torch::Tensor& y = file.tensors.at("y");
  const auto count = [&](int64_t label) { return y.eq(label).sum().item<int64_t>(); };
  if (count(1) == 4545 && count(0) == 42019 && count(-1) == 157205) return;
  task.notes.push_back(fmt::format(
      "{} illicit, {} licit and {} unknown transactions; the published files have 4545, 42019 and "
      "157205",
      count(1), count(0), count(-1)));
  log_warning("elliptic: {}", task.notes.back());
}

class Elliptic final : public Dataset {
 public:
  std::vector<std::string> files() const override {
    return {kEllipticFeatures, kClasses, kEllipticEdges};
  }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "elliptic";
    task.classes = 2;
    task.loss = LossKind::binary_pair;
    task.metric = MetricKind::macro_f1;
    require_sources(context, {{"", Use::all, {{kEllipticFeatures}, {kClasses}, {kEllipticEdges}}}},
                    task);
    const io::TensorFile file = cached(context, "elliptic", task.hashes, kEllipticParser, [&] {
      return Parser(kSnapshots)
          .parse(full_path(context, kEllipticFeatures), full_path(context, kClasses),
                 full_path(context, kEllipticEdges));
    });
    compare_counts(file, task);
    for (int64_t t = kFirstTraining; t < kFirstValidation; ++t) {
      task.training.push_back(make_snapshot(file, t, "train"));
    }
    for (int64_t t = kFirstValidation; t < kFirstTest; ++t) {
      task.validation.push_back(make_snapshot(file, t, "validation"));
    }
    // The first group is one snapshot alone, each later one has four.
    for (int64_t t = kFirstTest; t < kSnapshots; ++t) {
      const int64_t group = (t - kFirstTest + 3) / 4 + 1;
      task.test.push_back(make_snapshot(file, t, fmt::format("T{}", group)));
    }
    return task;
  }

  std::string unseen_form() const override {
    return "a folder with elliptic_txs_features.csv, elliptic_txs_classes.csv and "
           "elliptic_txs_edgelist.csv, of any time steps";
  }
  bool is_unseen_form(const std::string& path) const override {
    return std::filesystem::exists(path_in(path, kEllipticFeatures));
  }
  std::vector<Domain> load_unseen(const std::string& path,
                                  const std::vector<std::string>& /*names*/) const override {
    const io::TensorFile file = Parser(INT32_MAX).parse(
        path_in(path, kEllipticFeatures), path_in(path, kClasses), path_in(path, kEllipticEdges));
    const torch::Tensor steps = std::get<0>(torch::_unique(file.tensors.at("snapshot")));
    std::vector<Domain> domains;
    for (int64_t k = 0; k < steps.numel(); ++k) {
      const int64_t step = steps[k].item<int64_t>();
      domains.push_back(make_snapshot(file, step, fmt::format("step{}", step + 1)));
    }
    return domains;
  }
};

}  // namespace

std::unique_ptr<Dataset> make_elliptic() {
  return std::make_unique<Elliptic>();
}

}  // namespace grm
