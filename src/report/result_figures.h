#pragma once

#include <vector>

#include "report/figure.h"
#include "study/table.h"

// The figures of the paper from tables of results; their file names begin with `stem`.
namespace grm::report {

/// Blocks "r=0", "r=0.1", ...: one figure for each dataset, a line per method over the bias ratio.
std::vector<Figure> shift_figures(const study::ScoreTable& table, const std::string& stem);
/// The same numbers: rows are methods, columns are bias ratios.
std::vector<Table> shift_layouts(const study::ScoreTable& table,
                                 const std::vector<Figure>& figures);

/// Avg of one method over the datasets of a block.
Series averages(const study::Block& block, size_t method);

/// Grouped bars over the datasets, one for each method of the table (the variants of GRM).
std::vector<Figure> ablation_figures(const study::ScoreTable& table, const std::string& stem);

/// How far the reference method of the table is above others, in paired runs: bars over the
/// datasets for the best rival of each, for the presets of ERM and for the other presets of the
/// reference's own.
std::vector<Figure> rival_figures(const study::ScoreTable& table, const std::string& stem);

}  // namespace grm::report
