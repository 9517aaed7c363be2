#pragma once

#include <string>
#include <vector>

#include "grm/data/dataset.h"
#include "study/drift.h"

// New domains without labels, watched by a trained model.
namespace grm::study {

struct WatchRequest {
  std::vector<std::string> runs;  // the model, and others of the same data with other seeds
  std::string data;
  double alpha = 0.05;  // chance of a false alarm over all domains there will ever be
  DataContext context;
};

/// One quantity that was compared: "confidence", "p_fraud", "predicted amount", "degree", "size" or a
/// column.
struct WatchedQuantity {
  std::string name;
  bool spread = false;  // of its spread, not of its level
  double effect = 0.0;
  double p = 1.0;  // times the number of comparisons of the domain
};

struct WatchedDomain {
  std::string name;
  int64_t items = 0;
  double level = 0.0;  // the p below which it alarms
  double p = 1.0;      // of the quantity that stands out most, corrected
  bool alarm = false;
  std::string reason;
  std::vector<WatchedQuantity> moved;  // all that alarm, levels first, then the strongest
  double expected_accuracy = 0.0;      // mean confidence, percent; of no meaning for numbers
  double agreement = 0.0;              // of the runs' answers, see watch_answers.h
};

struct WatchResult {
  std::string dataset, metric;
  Target target = Target::classes;
  int64_t reference_domains = 0, reference_items = 0, comparisons = 0;
  bool variation_known = true;  // false: too few reference domains to tell how much months differ
  double reference_confidence = 0.0;  // mean calibrated confidence on validation, percent
  std::vector<WatchedDomain> domains;
  bool alarm() const;
};

WatchResult watch(const WatchRequest& request);

}  // namespace grm::study
