// Whether the probabilities of the models mean what they say: calibration errors and curves.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/lists.h"
#include "report/html_sections.h"

namespace grm::report {
namespace {

constexpr size_t kBothCurves = 3;      // methods up to which the curve before the fit is drawn too
constexpr double kLeastShare = 0.005;  // of all items: a bin with fewer is no point of a curve

// All calibrated runs of one setup.
struct Calibrated {
  const Setup* setup;
  std::vector<const Calibration*> runs;
};

std::vector<Calibrated> calibrated(const std::vector<Setup>& setups) {
  std::vector<Calibrated> list;
  for (const Setup& setup : setups) {
    Calibrated each{&setup, {}};
    for (const study::ResultRow* row : setup.rows) {
      if (row->record.calibration) each.runs.push_back(&*row->record.calibration);
    }
    if (!each.runs.empty()) list.push_back(each);
  }
  return list;
}

std::string name_of(const Setup& setup) {
  return setup.variant.empty() ? setup.method : setup.method + ", " + setup.variant;
}

template <class Value>
std::string mean_text(const Calibrated& of, const char* format, Value value) {
  std::vector<double> values;
  for (const Calibration* run : of.runs) values.push_back(value(*run));
  const double mean = mean_std(values).mean;
  return std::isfinite(mean) ? fmt::format(fmt::runtime(format), mean) : "–";
}

Table errors_layout(const std::vector<Calibrated>& list) {
  Table layout;
  layout.title = "Expected calibration error in percent, mean over the runs";
  layout.label_columns = 2;
  layout.head = {"data",   "method", "temperature",       "before",           "after",
                 "before", "after",  "confidence before", "confidence after", "accuracy"};
  layout.groups = {{"", 1}, {"validation", 2}, {"test", 5}};
  for (const Calibrated& each : list) {
    const auto has_test = each.runs.front()->test.after.items > 0;
    const auto test = [&](const char* format, auto value) {
      return Table::Entry{has_test ? mean_text(each, format, value) : "–"};
    };
    using C = const Calibration&;
    layout.rows.push_back({{each.setup->dataset},
                           {name_of(*each.setup)},
                           {mean_text(each, "{:.2f}", [](C c) { return c.temperature; })},
                           {mean_text(each, "{:.1f}", [](C c) { return c.validation.before.ece; })},
                           {mean_text(each, "{:.1f}", [](C c) { return c.validation.after.ece; })},
                           test("{:.1f}", [](C c) { return c.test.before.ece; }),
                           test("{:.1f}", [](C c) { return c.test.after.ece; }),
                           test("{:.1f}", [](C c) { return c.test.before.confidence; }),
                           test("{:.1f}", [](C c) { return c.test.after.confidence; }),
                           test("{:.1f}", [](C c) { return c.test.after.accuracy; })});
  }
  layout.notes = {
      fmt::format("All items of a role together, in {} bins of equal width. Confidence: mean "
                  "probability of the predicted class.",
                  kReliabilityBins)};
  return layout;
}

// Each test domain by itself.
Table domains_layout(const std::vector<Calibrated>& list) {
  Table layout;
  layout.label_columns = 3;
  layout.head = {"data", "method", "test domain", "before", "after"};
  for (const Calibrated& each : list) {
    const std::vector<Calibration::OfDomain>& domains = each.runs.front()->domains;
    for (size_t k = 0; k < domains.size(); ++k) {
      const auto at = [&](double Calibration::OfDomain::*side) {
        return mean_text(each, "{:.1f}", [&](const Calibration& c) {
          return k < c.domains.size() ? c.domains[k].*side : std::nan("");
        });
      };
      layout.rows.push_back({{each.setup->dataset},
                             {name_of(*each.setup)},
                             {domains[k].domain},
                             {at(&Calibration::OfDomain::before)},
                             {at(&Calibration::OfDomain::after)}});
    }
  }
  return layout;
}

// Accuracy over confidence, the items of all runs together.
Series curve(const Calibrated& of, const std::string& name, Reliability BeforeAfter::*side) {
  std::vector<ReliabilityBin> sums(static_cast<size_t>(kReliabilityBins));
  double items = 0.0;
  for (const Calibration* run : of.runs) {
    const std::vector<ReliabilityBin>& bins = (run->test.*side).bins;
    for (size_t k = 0; k < std::min(bins.size(), sums.size()); ++k) {
      const auto count = static_cast<double>(bins[k].count);
      items += count;
      sums[k].count += bins[k].count;
      sums[k].confidence += count * bins[k].confidence;
      sums[k].accuracy += count * bins[k].accuracy;
    }
  }
  Series series{name, {}};
  for (const ReliabilityBin& bin : sums) {
    const auto count = static_cast<double>(bin.count);
    if (bin.count == 0 || count < kLeastShare * items) continue;
    series.points.push_back({bin.confidence / count, bin.accuracy / count, 0.0, bin.count});
  }
  return series;
}

Figure curves_of(const std::string& dataset, const std::vector<Calibrated>& list) {
  Figure figure;
  figure.name = "reliability";
  figure.title = "Reliability on the test domains of " + dataset;
  figure.x_label = "confidence (percent)";
  figure.y_label = "accuracy (percent)";
  figure.series.push_back({"as it should be", {{0, 0, 0, 0}, {100, 100, 0, 0}}});
  for (const Calibrated& each : list) {
    const std::string name = name_of(*each.setup);
    if (list.size() <= kBothCurves) {
      figure.series.push_back(curve(each, name + ", before", &BeforeAfter::before));
    }
    figure.series.push_back(curve(each, name, &BeforeAfter::after));
  }
  return figure;
}

}  // namespace

std::string reliability_section(const HtmlReport& report) {
  const std::vector<Setup> setups = setups_of(report.results.rows);
  const std::vector<Calibrated> list = calibrated(setups);
  if (list.empty()) return "";
  std::string out = html_paragraph(
      "Whether probabilities mean what they say: of the answers given with 70 percent, 70 percent "
      "should be right. Logits are divided by a temperature that is fitted on validation alone, "
      "after the model was chosen; it changes no class and no score. Under a shift the fit need "
      "not hold: compare validation with test.");
  out += html_table(errors_layout(list));
  const Table domains = domains_layout(list);
  if (!domains.rows.empty()) out += html_details("By test domain", html_table(domains));
  std::vector<std::string> datasets;
  for (const Calibrated& each : list) {
    const std::string& dataset = each.setup->dataset;
    if (each.runs.front()->test.after.items > 0) add_once(datasets, dataset);
  }
  for (const std::string& dataset : datasets) {
    std::vector<Calibrated> some;
    std::copy_if(list.begin(), list.end(), std::back_inserter(some),
                 [&](const Calibrated& each) { return each.setup->dataset == dataset; });
    out += html_chart(curves_of(dataset, some));
  }
  return out;
}

}  // namespace grm::report
