#pragma once

#include "grm/data/task.h"
#include "grm/train/explain_item.h"
#include "grm/train/stability.h"
#include "report/html_report.h"

namespace grm::report {

/// The measures and verdicts of 'grm data shift'.
ShiftPart shift_part(const std::string& dataset, const Task& task);

/// Observed and generated graph of one item, with what is to be said about them.
GraphPicture picture_of(const ItemExplanation& explanation, const Stability& stability);

}  // namespace grm::report
