// Whether the probabilities of the models mean what they say: errors and curves from the records of
// runs.
#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "report/document.h"

namespace grm::report::document {
namespace {

using Runs = std::vector<const Calibration*>;

template <class Value>
Json mean_of(const Runs& runs, Value value) {
  std::vector<double> values;
  for (const Calibration* run : runs) values.push_back(value(*run));
  return number(mean_std(values).mean);
}

// Accuracy over confidence, the items of all runs together.
Json bins_of(const Runs& runs, Reliability BeforeAfter::*side) {
  std::vector<ReliabilityBin> sums(static_cast<size_t>(kReliabilityBins));
  for (const Calibration* run : runs) {
    const std::vector<ReliabilityBin>& bins = (run->test.*side).bins;
    for (size_t k = 0; k < std::min(bins.size(), sums.size()); ++k) {
      const auto count = static_cast<double>(bins[k].count);
      sums[k].count += bins[k].count;
      sums[k].confidence += count * bins[k].confidence;
      sums[k].accuracy += count * bins[k].accuracy;
    }
  }
  Json list = Json::array();
  for (const ReliabilityBin& bin : sums) {
    if (bin.count == 0) continue;
    const auto count = static_cast<double>(bin.count);
    list.push_back({{"count", bin.count},
                    {"confidence", rounded(bin.confidence / count)},
                    {"accuracy", rounded(bin.accuracy / count)}});
  }
  return list;
}

Json domains_of_runs(const Runs& runs) {
  Json list = Json::array();
  const std::vector<Calibration::OfDomain>& domains = runs.front()->domains;
  for (size_t k = 0; k < domains.size(); ++k) {
    const auto at = [&](double Calibration::OfDomain::*side) {
      return mean_of(runs, [&](const Calibration& c) {
        return k < c.domains.size() ? c.domains[k].*side : std::nan("");
      });
    };
    list.push_back({{"domain", domains[k].domain},
                    {"before", at(&Calibration::OfDomain::before)},
                    {"after", at(&Calibration::OfDomain::after)}});
  }
  return list;
}

}  // namespace

Json calibration_json(const std::vector<const study::ResultRow*>& rows) {
  Runs runs;
  for (const study::ResultRow* row : rows) {
    if (row->record.calibration) runs.push_back(&*row->record.calibration);
  }
  if (runs.empty()) return nullptr;
  using C = const Calibration&;
  Json out = {{"runs", runs.size()},
              {"temperature", mean_of(runs, [](C c) { return c.temperature; })},
              {"validation",
               {{"before", mean_of(runs, [](C c) { return c.validation.before.ece; })},
                {"after", mean_of(runs, [](C c) { return c.validation.after.ece; })}}}};
  if (runs.front()->test.after.items > 0) {
    out["test"] = {
        {"before", mean_of(runs, [](C c) { return c.test.before.ece; })},
        {"after", mean_of(runs, [](C c) { return c.test.after.ece; })},
        {"confidence_before", mean_of(runs, [](C c) { return c.test.before.confidence; })},
        {"confidence", mean_of(runs, [](C c) { return c.test.after.confidence; })},
        {"accuracy", mean_of(runs, [](C c) { return c.test.after.accuracy; })},
        {"bins", bins_of(runs, &BeforeAfter::after)},
        {"bins_before", bins_of(runs, &BeforeAfter::before)}};
    out["domains"] = domains_of_runs(runs);
  }
  return out;
}

}  // namespace grm::report::document
