// What came out, in words: the answer that validation gives, and what speaks against it.
#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "report/document.h"

namespace grm::report::document {
namespace {

using study::Block;
using study::Cell;
using study::DatasetColumn;

constexpr size_t kToldTests = 3;  // comparisons in words; the table has all of them

// The row that has the best Avg on test: what nobody may choose by.
size_t best_on_test(const DatasetColumn& column) {
  size_t best = column.cells.size();
  for (size_t m = 0; m < column.cells.size(); ++m) {
    if (column.cells[m].domains.empty()) continue;
    if (best == column.cells.size() ||
        column.gain(column.cells[m].avg.ours.mean, column.cells[best].avg.ours.mean) > 0) {
      best = m;
    }
  }
  return best;
}

std::string test_text(const DatasetColumn& column, const Cell& cell) {
  std::string text = fmt::format("{} {} on average over {} test domain{}",
                                 metric_name(column.metric), column.text(cell.avg.ours, cell.runs),
                                 cell.domains.size(), cell.domains.size() == 1 ? "" : "s");
  if (cell.domains.size() > 1) {
    text += fmt::format(" and {} on the worst, {}", column.text(cell.min.ours, cell.runs),
                        cell.min_domain);
  }
  for (size_t k = 0; k < column.constants.size(); ++k) {
    text += fmt::format("{} {} has {}", k == 0 ? ";" : ",", column.constants[k].about,
                        column.text(mean_score(column.constants[k].scores)));
  }
  return text + ".";
}

// Whether the candidates that come first and second on validation are told apart by their runs.
std::string level_doubt(const Block& block, const DatasetColumn& column, size_t chosen) {
  size_t second = column.cells.size();
  for (size_t m = 0; m < column.cells.size(); ++m) {
    if (m == chosen || column.cells[m].runs == 0) continue;
    if (second == column.cells.size() ||
        column.gain(column.cells[m].validation.mean, column.cells[second].validation.mean) > 0) {
      second = m;
    }
  }
  if (second == column.cells.size()) return "";
  const Cell &first = column.cells[chosen], &other = column.cells[second];
  const double ahead = column.gain(first.validation.mean, other.validation.mean);
  const double spread = std::max(first.validation.std, other.validation.std);
  if (ahead > 2 * spread / std::sqrt(static_cast<double>(std::max<int64_t>(1, other.runs)))) {
    return "";
  }
  return fmt::format("On validation {} is level with {}: {} against {}.", block.methods[chosen],
                     block.methods[second], column.text(first.validation.mean),
                     column.text(other.validation.mean));
}

// Shift that test domains have and validation domains have not.
std::string unseen_shift(const ReportParts& report, const std::string& dataset) {
  for (const ShiftPart& part : report.shift) {
    if (part.dataset != dataset) continue;
    for (const DomainShift& domain : part.shift.domains) {
      if (domain.role != Role::test) continue;
      for (const ShiftMeasure& measure : domain.measures) {
        if (measure.level != ShiftLevel::strong) continue;
        const bool seen = std::any_of(
            part.shift.domains.begin(), part.shift.domains.end(), [&](const DomainShift& other) {
              const ShiftMeasure* m = other.find(measure.what);
              return other.role == Role::validation && m && m->level != ShiftLevel::none;
            });
        if (!seen) {
          return fmt::format(
              "Validation cannot see the shift in {}: {} has it, no validation "
              "domain does.",
              measure.what, domain.law.name);
        }
      }
    }
  }
  return "";
}

// Test domains on which the choice is no better than an answer that never looks.
std::string constant_doubt(const DatasetColumn& column, const Cell& cell) {
  size_t lost = 0;
  std::string first;
  for (const Cell::DomainRow& row : cell.domains) {
    const auto better = [&](const DomainScore& s) {
      return s.domain == row.domain && column.gain(row.score.ours.mean, s.value) <= 0;
    };
    const bool beaten = std::any_of(
        column.constants.begin(), column.constants.end(), [&](const ConstantAnswer& answer) {
          return std::any_of(answer.scores.begin(), answer.scores.end(), better);
        });
    if (!beaten) continue;
    if (++lost == 1) first = row.domain;
  }
  if (lost == 0) return "";
  return lost == 1 ? fmt::format("On {} it is no better than a constant answer.", first)
                   : fmt::format("On {} of {} test domains it is no better than a constant answer.",
                                 lost, cell.domains.size());
}

}  // namespace

// "validation chooses grm of 3 methods (81.2 ± 0.5). On test it has ...".
std::string verdict(const Block& block, const DatasetColumn& column) {
  const size_t chosen = study::chosen_by_validation(column);
  const size_t best = best_on_test(column);
  if (best == block.methods.size() || column.cells[chosen].domains.empty()) return "";
  const Cell& cell = column.cells[chosen];
  const auto candidates = std::count_if(column.cells.begin(), column.cells.end(),
                                        [](const Cell& each) { return each.runs > 0; });
  std::string text = column.dataset + ": ";
  if (candidates > 1) {
    text += fmt::format("of {} candidates, validation chooses {} ({} there). On test it has ",
                        candidates, block.methods[chosen], column.text(cell.validation, cell.runs));
  } else {
    text += block.methods[chosen] + " has ";
  }
  text += test_text(column, cell);
  if (cell.runs == 1) {
    text += " One run says nothing about the deviation over seeds; --seeds 3 and more do.";
  }
  if (best != chosen) {
    const Cell& other = column.cells[best];
    text += fmt::format(
        " {} has {} on test, but {} on validation: a choice by test scores would be none.",
        block.methods[best], column.text(other.avg.ours, other.runs),
        column.text(other.validation, other.runs));
  }
  // The choice first, then the others in the order of the table.
  std::vector<size_t> order = {chosen};
  for (size_t m = 0; m < block.methods.size(); ++m) {
    if (m != chosen) order.push_back(m);
  }
  size_t told = 0;
  for (const size_t m : order) {
    const auto& test = column.cells[m].test;
    if (!test || !test->p || told == kToldTests) continue;
    text += fmt::format(" {} against {}: {}, p = {:.3f} (paired t-test over {} runs).",
                        block.methods[m], column.cells[m].against,
                        column.difference_text(test->difference), *test->p, test->pairs);
    ++told;
  }
  return text;
}

std::vector<std::string> doubts(const Block& block, const DatasetColumn& column,
                                const ReportParts& report) {
  const size_t chosen = study::chosen_by_validation(column);
  if (chosen == block.methods.size()) return {};
  const Cell& cell = column.cells[chosen];
  std::vector<std::string> list;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) list.push_back(text);
  };
  if (cell.domains.empty()) {
    return {"No test domain is scored yet: nothing is known of unseen domains."};
  }
  add(constant_doubt(column, cell));
  add(level_doubt(block, column, chosen));
  const size_t best = best_on_test(column);
  if (best != chosen && best != block.methods.size()) {
    const double gain = column.gain(column.cells[best].avg.ours.mean, cell.avg.ours.mean);
    add(fmt::format("{} is {} {} on test, which validation did not see.", block.methods[best],
                    column.text(gain), column.errors ? "lower" : "points higher"));
  }
  add(unseen_shift(report, column.dataset));
  if (cell.runs == 1) add("One run says nothing about the deviation over seeds.");
  if (cell.runs < cell.expected) {
    add(fmt::format("{} of {} runs have no result yet.", cell.expected - cell.runs, cell.expected));
  }
  if (list.empty()) add("Nothing here speaks against it; the next domain may differ from these.");
  return list;
}

}  // namespace grm::report::document
