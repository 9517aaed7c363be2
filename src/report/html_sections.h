#pragma once

#include <string>

#include "report/html_report.h"

// Bodies of sections as HTML; "" where there is nothing to say.
namespace grm::report {

/// What was run, and what came out in words: by the choice that validation makes.
std::string summary_section(const HtmlReport& report, const study::ScoreTable& table);
/// Every test domain with Min, Avg, validation and the constant answers.
std::string results_section(const study::ScoreTable& table);
/// Methods with their option sets in one table; "" for one of them. `blocks` has a block for each
/// option set.
std::string comparison_section(const study::ScoreTable& table, const study::ScoreTable& blocks);
/// Ours beside the published values; "" where nothing is published.
std::string published_section(const study::ScoreTable& table, const Published& published,
                              const std::vector<std::string>& tables);
/// Calibration errors and reliability curves; "" if no run has them.
std::string reliability_section(const HtmlReport& report);
std::string curves_section(const HtmlReport& report);
std::string shift_section(const HtmlReport& report);
std::string gallery_section(const HtmlReport& report);
/// Commands, configurations, versions, hashes of the data.
std::string repeat_section(const HtmlReport& report);

/// "ROC-AUC" for "roc_auc"; a word for no metric at all.
std::string metric_name(const std::string& metric);

}  // namespace grm::report
