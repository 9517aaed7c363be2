#pragma once

#include <string>
#include <vector>

#include "study/table.h"

namespace grm::study {

/// One run that counts in a cell. Runs of two methods are paired by dataset label and seed.
struct Run {
  std::string dataset;
  int64_t seed;
  const ResultRow* row;
  const std::vector<DomainScore>* test;
  std::vector<double> scores;  // of the cell's common domains
};

struct Runs {
  std::vector<Run> runs;
  int64_t expected = 0;
};

/// Scores, costs and validation of the runs, which are sorted.
void fill_cell(Cell& cell, Runs& source, const std::string& rule);
void fill_published(Cell& cell, const std::string& dataset, const std::string& method,
                    const PublishedLookup& published);

/// A constant answer on the domains of a cell: the mean over its runs, whose data may differ by its
/// seed. Nothing if a run did not record it.
std::vector<DomainScore> mean_constant(const std::vector<Run>& runs, const Cell& cell,
                                       std::vector<DomainScore> RunRecord::*scores);

/// Whether a run scored domains that others of its cell did not.
bool different_domains(const std::vector<Run>& runs, const Cell& cell);
bool same_domains(const Cell& a, const Cell& b);
/// Averages of the runs of two cells with the same domains, paired by dataset and seed.
PairedTest compare(const std::vector<Run>& ours, const std::vector<Run>& reference);

}  // namespace grm::study
