// Predictions of whole data sets as lines of a CSV file.
#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>

#include "core/text.h"
#include "grm/core/error.h"
#include "grm/train/predict.h"
#include "train/calibration.h"
#include "train/labelled.h"
#include "train/metrics.h"

namespace grm {
namespace {

constexpr size_t kTextPiece = size_t{1} << 20;  // bytes handed on at a time

// Where targets have no names, a single one is called "value".
std::string output_name(const Model& model, int64_t c) {
  const bool unnamed = model.about().label_names.empty() && model.classes() == 1;
  return unnamed ? "value" : model.label(c);
}

std::string head(const Model& model) {
  const Target target = target_of(model.about().loss);
  if (target != Target::classes) {
    const bool yes_no = target == Target::multi_label;
    std::string columns = "domain,id";
    for (int64_t c = 0; c < model.classes(); ++c) {
      columns += "," + csv_cell((yes_no ? "p_" : "") + output_name(model, c));
    }
    return columns + (yes_no ? ",entropy\n" : "\n");
  }
  std::string line = "domain,id,class,label";
  for (int64_t c = 0; c < model.classes(); ++c) line += "," + csv_cell("p_" + model.label(c));
  return line + ",spread,entropy\n";
}

// The scores of groups that have labels, and why others have none.
void score_groups(const Model& model, const std::vector<GroupLogits>& groups,
                  PredictionSummary& summary) {
  const ModelAbout& about = model.about();
  for (const GroupLogits& group : groups) {
    const bool classes = group.y.dim() == 1;
    if (classes && group.y.max().item<int64_t>() >= about.classes) {
      summary.notes.push_back(
          fmt::format("{}: not scored, a label is {} but the model knows the classes 0..{}",
                      group.name, group.y.max().item<int64_t>(), about.classes - 1));
      continue;
    }
    try {
      const torch::Tensor outputs = about.target_scale.restored(group.logits);
      const double value = score(about.metric, outputs, group.y);
      const double ece =
          classes ? reliability(group.logits, group.y, model.temperature()).ece : 0.0;
      summary.scores.push_back({group.name, group.y.size(0), value, ece});
    } catch (const Error& error) {
      summary.notes.push_back(fmt::format("{}: not scored, {}", group.name, error.what()));
    }
  }
}

class CsvWriter {
 public:
  CsvWriter(const Model& model, const std::function<void(const std::string&)>& write)
      : model_(model), write_(write) {
    for (int64_t c = 0; c < model.classes(); ++c) labels_.push_back(csv_cell(model.label(c)));
    write_(head(model));
  }

  void add(const Domain& domain, const torch::Tensor& items, const Prediction& p) {
    if (!p.classes.defined()) return add_outputs(domain, items, p);
    const torch::Tensor ids = items.contiguous(), probabilities = p.probabilities.contiguous();
    const int64_t* id = ids.data_ptr<int64_t>();
    const int64_t* chosen = p.classes.data_ptr<int64_t>();
    const float* probability = probabilities.data_ptr<float>();
    const float* spread = p.spread.defined() ? p.spread.data_ptr<float>() : nullptr;
    const float* entropy = p.entropy.data_ptr<float>();
    const std::string name = csv_cell(domain.name);
    const auto out = std::back_inserter(text_);
    for (int64_t k = 0; k < ids.numel(); ++k) {
      const std::string item = item_name(domain, id[k]);
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
  static std::string item_name(const Domain& domain, int64_t id) {
    return domain.item_names.empty() ? std::to_string(id)
                                     : csv_cell(domain.item_names.at(static_cast<size_t>(id)));
  }

  // Targets that are not classes: a number for each.
  void add_outputs(const Domain& domain, const torch::Tensor& items, const Prediction& p) {
    const torch::Tensor ids = items.contiguous();
    const torch::Tensor rows = (p.values.defined() ? p.values : p.probabilities).contiguous();
    const std::string name = csv_cell(domain.name);
    const auto out = std::back_inserter(text_);
    for (int64_t k = 0; k < ids.numel(); ++k) {
      fmt::format_to(out, "{},{}", name, item_name(domain, ids.data_ptr<int64_t>()[k]));
      for (int64_t c = 0; c < rows.size(1); ++c) {
        fmt::format_to(out, ",{}", rows.data_ptr<float>()[k * rows.size(1) + c]);
      }
      if (p.entropy.defined()) fmt::format_to(out, ",{}", p.entropy.data_ptr<float>()[k]);
      text_ += '\n';
      if (text_.size() >= kTextPiece) flush();
    }
    flush();
  }

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
                              const std::function<void(int64_t, int64_t)>& progress,
                              const PredictionSink& each) {
  PredictionSummary summary;
  torch::Tensor count = torch::zeros({model.classes()}, torch::kInt64);
  LabelledLogits labelled;
  CsvWriter csv(model, write);
  const HandlePiece handle = [&](const Domain& domain, const torch::Tensor& ids,
                                 const Prediction& p) {
    csv.add(domain, ids, p);
    if (each) each(domain, ids, p);
    labelled.add(domain, ids, p.logits);
    if (p.classes.defined()) count += torch::bincount(p.classes, {}, model.classes());
    if (!p.classes.defined() && p.probabilities.defined()) count += p.logits.gt(0).sum(0);
    summary.items += ids.numel();
    if (p.entropy.defined()) {
      summary.mean_entropy += p.entropy.sum(torch::kFloat64).item<double>();
    }
    if (p.spread.defined()) {
      summary.sampled = true;
      summary.mean_spread += p.spread.sum(torch::kFloat64).item<double>();
    }
  };
  predict_pieces(model, data, handle, progress);
  const auto items = static_cast<double>(std::max<int64_t>(summary.items, 1));
  summary.mean_entropy /= items;
  summary.mean_spread /= items;
  if (target_of(model.about().loss) != Target::regression) {
    summary.count.assign(count.data_ptr<int64_t>(), count.data_ptr<int64_t>() + count.numel());
  }
  score_groups(model, labelled.groups(), summary);
  return summary;
}

}  // namespace grm
