#pragma once

#include <string>
#include <vector>

#include "train/trainer.h"

namespace grm {

/// Mean and sample deviation (divisor R - 1; 0 for one run).
struct MeanStd {
  double mean = 0.0;
  double std = 0.0;
};
MeanStd mean_std(const std::vector<double>& values);

/// Several runs of one configuration under one selection rule (protocol section 7).
struct Summary {
  struct Row {
    std::string domain;
    MeanStd score;
  };
  std::vector<Row> test;
  double min = 0.0;     // smallest mean over runs among test domains
  double avg = 0.0;     // mean over test domains of the means over runs
  MeanStd min_per_run;  // over runs, of each run's smallest score
  MeanStd avg_per_run;
  MeanStd validation;
  std::vector<int64_t> epochs;  // chosen, by run
};
Summary summarise(const std::vector<RunRecord>& runs, const std::string& rule);

}  // namespace grm
