#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>

#include "cli/checks.h"
#include "cli/study_table.h"
#include "cli/terminal.h"
#include "core/files.h"
#include "grm/core/error.h"
#include "report/published.h"
#include "study/store.h"

namespace grm::cli {
namespace {

struct TableFlags {
  std::string study, database = "results.db", format = "text", out;
  study::TableOptions options;
  bool domains = false, separate = false, trials = false;
};

std::string results_text(const TableFlags& flags, const report::Results& results) {
  study::TableOptions options = flags.options;
  options.group_dataset_seeds = !flags.separate;
  options.published = report::for_built_in(
      results.rows,
      report::Published::embedded().lookup(
          {"table1", "table2", "appendix-cora", "appendix-photo", "appendix-fb100-twitch"}));
  if (flags.format == "csv") {
    std::vector<study::ResultRow> rows;
    for (const study::ResultRow& row : results.rows) {
      if (study::selected(options, row.dataset, row.method, row.variant)) rows.push_back(row);
    }
    return study::scores_csv(rows);
  }
  const study::ScoreTable table = study::make_table(results.rows, results.missing, options);
  if (flags.format == "json") return study::table_json(table);
  if (flags.format == "summary-csv") return study::summary_csv(table);
  std::string out;
  const Format format = table_format(flags.format);
  for (const Table& layout : flags.domains ? domain_layouts(table) : score_layouts(table)) {
    out += table_text(layout, format, !flags.out.empty()) + "\n";
  }
  const Table missing = study::missing_layout(table.missing);
  if (!missing.rows.empty()) out += table_text(missing, format, !flags.out.empty());
  return out;
}

std::string export_text(const TableFlags& flags) {
  const study::Store store(flags.database, study::Open::read);
  report::Results results = read_results(store, flags.study);
  if (flags.trials) {
    if (!store.study(flags.study).tuned) {
      fail(ErrorKind::config, "study '{}' has no trials: it is not a search", flags.study);
    }
    results = {store.results(flags.study, "trial"), {}};
  }
  if (flags.format == "runs") return study::export_runs(results.rows);
  return flags.format == "csv" ? study::export_csv(results.rows)
                               : study::export_json(results.rows, results.missing);
}

// To the file, if one is named, else to stdout.
int deliver(const std::string& text, const std::string& path) {
  if (path.empty()) {
    std::fputs(text.c_str(), stdout);
  } else {
    write_file_atomic(path, text);
  }
  return 0;
}

void add_names(CLI::App& verb, TableFlags& flags) {
  verb.add_option("study", flags.study, "name of the study, see 'grm study status'")->required();
  verb.add_option("--db", flags.database, "result database")->capture_default_str();
  verb.add_option("--out", flags.out, "write to this file instead of stdout");
}

}  // namespace

Format table_format(const std::string& name) {
  if (name == "markdown") return Format::markdown;
  return name == "latex" ? Format::latex : Format::text;
}

std::string table_text(const Table& table, Format format, bool to_file) {
  if (format != Format::text || to_file) return render(table, format);
  return text_table(table, line_width(STDOUT_FILENO), colour_on(STDOUT_FILENO));
}

void add_filters(CLI::App& verb, study::TableOptions& options) {
  verb.add_option("--against", options.against, "reference method of the significance marks")
      ->capture_default_str();
  verb.add_option("--dataset", options.datasets, "only these datasets, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb.add_option("--method", options.methods, "only these methods")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb.add_option("--block", options.blocks, "only these option sets, as in sum,kipf")
      ->delimiter(',')
      ->allow_extra_args(false);
}

report::Results read_results(const study::Store& store, const std::string& study) {
  const bool tuned = store.study(study).tuned;
  return {store.results(study, tuned ? "final" : "run"), store.missing(study)};
}

void add_study_table(CLI::App& study_verb, Common& common, Action& action) {
  CLI::App* table = study_verb.add_subcommand("table", "Min and Avg beside the published values");
  auto flags = std::make_shared<TableFlags>();
  add_common(*table, common, false);
  add_names(*table, *flags);
  add_filters(*table, flags->options);
  table->add_option("--format", flags->format, "text, markdown, latex, csv, summary-csv or json")
      ->check(one_of({"text", "markdown", "latex", "csv", "summary-csv", "json"}))
      ->capture_default_str();
  table->add_flag("--domains", flags->domains, "every test domain instead of Min and Avg");
  table->add_flag("--separate-seeds", flags->separate,
                  "datasets with several seeds (cora/0, cora/1) as columns of their own");
  table->footer(
      "Examples:\n"
      "  grm study table quick --block kipf\n"
      "  grm study table table1 --format latex --out table1.tex\n"
      "  grm study table table1 --format csv          one line per run and test domain");
  table->callback([=, &common, &action] {
    if (common.json) flags->format = "json";
    action = [=] {
      return deliver(
          results_text(
              *flags, read_results(study::Store(flags->database, study::Open::read), flags->study)),
          flags->out);
    };
  });

  CLI::App* export_verb =
      study_verb.add_subcommand("export", "all runs with configuration, environment and record");
  auto export_flags = std::make_shared<TableFlags>();
  export_flags->format = "json";
  add_common(*export_verb, common, false);
  add_names(*export_verb, *export_flags);
  export_verb
      ->add_option("--format", export_flags->format,
                   "csv or json: everything; runs: a short CSV line for each run")
      ->check(one_of({"csv", "json", "runs"}))
      ->capture_default_str();
  export_verb->add_flag("--trials", export_flags->trials,
                        "the trials of a search instead of the runs that followed");
  export_verb->footer(
      "Examples:\n"
      "  grm study export my --out my.json\n"
      "  grm study export my --format csv --out my.csv\n"
      "  grm study export my --format runs --trials   what a search tried: validation only");
  set_call(*export_verb, action,
           [=] { return deliver(export_text(*export_flags), export_flags->out); });
}

}  // namespace grm::cli
