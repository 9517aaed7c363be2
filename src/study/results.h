#pragma once

#include <string>
#include <vector>

#include "train/trainer.h"

namespace grm::study {

/// One finished run of a study, as the result database returns it.
struct ResultRow {
  std::string study;
  std::string dataset;  // the study's label: "cora", or "cora/1" for another dataset seed
  std::string method;   // "erm", "grm:centred"
  std::string variant;  // name of the option set, "" if the study has none: "kipf", "r=0.3"
  int64_t seed = 0;
  std::string metric;       // "accuracy", "roc_auc", "macro_f1"
  RunRecord record;         // chosen["val"].test are the scores to report
  std::string config;       // RunConfig::to_toml(seed)
  std::string environment;  // env.json of the run: versions, threads, data hashes
  int64_t trial = 0;        // of a search
};

/// A cell that has no result, and why: "data is missing: ...", "failed: ...", "not run".
struct MissingRow {
  std::string dataset, method, variant;
  int64_t seed = 0;
  std::string reason;
};

}  // namespace grm::study
