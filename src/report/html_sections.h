#pragma once

#include <string>

#include "grm/report/html_report.h"

// Bodies of sections as HTML; "" where there is nothing to say.
namespace grm::report {

/// What was run, and what came out in words.
std::string summary_section(const HtmlReport& report, const study::ScoreTable& table,
                            const std::string& rule);
/// Every test domain with Min, Avg and the constant answer.
std::string results_section(const study::ScoreTable& table, const std::string& rule);
/// Methods side by side; "" for one method.
std::string comparison_section(const study::ScoreTable& table, const std::string& rule);
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
/// "81.2 ± 0.5", without the deviation for one run.
std::string score_text(const MeanStd& score, int64_t runs);
/// "the epoch chosen by validation".
std::string rule_text(const std::string& rule);

}  // namespace grm::report
