#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "data/shift.h"

namespace grm {

/// Count, mean and sum of squared deviations of every feature column, in double.
struct ColumnMoments {
  double rows = 0;
  std::vector<double> mean;
  std::vector<double> squares;
  std::vector<bool> two_valued;  // in every part that add() was given

  /// Adds the rows of X; sparse columns are never filled in.
  void add(const Features& x);
  /// Adds the rows of |X - 1 centre^T|.
  void add_deviations(const Features& x, const std::vector<double>& centre);

 private:
  void merge(double added, const std::vector<double>& new_mean,
             const std::vector<double>& new_squares);
};

/// (mean of b - mean of a) / sqrt((variance of a + variance of b) / 2) of every column, within
/// +-kMostDifference: a column that is constant on both sides may have no deviation at all.
constexpr double kMostDifference = 10.0;
std::vector<double> standardised_differences(const ColumnMoments& a, const ColumnMoments& b);

/// Counts of a whole number by the bins of count_histogram.
struct BinCounts {
  std::map<int64_t, int64_t> count;  // by the lowest number of the bin
  int64_t total = 0;
  double sum = 0;

  void add(const torch::Tensor& numbers);
  double mean() const { return total > 0 ? sum / static_cast<double>(total) : 0.0; }
};

/// Edges by the labels of their ends.
struct EndCounts {
  double edges = 0;          // stored pairs of two labelled nodes
  double equal = 0;          // of those: the same label
  std::vector<double> ends;  // by class

  void add(const Domain& domain, int64_t classes);
  /// Chance that two independent ends have the same label.
  double expected() const;
  std::optional<Homophily> homophily() const;
};

/// Half of the summed differences of shares, keys matched.
double total_variation(const std::map<int64_t, int64_t>& a, const std::map<int64_t, int64_t>& b);
/// What it may be, twice its mean, for samples of n and m independent items of one law.
double total_variation_chance(const std::map<int64_t, int64_t>& a,
                              const std::map<int64_t, int64_t>& b, double n, double m);

/// One domain, or several together, counted once and compared often.
struct DomainCounts {
  ColumnMoments columns;
  ColumnMoments deviations;  // of the columns from their means here
  BinCounts degrees;
  BinCounts sizes;                    // nodes of a graph; empty at node level
  std::map<int64_t, int64_t> labels;  // of the items that the metric sees
  EndCounts ends;
  int64_t items = 0;

  void add(const Domain& domain, int64_t classes);  // all but `deviations`, which need the means
};
DomainCounts count_domains(const std::vector<const Domain*>& domains, int64_t classes);

/// Standardised differences of the distances of a column from its mean. The spread of a column of
/// two values follows from its mean, and that of `counts` grows with it, so they have none.
std::vector<double> spread_differences(const DomainCounts& a, const DomainCounts& b,
                                       const std::vector<bool>& counts);

}  // namespace grm
