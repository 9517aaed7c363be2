#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/figure.h"
#include "report/published.h"
#include "study/table.h"

namespace grm::report {

/// What a result is made of.
enum class TargetKind { scores, domains, cost, shift, ablation, graph, rivals };

/// A result, of the paper or of our own, that one command reproduces.
struct Target {
  std::string name;   // "table1"
  std::string about;  // one line
  TargetKind kind;
  std::string study, quick_study;   // ready studies by name; quick may be ""
  std::vector<std::string> tables;  // published tables to compare with
};

const std::vector<Target>& targets();
/// Error(config) with the nearest name.
const Target& find_target(const std::string& name);

/// What a study has found so far.
struct Results {
  std::vector<study::ResultRow> rows;
  std::vector<study::MissingRow> missing;
};

/// Which program and which data made the results.
struct Provenance {
  std::map<std::string, std::vector<std::string>> versions;        // key, distinct values
  std::map<std::string, std::map<std::string, std::string>> data;  // dataset, file, SHA-256
  std::map<std::string, std::vector<std::string>> missing_files;   // dataset, left out
};
Provenance provenance_of(const std::vector<study::ResultRow>& rows);

/// A finished report: everything that is printed and written.
struct Report {
  std::string stem;  // of its files: "table1", "table1-quick"
  std::string target, about, command;
  study::ScoreTable table;
  std::vector<Table> layouts;
  std::vector<Figure> figures;
  Table missing;
  Provenance provenance;
  std::vector<std::string> notes;
};

/// `options` selects runs; its published lookup is set from the target. `command` is printed,
/// `stem` names the files.
Report make_report(const Target& target, const Results& results, study::TableOptions options,
                   const Published& published, const std::string& command, const std::string& stem);

std::string render(const Report& report, Format format);
std::string report_json(const Report& report);

/// Writes STEM.md, STEM.tex, STEM.json, STEM.csv (scores of every run), STEM-summary.csv and the
/// figures' files.
struct ReportFiles {
  std::vector<std::string> written;
  std::vector<std::string> messages;  // pictures that could not be drawn
};
ReportFiles write_report(const Report& report, const Results& results,
                         const study::TableOptions& options, const std::string& folder);

}  // namespace grm::report
