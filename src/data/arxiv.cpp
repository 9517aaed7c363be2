// ogbn-arxiv cut by publication year: each period's graph holds all papers up to its end.
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "data/arxiv_papers.h"
#include "data/makers.h"
#include "data/parsed_cache.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "io/csv.h"

namespace grm {
namespace {

constexpr int kParser = 1;  // raise when the parsed form changes
constexpr int64_t kWidth = 128;
constexpr char kEdges[] = "arxiv/raw/edge.csv.gz";
constexpr char kFeatures[] = "arxiv/raw/node-feat.csv.gz";
constexpr char kLabels[] = "arxiv/raw/node-label.csv.gz";
constexpr char kYears[] = "arxiv/raw/node_year.csv.gz";

// Papers of the years lo < year <= hi are the new ones of a period; its graph has all up to hi.
struct Period {
  const char* name;
  Use use;
  int64_t lo, hi;
  int64_t nodes;  // of the published graph
};
constexpr Period kPeriods[] = {{"to2011", Use::training, 1950, 2011, 17401},
                               {"2012-2014", Use::validation, 2011, 2014, 41125},
                               {"T1", Use::test, 2014, 2016, 69499},
                               {"T2", Use::test, 2016, 2018, 120740},
                               {"T3", Use::test, 2018, 2020, 169343}};

torch::Tensor read_features(const std::string& path) {
  std::vector<float> x;
  io::read_csv(path, [&](const io::CsvRow& row) {
    row.expect_size(kWidth);
    for (int64_t k = 0; k < kWidth; ++k) {
      const double value = row.parse_double(k);
      if (!std::isfinite(value)) {
        fail(ErrorKind::data, "{}:{} column {}: the feature is {}", path, row.line, k + 1, value);
      }
      x.push_back(static_cast<float>(value));
    }
  });
  return torch::tensor(x).reshape({static_cast<int64_t>(x.size()) / kWidth, kWidth});
}

// One whole number, at least 0, for each of n nodes.
torch::Tensor read_numbers(const std::string& path, int64_t n) {
  std::vector<int64_t> numbers;
  io::read_csv(path, [&](const io::CsvRow& row) {
    row.expect_size(1);
    numbers.push_back(row.parse_int(0));
    if (numbers.back() < 0) {
      fail(ErrorKind::data, "{}:{}: {} is negative", path, row.line, numbers.back());
    }
  });
  if (static_cast<int64_t>(numbers.size()) != n) {
    fail(ErrorKind::data, "{}: {} rows, but there are features of {} nodes", path, numbers.size(),
         n);
  }
  return torch::tensor(numbers, torch::kInt64);
}

io::TensorFile parse_arxiv(const DataContext& context) {
  io::TensorFile file;
  const torch::Tensor x = read_features(full_path(context, kFeatures));
  file.tensors["x"] = x;
  file.tensors["y"] = read_numbers(full_path(context, kLabels), x.size(0));
  file.tensors["year"] = read_numbers(full_path(context, kYears), x.size(0));
  put_pattern(file, "edges", read_edge_csv(full_path(context, kEdges), x.size(0))->in);
  return file;
}

// Papers of any year as one graph; labels may be missing.
Domain read_papers(const std::string& folder) {
  Graph graph;
  graph.name = std::filesystem::path(folder).filename().string();
  graph.x.dense = read_features(path_in(folder, kFeatures));
  const int64_t n = graph.x.dense.size(0);
  graph.edges = read_edge_csv(path_in(folder, kEdges), n);
  const std::string labels = path_in(folder, kLabels);
  return make_domain(std::move(graph), std::filesystem::exists(labels)
                                           ? read_numbers(labels, n)
                                           : torch::full({n}, -1, torch::kInt64));
}

// Nodes keep their order, so node k is the k-th paper of the file that is not too young.
Domain make_period(const io::TensorFile& file, const Adjacency& all, const Period& period) {
  const torch::Tensor& year = file.tensors.at("year");
  const torch::Tensor nodes = torch::nonzero(year.le(period.hi)).reshape({-1});
  const int64_t n = nodes.numel();
  torch::Tensor local = torch::full({year.numel()}, -1, torch::kInt64);
  local.index_put_({nodes}, torch::arange(n, torch::kInt64));
  const auto [source, target] = edge_list(all);
  const torch::Tensor s = local.index_select(0, source), t = local.index_select(0, target);
  const torch::Tensor inside = s.ge(0).logical_and(t.ge(0));
  Graph graph;
  graph.name = period.name;
  graph.edges = make_adjacency(n, n, s.masked_select(inside), t.masked_select(inside));
  graph.x.dense = file.tensors.at("x").index_select(0, nodes);
  Domain domain = make_domain(std::move(graph), file.tensors.at("y").index_select(0, nodes));
  if (period.use != Use::training) {
    const torch::Tensor fresh = year.index_select(0, nodes).gt(period.lo);
    domain.labels.loss = domain.labels.evaluate = torch::nonzero(fresh).reshape({-1});
  }
  return domain;
}

}  // namespace

Source arxiv_source() {
  return {"", Use::all, {{kEdges}, {kFeatures}, {kLabels}, {kYears}}};
}

io::TensorFile cached_arxiv(const DataContext& context, const Task& task) {
  return cached(context, "arxiv", task.hashes, kParser, [&] { return parse_arxiv(context); });
}

namespace {

class Arxiv final : public Dataset {
 public:
  std::vector<std::string> files() const override { return {kEdges, kFeatures, kLabels, kYears}; }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "arxiv";
    task.loss = LossKind::softmax;
    task.metric = MetricKind::accuracy;
    require_sources(context, {arxiv_source()}, task);
    const io::TensorFile file = cached_arxiv(context, task);
    const AdjacencyPtr all = get_pattern(file, "edges");
    for (const Period& period : kPeriods) {
      Domain domain = make_period(file, *all, period);
      if (domain.graph.nodes() != period.nodes) {
        task.notes.push_back(fmt::format("{} has {} papers; the published graph has {}",
                                         period.name, domain.graph.nodes(), period.nodes));
        log_warning("arxiv: {}", task.notes.back());
      }
      add_domain(task, period.use, std::move(domain));
    }
    const torch::Tensor& y = task.training.front().labels.y;
    task.classes = y.numel() > 0 ? y.max().item<int64_t>() + 1 : 0;
    return task;
  }

  std::string unseen_form() const override {
    return "a folder with raw/node-feat.csv.gz, raw/edge.csv.gz and, with labels, "
           "raw/node-label.csv.gz";
  }
  bool is_unseen_form(const std::string& path) const override {
    return std::filesystem::exists(path_in(path, kFeatures)) &&
           !std::filesystem::exists(path_in(path, "arxiv/raw/num-node-list.csv.gz"));
  }
  std::vector<Domain> load_unseen(const std::string& path,
                                  const std::vector<std::string>& /*names*/) const override {
    return {read_papers(path)};
  }
};

}  // namespace

std::unique_ptr<Dataset> make_arxiv() {
  return std::make_unique<Arxiv>();
}

}  // namespace grm
