#include "study/watch.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "data/item_rows.h"
#include "grm/core/error.h"
#include "grm/core/rng.h"
#include "grm/train/predict.h"
#include "study/watch_answers.h"
#include "train/memory_input.h"
#include "train/trainer.h"

namespace grm::study {
namespace {

constexpr int64_t kMostItems = 4000;   // of a domain
constexpr int64_t kMostColumns = 256;  // features that are compared: those that are set most often
constexpr int64_t kFewestSet = 30;     // items of the reference that have a feature set

// The watched quantities of one domain: a sample of each.
struct Measured {
  std::vector<Sample> rows;  // structure and columns
  Answers answers;
};

torch::Tensor items_of(const torch::Tensor& all, uint64_t domain) {
  if (all.numel() <= kMostItems) return all;
  Stream stream = Rng(0).stream("watch", domain);
  std::vector<int64_t> some = stream.choose(all.numel(), kMostItems);
  std::sort(some.begin(), some.end());
  return all.index_select(0, torch::tensor(some, torch::kInt64));
}

std::vector<int64_t> list_of(const torch::Tensor& items) {
  const torch::Tensor whole = items.contiguous();
  return {whole.data_ptr<int64_t>(), whole.data_ptr<int64_t>() + whole.numel()};
}

class Watch {
 public:
  explicit Watch(const WatchRequest& request) : request_(request) {
    for (const std::string& run : request.runs) models_.push_back(load(run));
    for (const Model& model : models_) {
      const ModelAbout &about = model.about(), &first = models_.front().about();
      if (about.classes == first.classes && about.features == first.features &&
          about.level == first.level && target_of(about.loss) == target_of(first.loss)) {
        continue;
      }
      fail(ErrorKind::config, "{} and {} are models of other data: seeds of one run are wanted",
           request.runs.front(), model.path());
    }
  }

  WatchResult operator()() {
    const LoadedModel loaded = load_model(request_.runs.front(), request_.context);
    const Task& task = loaded.task;
    if (task.validation.empty()) {
      fail(ErrorKind::data, "{}: the run has no validation domain to compare with",
           request_.runs.front());
    }
    result_.dataset = task.name;
    result_.metric = to_string(task.metric);
    result_.target = target_of(models_.front().about().loss);
    structure_ = task.level == Level::graph ? 2 : 1;
    choose_columns(task);
    std::vector<Measured> validation, training;
    for (const Domain& domain : task.validation) validation.push_back(reference(domain));
    for (const Domain& domain : task.training) training.push_back(reference(domain));
    for (const Measured& each : validation) {
      result_.reference_confidence +=
          each.answers.confidence / static_cast<double>(validation.size());
    }
    compare_with(validation, training);
    const std::vector<Asked> data =
        data_to_predict(models_.front(), request_.data, request_.context);
    check_memory_to_predict(models_.front(), data);
    for (const Asked& asked : data) judge(asked);
    return result_;
  }

 private:
  // Columns that enough items have set, the most common first, then by number.
  void choose_columns(const Task& task) {
    const TrainView view = task.train_view();
    std::vector<int64_t> set(static_cast<size_t>(view.features), 0);
    for (const std::vector<Domain>* domains : {&task.training, &task.validation}) {
      for (const Domain& domain : *domains) {
        sparse_width_ = std::max(sparse_width_, domain.graph.x.sparse_width());
        if (!domain.graph.x.sparse) continue;
        const auto& rows = domain.graph.x.sparse->in;
        for (int64_t e = 0; e < rows.offset()[domain.graph.nodes()]; ++e) ++set[rows.index()[e]];
      }
    }
    std::vector<int64_t> columns;
    for (int64_t c = 0; c < view.features; ++c) {
      const auto at = static_cast<size_t>(c);
      if (c >= sparse_width_) set[at] = std::numeric_limits<int64_t>::max();
      if (set[at] >= kFewestSet) columns.push_back(c);
    }
    std::stable_sort(columns.begin(), columns.end(), [&](int64_t a, int64_t b) {
      return set[static_cast<size_t>(a)] > set[static_cast<size_t>(b)];
    });
    if (static_cast<int64_t>(columns.size()) > kMostColumns) columns.resize(kMostColumns);
    columns_ = columns;
    width_ = view.features;
    names_ = {"degree"};
    if (structure_ == 2) names_.push_back("size");
    for (const int64_t c : columns_) {
      names_.push_back(task.feature_names.empty() ? fmt::format("feature {}", c)
                                                  : task.feature_names.at(static_cast<size_t>(c)));
    }
    prediction_names_ = answer_names(models_.front());
  }

  Measured reference(const Domain& domain) {
    const torch::Tensor all = torch::arange(domain.graph.items(), torch::kInt64);
    ++result_.reference_domains;
    result_.reference_items += all.numel();
    return measure(models_.front(), domain, items_of(all, 0));
  }

  Measured measure(Model& model, const Domain& domain, const torch::Tensor& items) {
    Measured out;
    ItemRows rows;
    rows.sparse_width = sparse_width_;
    rows.dense_width = structure_ + width_ - sparse_width_;
    rows.append(domain, list_of(items));
    out.rows.assign(names_.size(), Sample(static_cast<size_t>(rows.rows()), 0.0));
    for (int64_t i = 0; i < rows.rows(); ++i) {
      const auto at = static_cast<size_t>(i);
      std::vector<double> sparse(static_cast<size_t>(sparse_width_), 0.0);
      for (int64_t e = rows.first[at]; e < rows.first[at + 1]; ++e) {
        sparse[static_cast<size_t>(rows.column[static_cast<size_t>(e)])] =
            rows.value[static_cast<size_t>(e)];
      }
      const float* dense = rows.dense.data() + i * rows.dense_width;
      for (int64_t s = 0; s < structure_; ++s) out.rows[static_cast<size_t>(s)][at] = dense[s];
      for (size_t k = 0; k < columns_.size(); ++k) {
        const int64_t c = columns_[k];
        const double value = c < sparse_width_ ? sparse[static_cast<size_t>(c)]
                                               : dense[structure_ + c - sparse_width_];
        out.rows[static_cast<size_t>(structure_) + k][at] = value;
      }
    }
    out.answers = answers_of(model, model.predict_prepared(domain.graph, items));
    model.forget_graphs();
    return out;
  }

  // Features and structure are compared with all reference domains, predictions with validation:
  // on training domains a model is surer than on any other.
  void compare_with(const std::vector<Measured>& validation,
                    const std::vector<Measured>& training) {
    const auto samples = [](const std::vector<Measured>& of, size_t k, bool rows) {
      std::vector<Sample> all;
      for (const Measured& each : of) all.push_back(rows ? each.rows[k] : each.answers.columns[k]);
      return all;
    };
    std::vector<Measured> both = training;
    both.insert(both.end(), validation.begin(), validation.end());
    for (size_t k = 0; k < names_.size(); ++k) references_.emplace_back(samples(both, k, true));
    for (size_t k = 0; k < prediction_names_.size(); ++k) {
      prediction_references_.emplace_back(samples(validation, k, false),
                                          samples(training, k, false));
    }
    result_.comparisons = 2 * static_cast<int64_t>(names_.size() + prediction_names_.size());
    result_.variation_known = both.size() >= 4;
  }

  void judge(const Asked& asked) {
    const auto number = static_cast<int64_t>(result_.domains.size()) + 1;
    const torch::Tensor items = items_of(asked.items, static_cast<uint64_t>(number));
    if (items.numel() == 0) return;
    WatchedDomain domain;
    domain.name = asked.domain.name;
    domain.items = asked.items.numel();
    domain.level = alpha_of(request_.alpha, number);
    std::vector<torch::Tensor> answers;
    for (size_t m = 0; m < models_.size(); ++m) {
      const Measured found = measure(models_[m], asked.domain, items);
      domain.expected_accuracy += found.answers.confidence / static_cast<double>(models_.size());
      answers.push_back(found.answers.each);
      if (m > 0) continue;
      for (size_t k = 0; k < names_.size(); ++k)
        test(domain, names_[k], references_[k], found.rows[k]);
      for (size_t k = 0; k < prediction_names_.size(); ++k) {
        test(domain, prediction_names_[k], prediction_references_[k], found.answers.columns[k]);
      }
    }
    domain.agreement = agreement(result_.target, answers);
    // A level that has moved is the plainer reason: values that all lie above lie further out, too.
    std::stable_sort(domain.moved.begin(), domain.moved.end(),
                     [](const WatchedQuantity& a, const WatchedQuantity& b) {
                       return std::tie(a.spread, a.p) < std::tie(b.spread, b.p);
                     });
    domain.alarm = !domain.moved.empty();
    if (domain.alarm) domain.reason = reason(domain);
    result_.domains.push_back(std::move(domain));
  }

  void test(WatchedDomain& domain, const std::string& name, const DriftReference& reference,
            const Sample& sample) {
    for (const bool spread : {false, true}) {
      const DriftTest found = spread ? reference.spread(sample) : reference.location(sample);
      const double p = std::min(1.0, found.p * static_cast<double>(result_.comparisons));
      domain.p = std::min(domain.p, p);
      if (p < domain.level) domain.moved.push_back({name, spread, found.effect, p});
    }
  }

  static std::string reason(const WatchedDomain& domain) {
    const WatchedQuantity& first = domain.moved.front();
    std::string text = fmt::format(
        "{} {} than in the reference (difference of mean ranks {:+.2f}, corrected p {:.2g}, level "
        "{:.2g})",
        first.name,
        first.spread ? (first.effect > 0 ? "varies more" : "varies less")
                     : (first.effect > 0 ? "is higher" : "is lower"),
        first.effect, first.p, domain.level);
    if (domain.moved.size() > 1) {
      text += fmt::format(", and {} more comparisons", domain.moved.size() - 1);
    }
    return text;
  }

  const WatchRequest& request_;
  std::vector<Model> models_;
  int64_t structure_ = 1, sparse_width_ = 0, width_ = 0;
  std::vector<int64_t> columns_;
  std::vector<std::string> names_, prediction_names_;
  std::vector<DriftReference> references_, prediction_references_;
  WatchResult result_;
};

}  // namespace

bool WatchResult::alarm() const {
  return std::any_of(domains.begin(), domains.end(),
                     [](const WatchedDomain& each) { return each.alarm; });
}

WatchResult watch(const WatchRequest& request) {
  return Watch(request)();
}

}  // namespace grm::study
