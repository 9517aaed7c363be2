#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/report_parts.h"

// The parts of a report's document. Each function writes one member; null where there is nothing.
namespace grm::report::document {

using Json = nlohmann::ordered_json;

/// null for what is no number.
Json number(double value);
/// The same with so many digits.
Json rounded(double value, int digits = 4);
Json mean_std_json(const MeanStd& value);

/// The answer in words: "cora: of 4 candidates, validation chooses ...", "" without test scores.
std::string verdict(const study::Block& block, const study::DatasetColumn& column);
/// What speaks against it, the weightiest first; one sentence each.
std::vector<std::string> doubts(const study::Block& block, const study::DatasetColumn& column,
                                const ReportParts& report);

Json datasets_json(const ReportParts& report, const study::ScoreTable& table);
Json calibration_json(const std::vector<const study::ResultRow*>& runs);
Json curves_json(const ReportParts& report);
Json shift_json(const ReportParts& report, const std::string& dataset);
Json models_json(const ReportParts& report, const std::string& dataset);
Json embedding_json(const ReportParts& report, const std::string& dataset);
Json explanations_json(const ReportParts& report, const std::string& dataset);
Json study_json(const ReportParts& report);
Json repeat_json(const ReportParts& report);

/// What is published beside ours, of one dataset or ("") of all: {row, block, score, ...}.
Json published_json(const study::ScoreTable& blocks, const Published& published,
                    const std::vector<std::string>& tables, const std::string& dataset);

/// The main tables as HTML that needs no script.
std::string plain_page(const ReportParts& report, const study::ScoreTable& table,
                       const study::ScoreTable& blocks, const Published& published,
                       const std::vector<std::string>& tables,
                       const std::vector<LeftOut>& left_out);

}  // namespace grm::report::document
