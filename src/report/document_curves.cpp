// Training curves of a document: validation, and the terms of the loss with their weights in it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/json.h"
#include "report/curves.h"
#include "report/document.h"
#include "train/recorded_config.h"

namespace grm::report::document {
namespace {

constexpr size_t kMostPoints = 200;  // of a line; more cannot be told apart

// What multiplies a term of a method's loss in the total: an option, or 1. Terms that are not here
// are not part of a plain sum, or their weight changes while the run goes on.
struct Weighted {
  const char *method, *term, *option;
  double sign;
};
constexpr Weighted kWeights[] = {{"grm", "supervision", "", 1},
                                 {"grm", "latent_kl", "method.alpha", 1},
                                 {"grm", "edge_kl", "method.alpha", 1},
                                 {"grm", "invariance", "method.beta", 1},
                                 {"mmd", "erm", "", 1},
                                 {"mmd", "mmd", "method.gamma", 1},
                                 {"irm", "risk", "", 1},
                                 {"irm", "penalty", "method.lambda", 1},
                                 {"vrex", "risk", "", 1},
                                 {"vrex", "variance", "method.lambda", 1},
                                 {"coral", "risk", "", 1},
                                 {"coral", "coral", "method.lambda", 1},
                                 {"dann", "risk", "", 1},
                                 {"dann", "adversary", "method.lambda", 1},
                                 {"gsat", "risk", "", 1},
                                 {"gsat", "information", "method.lambda", 1},
                                 {"eerm", "variance", "", 1},
                                 {"isgib", "erm", "", 1},
                                 {"isgib", "same", "method.w_same", 1},
                                 {"isgib", "diff", "method.w_diff", 1},
                                 {"isgib", "individual", "method.w_individual", 1},
                                 {"isgib", "second", "method.w_second", 1},
                                 {"mario", "contrast", "", 1},
                                 {"mario", "conditional", "method.gamma", -1}};

struct Weight {
  std::optional<double> value;
  std::string option;
};

Weight weight_of(const CurvePart& part, const std::string& term) {
  if (term == "total") return {1.0, ""};
  const std::string method = study::without_preset(part.row);
  for (const Weighted& known : kWeights) {
    if (method.substr(0, method.find(' ')) != known.method || term != known.term) continue;
    if (*known.option == '\0') return {known.sign, ""};
    const auto values = config_values(part.config);
    const auto at = values.find(known.option);
    if (at == values.end()) break;
    try {
      return {known.sign * std::stod(at->second), known.option};
    } catch (const std::exception&) {
      break;  // a recorded value that is no number
    }
  }
  return {};
}

// Places of the points that stay: in every stretch the lowest and the highest one.
std::vector<size_t> thinned(const std::vector<double>& values) {
  std::vector<size_t> kept;
  if (values.size() <= kMostPoints) {
    for (size_t k = 0; k < values.size(); ++k) kept.push_back(k);
    return kept;
  }
  kept.push_back(0);
  const size_t stretches = kMostPoints / 2 - 1, inner = values.size() - 2;
  for (size_t s = 0; s < stretches; ++s) {
    const auto begin = values.begin() + 1 + static_cast<int64_t>(s * inner / stretches);
    const auto end = values.begin() + 1 + static_cast<int64_t>((s + 1) * inner / stretches);
    if (begin == end) continue;
    auto [low, high] = std::minmax_element(begin, end);
    if (high < low) std::swap(low, high);
    kept.push_back(static_cast<size_t>(low - values.begin()));
    if (high != low) kept.push_back(static_cast<size_t>(high - values.begin()));
  }
  kept.push_back(values.size() - 1);
  return kept;
}

Json series_json(const ValuesByEpoch& values) {
  std::vector<int64_t> epochs;
  std::vector<double> means, deviations;
  for (const auto& [epoch, at] : values) {
    const MeanStd m = mean_std(at);
    if (!std::isfinite(m.mean)) continue;
    epochs.push_back(epoch);
    means.push_back(m.mean);
    deviations.push_back(m.std);
  }
  Json out = {{"epoch", Json::array()}, {"mean", Json::array()}, {"std", Json::array()}};
  for (const size_t k : thinned(means)) {
    out["epoch"].push_back(epochs[k]);
    out["mean"].push_back(rounded(means[k], 5));
    out["std"].push_back(rounded(deviations[k], 3));
  }
  return out;
}

}  // namespace

Json curves_json(const ReportParts& report) {
  Json list = Json::array();
  for (const CurvePart& part : report.curves) {
    const RunCurves curves = read_curves(part.folders);
    Json out = {{"dataset", part.dataset},
                {"row", part.row},
                {"runs", curves.runs},
                {"finished", part.finished}};
    bool line = curves.validation.size() > 1;
    if (!curves.validation.empty()) out["validation"] = series_json(curves.validation);
    Json terms = Json::array();
    for (const std::string& term : curves.terms) {
      const Weight weight = weight_of(part, term);
      const ValuesByEpoch& values = curves.loss.at(term);
      line = line || values.size() > 1;
      terms.push_back({{"name", term},
                       {"weight", weight.value ? number(*weight.value) : Json(nullptr)},
                       {"option", weight.option},
                       {"series", series_json(values)}});
    }
    out["terms"] = std::move(terms);
    if (line) list.push_back(std::move(out));  // a single evaluation is a number, not a curve
  }
  return list;
}

}  // namespace grm::report::document
