#pragma once

#include <string>
#include <vector>

#include "report/report_parts.h"

namespace grm::report {

/// What the page shows.
struct ReportDocument {
  std::string text;                   // JSON, see docs/report-document.md
  std::vector<std::string> sections;  // ids of those that have something to show
  std::vector<LeftOut> left_out;      // with the reasons
  std::string plain;                  // HTML of the main tables, for browsers without scripts
};

/// `options` names the reference method. The scores are those of the epoch chosen by validation, or
/// where no run has them by the rule that the runs have.
ReportDocument report_document(const ReportParts& report, study::TableOptions options,
                               const Published& published);

}  // namespace grm::report
