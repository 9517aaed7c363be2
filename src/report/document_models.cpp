// What a model answers on test: confusion, ROC and PR curves, reliability, by class and domain.
#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "report/document.h"
#include "train/metrics.h"

namespace grm::report::document {
namespace {

constexpr int64_t kMostClasses = 10;  // with curves
constexpr int64_t kMostCurves = 48;   // by domain; beyond that, of all domains together alone
constexpr size_t kCurvePoints = 40;

// One group on the host: probabilities by row, classes, answers.
struct Answers {
  std::string name;
  int64_t items = 0, classes = 0;
  std::vector<double> p;
  std::vector<int64_t> y, predicted;

  double at(int64_t item, int64_t c) const { return p[static_cast<size_t>(item * classes + c)]; }
};

Answers answers_of(const std::string& name, const torch::Tensor& logits, const torch::Tensor& y,
                   double temperature) {
  Answers out;
  out.name = name;
  out.items = logits.size(0);
  out.classes = logits.size(1);
  const torch::Tensor p =
      tempered_probabilities(logits, temperature).to(torch::kCPU, torch::kDouble).contiguous();
  const torch::Tensor c = predicted_class(logits).to(torch::kCPU, torch::kLong).contiguous();
  const torch::Tensor t = y.to(torch::kCPU, torch::kLong).contiguous();
  out.p.assign(p.data_ptr<double>(), p.data_ptr<double>() + p.numel());
  out.y.assign(t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel());
  out.predicted.assign(c.data_ptr<int64_t>(), c.data_ptr<int64_t>() + c.numel());
  return out;
}

Json confusion_json(const Answers& a) {
  std::vector<std::vector<int64_t>> counts(static_cast<size_t>(a.classes),
                                           std::vector<int64_t>(static_cast<size_t>(a.classes)));
  for (size_t k = 0; k < a.y.size(); ++k) {
    if (a.y[k] >= 0) {
      ++counts[static_cast<size_t>(a.y[k])][static_cast<size_t>(a.predicted[k])];
    }
  }
  return counts;
}

// Of the items that are answered by class c, or (-1) of all.
Json reliability_of(const Answers& a, int64_t c) {
  std::vector<ReliabilityBin> bins(static_cast<size_t>(kReliabilityBins));
  int64_t items = 0;
  for (int64_t k = 0; k < a.items; ++k) {
    const int64_t answer = a.predicted[static_cast<size_t>(k)];
    if (a.y[static_cast<size_t>(k)] < 0 || (c >= 0 && answer != c)) continue;
    const double p = a.at(k, answer);
    const auto bin = std::clamp<int64_t>(
        static_cast<int64_t>(std::ceil(p * static_cast<double>(kReliabilityBins))) - 1, 0,
        kReliabilityBins - 1);
    ReliabilityBin& b = bins[static_cast<size_t>(bin)];
    ++b.count;
    ++items;
    b.confidence += p;
    b.accuracy += a.y[static_cast<size_t>(k)] == answer ? 1.0 : 0.0;
  }
  double ece = 0.0;
  Json list = Json::array();
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    const auto count = static_cast<double>(bin.count);
    ece += std::abs(bin.confidence - bin.accuracy);
    list.push_back({{"count", bin.count},
                    {"confidence", rounded(100 * bin.confidence / count)},
                    {"accuracy", rounded(100 * bin.accuracy / count)}});
  }
  return {{"class", c < 0 ? Json(nullptr) : Json(c)},
          {"items", items},
          {"ece", items > 0 ? rounded(100 * ece / static_cast<double>(items)) : Json(nullptr)},
          {"bins", list}};
}

using Points = std::vector<std::pair<double, double>>;

// Those that a line of few points needs most: the ends and, evenly along the line, some between.
Json thinned_points(const Points& points) {
  Json list = Json::array();
  const size_t count = std::min(points.size(), kCurvePoints);
  for (size_t k = 0; k < count; ++k) {
    const size_t at = count < 2 ? 0 : k * (points.size() - 1) / (count - 1);
    list.push_back({rounded(points[at].first, 3), rounded(points[at].second, 3)});
  }
  return list;
}

// Class c against the others: every distinct score is a threshold. The area under ROC counts ties
// one half; average precision is the sum of precision times the step in recall.
Json curve_json(const Answers& a, int64_t c) {
  std::vector<std::pair<double, bool>> scores;
  double positives = 0, negatives = 0, hits = 0, alarms = 0;
  for (int64_t k = 0; k < a.items; ++k) {
    const int64_t y = a.y[static_cast<size_t>(k)];
    if (y < 0) continue;
    const bool is = y == c, says = a.predicted[static_cast<size_t>(k)] == c;
    scores.emplace_back(a.at(k, c), is);
    (is ? positives : negatives) += 1;
    if (says) (is ? hits : alarms) += 1;
  }
  if (positives == 0 || negatives == 0) return nullptr;
  std::sort(scores.begin(), scores.end(),
            [](const auto& x, const auto& y) { return x.first > y.first; });
  Points roc = {{0, 0}}, pr;
  double tp = 0, fp = 0, auc = 0, ap = 0;
  for (size_t begin = 0, end; begin < scores.size(); begin = end) {
    double up = 0, across = 0;
    for (end = begin; end < scores.size() && scores[end].first == scores[begin].first; ++end) {
      (scores[end].second ? up : across) += 1;
    }
    auc += across / negatives * (tp + up / 2) / positives;
    tp += up;
    fp += across;
    ap += up / positives * tp / (tp + fp);
    roc.emplace_back(fp / negatives, tp / positives);
    pr.emplace_back(tp / positives, tp / (tp + fp));
  }
  return {{"class", c},
          {"positives", positives},
          {"auc", rounded(100 * auc, 6)},
          {"ap", rounded(100 * ap, 6)},
          {"roc", thinned_points(roc)},
          {"pr", thinned_points(pr)},
          {"at",
           {{"fpr", rounded(alarms / negatives)},
            {"tpr", rounded(hits / positives)},
            {"precision", hits + alarms > 0 ? rounded(hits / (hits + alarms)) : Json(nullptr)}}}};
}

Json domain_json(const Answers& a, bool by_class) {
  Json reliability = Json::array(), curves = Json::array();
  reliability.push_back(reliability_of(a, -1));
  if (by_class) {
    for (int64_t c = 0; c < a.classes; ++c) reliability.push_back(reliability_of(a, c));
    // Of two classes the second is the one that is looked for.
    for (int64_t c = a.classes == 2 ? 1 : 0; c < a.classes; ++c) {
      Json curve = curve_json(a, c);
      if (!curve.is_null()) curves.push_back(std::move(curve));
    }
  }
  return {{"name", a.name},
          {"items", a.items},
          {"confusion", confusion_json(a)},
          {"reliability", reliability},
          {"curves", curves}};
}

Json model_json(const ModelPart& part) {
  std::vector<torch::Tensor> logits, labels;
  for (const GroupLogits& group : part.groups) {
    logits.push_back(group.logits);
    labels.push_back(group.y);
  }
  const Answers all = answers_of("all", torch::cat(logits), torch::cat(labels), part.temperature);
  const bool few = all.classes <= kMostClasses;
  Json domains = Json::array({domain_json(all, few)});
  if (part.groups.size() > 1) {
    const auto curves = all.classes * static_cast<int64_t>(part.groups.size());
    for (const GroupLogits& group : part.groups) {
      domains.push_back(domain_json(answers_of(group.name, group.logits, group.y, part.temperature),
                                    few && (curves <= kMostCurves || all.classes == 2)));
    }
  }
  std::vector<std::string> names = part.labels;
  for (auto c = static_cast<int64_t>(names.size()); c < all.classes; ++c) {
    names.push_back(std::to_string(c));
  }
  return {{"row", part.row},       {"seed", part.seed},
          {"folder", part.folder}, {"temperature", rounded(part.temperature)},
          {"labels", names},       {"domains", domains}};
}

}  // namespace

Json models_json(const ReportParts& report, const std::string& dataset) {
  Json list = Json::array();
  for (const ModelPart& part : report.models) {
    if (part.dataset == dataset && !part.groups.empty()) list.push_back(model_json(part));
  }
  return list.empty() ? Json(nullptr) : list;
}

}  // namespace grm::report::document
