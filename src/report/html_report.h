#pragma once

#include <string>
#include <vector>

#include "grm/data/dataset.h"
#include "report/html.h"
#include "report/reproduce.h"
#include "study/store.h"
#include "train/environment.h"

// A report of runs or of a study as one HTML file that opens without a network.
namespace grm::report {

/// Training curves of one dataset and option set.
struct CurvePart {
  std::string title;
  std::vector<Figure> figures;
};

/// The shift between the domains of one dataset.
struct ShiftPart {
  std::string title;
  std::vector<std::string> words;  // verdict and advice
  std::vector<Table> tables;
  std::vector<std::string> domains;  // a verdict for each
};

/// Explanations of some items by one model.
struct GalleryPart {
  std::string title;
  std::vector<std::string> words;
  std::vector<GraphPicture> pictures;
};

struct LeftOut {
  std::string section;  // "shift of cora"
  std::string reason;
};

/// Everything that a page shows, as data.
struct HtmlReport {
  std::string title, about;
  std::string command;              // that makes this page
  std::string spec;                 // of the study, as written; "" for runs
  std::vector<std::string> repeat;  // commands that repeat all of it at once
  std::vector<std::string> notes;   // on the data
  Results results;
  std::vector<CurvePart> curves;
  std::vector<ShiftPart> shift;
  std::vector<GalleryPart> gallery;
  std::vector<LeftOut> left_out;
};

/// From run folders, or folders above them. Runs of one configuration but for the seed are one
/// row; other configurations of a method are its variants. Unfinished runs are listed as missing.
/// Error(config) if the filters of `options` leave nothing.
HtmlReport report_of_runs(const std::vector<std::string>& paths,
                          const study::TableOptions& options);

/// From the result database. Folders of runs that are named relative to another place are looked
/// for beside the database too.
HtmlReport report_of_study(const study::Store& store, const std::string& database,
                           const std::string& study, const study::TableOptions& options);

/// Shift measures of every dataset and explanations of `items` test items of one model for each,
/// where data and models can be loaded; what cannot be is left out with the reason.
void add_data_parts(HtmlReport& report, const DataContext& context, int64_t items);

/// What a reader must know before trusting scores: runs whose data on disk is another by now, where
/// it is at hand, and runs whose legs differ in their arithmetic. One line for each kind.
std::vector<std::string> run_remarks(const std::vector<study::ResultRow>& rows,
                                     const DataContext& context);

/// All runs that share a configuration, in order of appearance.
struct Setup {
  std::string dataset, method, variant;
  std::string config;  // without its seed
  std::vector<const study::ResultRow*> rows;
};
std::vector<Setup> setups_of(const std::vector<study::ResultRow>& rows);

/// The command lines that train a setup again to the same bits: one for each stretch of seeds.
/// Options that have their default are not spelled out. A configuration that this program cannot
/// read any more is to be given as config.toml.
std::vector<std::string> train_commands(const Setup& setup);

struct HtmlPage {
  std::string text;
  std::vector<HtmlSection> sections;  // that are in it
  std::vector<LeftOut> left_out;      // with the reasons
};

/// `options` names the reference method. The scores are those of the epoch chosen by validation, or
/// where no run has them by the rule that the runs have.
HtmlPage make_page(const HtmlReport& report, study::TableOptions options,
                   const Published& published);

}  // namespace grm::report
