#pragma once

#include <string>
#include <utility>
#include <vector>

#include "grm/train/config.h"

// The methods that `grm fit` tries on data that nobody has tuned for.
namespace grm::study {

struct Candidate {
  std::string name;  // "gcn-dropout", unique
  std::string why;   // what it is, in words
  std::string method, preset;
  std::vector<std::pair<std::string, std::string>> settings = {};  // "section.key", value
};

/// In the order in which equal candidates win: simple ones first.
std::vector<Candidate> portfolio(Level level);

/// The run of a candidate on own data, or on a dataset by its name. A search run never scores test.
RunConfig config_of(const Candidate& candidate, const std::string& data, TestScoring test);

/// "--method erm --preset kipf --set method.dropout=0.5": how `grm train` is told the same.
std::string train_flags(const Candidate& candidate);

}  // namespace grm::study
