#include "train/calibration_json.h"

#include <cmath>
#include <limits>

#include "core/json_number.h"
#include "grm/core/error.h"

namespace grm {
namespace {

using nlohmann::ordered_json;

double number(const ordered_json& value) {  // JSON has no NaN
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

ordered_json to_json(const Reliability& r) {
  ordered_json bins = ordered_json::array();
  for (const ReliabilityBin& bin : r.bins) {
    bins.push_back({bin.count, bin.confidence, bin.accuracy});
  }
  return {{"ece", r.ece}, {"confidence", r.confidence}, {"nll", r.nll}, {"bins", bins}};
}

ordered_json to_json(const BeforeAfter& both) {
  return {{"items", both.after.items},
          {"accuracy", both.after.accuracy},
          {"before", to_json(both.before)},
          {"after", to_json(both.after)}};
}

Reliability reliability_from(const ordered_json& both, const char* which,
                             const std::string& origin) {
  const ordered_json& j = both.at(which);
  Reliability r;
  r.items = whole_number(both, "items", origin);
  r.accuracy = number(both.at("accuracy"));
  r.ece = number(j.at("ece"));
  r.confidence = number(j.at("confidence"));
  r.nll = number(j.at("nll"));
  for (const ordered_json& bin : j.at("bins")) {
    if (!bin.is_array() || bin.size() != 3 || !bin[0].is_number_unsigned()) {
      fail(ErrorKind::data, "{}: damaged: a bin is not a count and two numbers", origin);
    }
    r.bins.push_back({bin[0].get<int64_t>(), number(bin[1]), number(bin[2])});
  }
  return r;
}

BeforeAfter both_from(const ordered_json& j, const std::string& origin) {
  return {reliability_from(j, "before", origin), reliability_from(j, "after", origin)};
}

}  // namespace

ordered_json to_json(const Calibration& calibration) {
  ordered_json domains = ordered_json::array();
  for (const Calibration::OfDomain& d : calibration.domains) {
    domains.push_back({{"domain", d.domain}, {"before", d.before}, {"after", d.after}});
  }
  return {{"temperature", calibration.temperature},
          {"validation", to_json(calibration.validation)},
          {"test", to_json(calibration.test)},
          {"test_domains_ece", domains}};
}

Calibration calibration_from(const ordered_json& j, const std::string& origin) {
  Calibration result;
  result.temperature = number(j.at("temperature"));
  result.validation = both_from(j.at("validation"), origin);
  result.test = both_from(j.at("test"), origin);
  for (const ordered_json& d : j.at("test_domains_ece")) {
    result.domains.push_back({d.at("domain"), number(d.at("before")), number(d.at("after"))});
  }
  return result;
}

}  // namespace grm
