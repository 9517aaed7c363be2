#include "data/shift_words.h"

#include <torch/types.h>

#include <algorithm>
#include <map>

namespace grm {
namespace {

std::string listed(const std::vector<ColumnShift>& columns) {
  std::string names;
  for (size_t k = 0; k < std::min<size_t>(3, columns.size()); ++k) {
    names += fmt::format("{}{} {:+.2f}", k > 0 ? ", " : "", columns[k].name, columns[k].difference);
  }
  return names;
}

// What the measure says, with its numbers.
std::string describe_measure(const ShiftReport& report, const DomainShift& shift,
                             const ShiftMeasure& measure) {
  const DomainLaw& law = shift.law;
  if (measure.what == "features") {
    return fmt::format("means of the features (RMS difference {:.2f} deviations; {})",
                       measure.value, listed(shift.columns));
  }
  if (measure.what == "column") {
    return fmt::format("means of a few features ({}, in deviations)", listed(shift.columns));
  }
  if (measure.what == "spread") {
    return fmt::format("spread of a few features ({}, in deviations)", listed(shift.spreads));
  }
  if (measure.what == "degrees") {
    return fmt::format("degrees (mean {:.1f} against {:.1f} in training)", law.mean_degree,
                       report.training.mean_degree);
  }
  if (measure.what == "sizes") {
    return fmt::format("sizes of graphs (mean {:.1f} nodes against {:.1f} in training)",
                       law.mean_nodes, report.training.mean_nodes);
  }
  if (measure.what == "labels") {
    return fmt::format("shares of the labels (total variation {:.2f})", measure.value);
  }
  if (measure.what == "homophily") {
    return fmt::format("homophily (adjusted {:.2f} against {:.2f} in training)",
                       law.homophily->adjusted, report.training.homophily->adjusted);
  }
  return fmt::format(
      "degree and features taken together (a classifier tells its items from training items with "
      "ROC-AUC {:.2f})",
      measure.value);
}

void judge(const ShiftReport& report, DomainShift& shift) {
  const ShiftMeasure* most = nullptr;
  for (const ShiftMeasure& measure : shift.measures) {
    shift.level = std::max(shift.level, measure.level);
    // The classifier, which comes last, sees what the others see: it leads only where it is alone.
    const bool leads = !most || (measure.what != "classifier" &&
                                 relative_strength(measure) > relative_strength(*most));
    if (measure.level != ShiftLevel::none && leads) most = &measure;
  }
  const ShiftMeasure* classifier = shift.find("classifier");
  if (!most) {
    shift.text = "no shift found";
    if (classifier && classifier->raw < 0.5) {
      shift.text += "; the classifier is no better than chance";
    }
    return;
  }
  shift.most = most->what;
  if (most->level < shift.level) {
    // Only the classifier can stand above the leading measure.
    shift.text = fmt::format("{} shift in the {}; of single measures most in the {}",
                             to_string(shift.level), describe_measure(report, shift, *classifier),
                             describe_measure(report, shift, *most));
  } else {
    shift.text = fmt::format("{} shift, most of all in the {}", to_string(shift.level),
                             describe_measure(report, shift, *most));
  }
}

bool shifts(const DomainShift& shift, const std::string& what) {
  const ShiftMeasure* measure = shift.find(what);
  return measure && measure->level != ShiftLevel::none;
}

// Number of domains in which the measure is not "none".
int64_t count_shifts(const ShiftReport& report, const std::string& what) {
  int64_t count = 0;
  for (const DomainShift& shift : report.domains) count += shifts(shift, what);
  return count;
}

void advise_on_features(ShiftReport& report, bool labels) {
  std::string text =
      "Means of features shift: compare with --set dataset.centre=domain, which subtracts each "
      "domain's own mean";
  if (report.training.mean_nodes == 0) text += ", and with the preset grm:centred";
  if (labels) text += "; as label shares shift too, centring may take away what tells the classes";
  report.advice.push_back(text + ".");
}

void advise(ShiftReport& report) {
  const bool labels = count_shifts(report, "labels") > 0;
  if (count_shifts(report, "features") > 0 || count_shifts(report, "column") > 0) {
    advise_on_features(report, labels);
  }
  if (count_shifts(report, "spread") > 0) {
    report.advice.push_back(
        "The spread of features shifts: noise, or another scale or unit; look at these columns "
        "before anything else.");
  }
  if (count_shifts(report, "degrees") > 0 && report.directed) {
    report.advice.push_back(
        "Degrees shift and edges are stored one way: compare with --set dataset.symmetrise=true.");
  } else if (count_shifts(report, "degrees") > 0) {
    report.advice.push_back(
        "Degrees shift: prefer a convolution that averages over neighbours (kipf, sage) to one "
        "that sums.");
  }
  if (count_shifts(report, "sizes") > 0) {
    report.advice.push_back(
        "Sizes of graphs shift: a score over all sizes hides where the model fails; look at large "
        "and small graphs apart.");
  }
  if (labels) {
    report.advice.push_back(
        "Shares of labels shift: accuracy is not comparable between domains; roc_auc or macro_f1 "
        "is.");
  }
  if (count_shifts(report, "homophily") > 0) {
    report.advice.push_back(
        "Homophily shifts: what neighbours say of a label is not the same everywhere; compare with "
        "a backbone that does not look at them (method.backbone=mlp).");
  }
  bool alone = false, validation_quiet = false, test_shifts = false;
  for (const DomainShift& shift : report.domains) {
    alone = alone || shift.most == "classifier";
    if (shift.role == Role::test) {
      test_shifts = test_shifts || shift.level == ShiftLevel::strong;
    } else {
      validation_quiet = validation_quiet || shift.level == ShiftLevel::none;
    }
  }
  if (alone) {
    report.advice.push_back(
        "No single measure stands out where only the classifier does: a combination of columns "
        "moved.");
  }
  if (validation_quiet && test_shifts) {
    report.advice.push_back(
        "A validation domain is like training while a test domain is not: a model chosen on it is "
        "chosen for the wrong data. Move a shifted domain to [validation].");
  }
  if (report.level == ShiftLevel::none) {
    report.advice.push_back(
        "Start with plain ERM. How labels depend on features may still change; that is not "
        "measured here.");
  }
}

}  // namespace

void put_into_words(ShiftReport& report) {
  bool has_test = false;
  for (const DomainShift& shift : report.domains) has_test = has_test || shift.role == Role::test;
  std::map<std::string, int64_t> most;
  int64_t judged = 0, shifted = 0;
  for (DomainShift& shift : report.domains) {
    judge(report, shift);
    if (has_test && shift.role != Role::test) continue;
    ++judged;
    report.level = std::max(report.level, shift.level);
    if (shift.level == ShiftLevel::none) continue;
    ++shifted;
    ++most[shift.most == "column" ? "features" : shift.most];
  }
  const char* kind = has_test ? "test" : "validation";
  if (shifted == 0) {
    report.text = fmt::format("no shift between training and the {} {} domain{}", judged, kind,
                              judged == 1 ? "" : "s");
  } else {
    const auto leads = std::max_element(
        most.begin(), most.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::string what =
        leads->first == "classifier" ? "a combination of columns" : leads->first;
    report.text =
        judged == 1
            ? fmt::format("{} shift between training and the {} domain, most in {}",
                          to_string(report.level), kind, what)
            : fmt::format(
                  "{} shift: {} of {} {} domains differ from training, {} of them most in {}",
                  to_string(report.level), shifted, judged, kind, leads->second, what);
  }
  advise(report);
}

}  // namespace grm
