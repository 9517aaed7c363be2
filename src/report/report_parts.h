#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/shift.h"
#include "grm/data/dataset.h"
#include "grm/train/explain_runs.h"
#include "report/reproduce.h"
#include "study/store.h"
#include "study/tune.h"
#include "train/environment.h"

// What a report of runs or of a study is made of, as data. docs/report-document.md describes what
// becomes of it.
namespace grm::report {

/// Folders whose training curves are one line: runs of one row that differ in the seed alone.
struct CurvePart {
  std::string dataset, row;
  std::string config;
  std::vector<std::string> folders;
  int64_t finished = 0;
};

/// The shift between the domains of one dataset.
struct ShiftPart {
  std::string dataset;
  ShiftReport shift;
  std::vector<std::string> labels;
};

/// What one model answers on the test domains.
struct ModelPart {
  std::string dataset, row, folder;
  int64_t seed = 0;
  double temperature = 1.0;
  std::vector<std::string> labels;  // names of the classes
  std::vector<GroupLogits> groups;
};

/// Items of all domains in two dimensions.
struct EmbeddingPart {
  struct Space {
    std::string name, about;
    double explained[2] = {0, 0};  // share of the variance
    torch::Tensor places;          // [k, 2] double
  };
  struct Answers {
    std::string row;
    int64_t seed = 0;
    torch::Tensor classes;  // [k] int64
  };
  std::string dataset;
  std::vector<Space> spaces;
  std::vector<std::string> domains, roles;  // by domain
  std::vector<std::string> labels;
  std::vector<int64_t> domain, label;  // by point
  std::vector<std::string> item;
  std::vector<Answers> answers;
  int64_t of = 0;  // items that there are
};

/// Explanations of some items by the models of one row.
struct ExplanationPart {
  struct Item {
    std::string why;
    ExplainedRuns explained;
  };
  std::string dataset, row, domain;
  std::vector<int64_t> seeds;
  std::vector<std::string> words;
  std::vector<Item> items;
};

/// The cells of a study, done or not, and what its search chose.
struct StudyPart {
  study::StudyRow head;
  std::vector<study::CellRow> cells;
  std::vector<study::Winner> winners;
};

struct LeftOut {
  std::string section;  // "shift of cora"
  std::string reason;
};

/// Everything that a page shows, as data.
struct ReportParts {
  std::string title, about;
  std::string command;              // that makes this page
  std::string spec;                 // of the study, as written; "" for runs
  std::vector<std::string> repeat;  // commands that repeat all of it at once
  std::vector<std::string> notes;   // on the data
  Results results;
  std::vector<CurvePart> curves;
  std::vector<ShiftPart> shift;
  std::vector<ModelPart> models;
  std::vector<EmbeddingPart> embeddings;
  std::vector<ExplanationPart> explanations;
  std::optional<StudyPart> study;
  std::vector<LeftOut> left_out;
};

/// "grm:paper (lr=0.1)": what a row of a table is called.
std::string row_name(const std::string& method, const std::string& variant);

/// From run folders, or folders above them. Runs of one configuration but for the seed are one
/// row; other configurations of a method are its variants. Unfinished runs are listed as missing.
/// Error(config) if the filters of `options` leave nothing.
ReportParts report_of_runs(const std::vector<std::string>& paths,
                           const study::TableOptions& options);

/// From the result database. Folders of runs that are named relative to another place are looked
/// for beside the database too.
ReportParts report_of_study(const study::Store& store, const std::string& database,
                            const std::string& study, const study::TableOptions& options);

/// What needs data and models, of every dataset where they can be loaded: shift measures, answers
/// of one model of each row, an embedding, explanations of `items` test items by one row. What
/// cannot be is left out with the reason.
void add_data_parts(ReportParts& report, const DataContext& context, int64_t items);

/// What a reader must know before trusting scores: runs whose data on disk is another by now, where
/// it is at hand, and runs whose legs differ in their arithmetic. One line for each kind.
std::vector<std::string> run_remarks(const std::vector<study::ResultRow>& rows,
                                     const DataContext& context);

/// All runs that share a configuration, in order of appearance.
struct Setup {
  std::string dataset, method, variant;
  std::string config;  // without its seed
  std::vector<const study::ResultRow*> rows;

  std::string row() const { return row_name(method, variant); }
};
std::vector<Setup> setups_of(const std::vector<study::ResultRow>& rows);

/// The command lines that train a setup again to the same bits: one for each stretch of seeds.
/// Options that have their default are not spelled out. A configuration that this program cannot
/// read any more is to be given as config.toml.
std::vector<std::string> train_commands(const Setup& setup);

/// "ROC-AUC" for "roc_auc"; a word for no metric at all.
std::string metric_name(const std::string& metric);

}  // namespace grm::report
