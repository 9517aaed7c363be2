// Predictions of whole data sets as lines of a CSV file.
#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>

#include "core/text.h"
#include "grm/core/error.h"
#include "grm/train/predict.h"
#include "train/calibration.h"
#include "train/metrics.h"

namespace grm {
namespace {

// Graphs of a set predicted at a time: a multiple of the batches that methods evaluate, so that a
// set is cut as in one go. The nodes of a graph are always predicted together.
constexpr int64_t kGraphs = 2048;
constexpr size_t kTextPiece = size_t{1} << 20;  // bytes handed on at a time

std::string head(const Model& model) {
  std::string line = "domain,id,class,label";
  for (int64_t c = 0; c < model.classes(); ++c) line += "," + csv_cell("p_" + model.label(c));
  return line + ",spread,entropy\n";
}

// The logits of labelled items, by group.
class Scorer {
 public:
  explicit Scorer(const Model& model) : about_(model.about()), model_(model) {}

  void add(const Domain& domain, const torch::Tensor& items, const torch::Tensor& logits) {
    if (!domain.labels.y.defined() || !domain.labels.evaluate.defined()) return;
    torch::Tensor counts = torch::zeros({domain.labels.y.numel()}, torch::kBool);
    counts.index_fill_(0, domain.labels.evaluate, true);
    counts = counts.logical_and(domain.labels.y.ge(0)).index_select(0, items);
    const torch::Tensor rows = counts.nonzero().flatten();
    if (rows.numel() == 0) return;
    const std::string& name = domain.group.empty() ? domain.name : domain.group;
    auto group = std::find_if(groups_.begin(), groups_.end(),
                              [&](const Group& g) { return g.name == name; });
    if (group == groups_.end()) group = groups_.insert(groups_.end(), {name, {}, {}});
    group->logits.push_back(logits.index_select(0, rows));
    group->y.push_back(domain.labels.y.index_select(0, items.index_select(0, rows)));
  }

  void finish(PredictionSummary& summary) const {
    for (const Group& group : groups_) {
      const torch::Tensor y = torch::cat(group.y);
      if (y.max().item<int64_t>() >= about_.classes) {
        summary.notes.push_back(
            fmt::format("{}: not scored, a label is {} but the model knows the classes 0..{}",
                        group.name, y.max().item<int64_t>(), about_.classes - 1));
        continue;
      }
      try {
        const torch::Tensor logits = torch::cat(group.logits);
        const double value = score(about_.metric, logits, y);
        const double ece = reliability(logits, y, model_.temperature()).ece;
        summary.scores.push_back({group.name, y.numel(), value, ece});
      } catch (const Error& error) {
        summary.notes.push_back(fmt::format("{}: not scored, {}", group.name, error.what()));
      }
    }
  }

 private:
  struct Group {
    std::string name;
    std::vector<torch::Tensor> logits, y;
  };
  const ModelAbout& about_;
  const Model& model_;
  std::vector<Group> groups_;
};

class CsvWriter {
 public:
  CsvWriter(const Model& model, const std::function<void(const std::string&)>& write)
      : model_(model), write_(write) {
    for (int64_t c = 0; c < model.classes(); ++c) labels_.push_back(csv_cell(model.label(c)));
    write_(head(model));
  }

  void add(const Domain& domain, const torch::Tensor& items, const Prediction& p) {
    const torch::Tensor ids = items.contiguous(), probabilities = p.probabilities.contiguous();
    const int64_t* id = ids.data_ptr<int64_t>();
    const int64_t* chosen = p.classes.data_ptr<int64_t>();
    const float* probability = probabilities.data_ptr<float>();
    const float* spread = p.spread.defined() ? p.spread.data_ptr<float>() : nullptr;
    const float* entropy = p.entropy.data_ptr<float>();
    const std::string name = csv_cell(domain.name);
    const auto out = std::back_inserter(text_);
    for (int64_t k = 0; k < ids.numel(); ++k) {
      const std::string item = domain.item_names.empty()
                                   ? std::to_string(id[k])
                                   : csv_cell(domain.item_names.at(static_cast<size_t>(id[k])));
      fmt::format_to(out, "{},{},{},{}", name, item, chosen[k],
                     labels_[static_cast<size_t>(chosen[k])]);
      for (int64_t c = 0; c < model_.classes(); ++c) {
        fmt::format_to(out, ",{}", probability[k * model_.classes() + c]);
      }
      fmt::format_to(out, ",{},{}\n", spread ? fmt::format("{}", spread[k]) : "", entropy[k]);
      if (text_.size() >= kTextPiece) flush();
    }
    flush();
  }

 private:
  void flush() {
    write_(text_);
    text_.clear();
  }
  const Model& model_;
  const std::function<void(const std::string&)>& write_;
  std::vector<std::string> labels_;
  std::string text_;
};

}  // namespace

PredictionSummary predict_csv(Model& model, const std::vector<Asked>& data,
                              const std::function<void(const std::string&)>& write,
                              const std::function<void(int64_t, int64_t)>& progress) {
  PredictionSummary summary;
  int64_t all = 0;
  for (const Asked& asked : data) all += asked.items.numel();
  torch::Tensor count = torch::zeros({model.classes()}, torch::kInt64);
  Scorer scorer(model);
  CsvWriter csv(model, write);
  for (const Asked& asked : data) {
    const int64_t items = asked.items.numel();
    const int64_t step =
        asked.domain.graph.level() == Level::graph ? kGraphs : std::max<int64_t>(items, 1);
    for (int64_t begin = 0; begin < items; begin += step) {
      if (progress) progress(summary.items, all);
      const torch::Tensor ids = asked.items.slice(0, begin, std::min(items, begin + step));
      const Prediction p = model.predict_prepared(asked.domain.graph, ids);
      csv.add(asked.domain, ids, p);
      scorer.add(asked.domain, ids, p.logits);
      count += torch::bincount(p.classes, {}, model.classes());
      summary.items += ids.numel();
      summary.mean_entropy += p.entropy.sum(torch::kFloat64).item<double>();
      if (p.spread.defined()) {
        summary.sampled = true;
        summary.mean_spread += p.spread.sum(torch::kFloat64).item<double>();
      }
    }
    model.forget_graphs();
  }
  if (progress) progress(summary.items, all);
  const auto items = static_cast<double>(std::max<int64_t>(summary.items, 1));
  summary.mean_entropy /= items;
  summary.mean_spread /= items;
  summary.count.assign(count.data_ptr<int64_t>(), count.data_ptr<int64_t>() + count.numel());
  scorer.finish(summary);
  return summary;
}

}  // namespace grm
