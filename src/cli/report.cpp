#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/study_table.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "report/report_document.h"
#include "report/web_page.h"
#include "study/spec.h"

namespace grm::cli {
namespace {

struct ReportFlags {
  std::vector<std::string> runs;
  std::string study, database = "results.db", out = "report.html", title, document;
  study::TableOptions options;
  int64_t items = 10;
  bool no_data = false;
};

std::string command_line(const ReportFlags& flags) {
  std::string command = "grm report";
  const auto add = [&](const std::string& word) { command += " " + shell_word(word); };
  const auto add_list = [&](const char* flag, const std::vector<std::string>& words) {
    if (words.empty()) return;
    add(flag);
    add(joined(words, ","));
  };
  for (const std::string& run : flags.runs) add(run);
  if (!flags.study.empty()) {
    for (const std::string& word :
         {std::string("--study"), flags.study, std::string("--db"), flags.database}) {
      add(word);
    }
  }
  add_list("--dataset", flags.options.datasets);
  add_list("--method", flags.options.methods);
  add_list("--block", flags.options.blocks);
  if (flags.options.against != study::TableOptions().against) {
    add("--against");
    add(flags.options.against);
  }
  if (!flags.title.empty()) {
    add("--title");
    add(flags.title);
  }
  if (flags.no_data) {
    add("--no-data");
  } else if (flags.items != ReportFlags().items) {
    add("--items");
    add(std::to_string(flags.items));
  }
  add("--out");
  add(flags.out);
  return command;
}

// A study may stand in the place of run folders: by its name, or by its file.
void resolve_study(ReportFlags& flags) {
  if (flags.runs.size() != 1 || !flags.study.empty()) return;
  const std::string word = flags.runs.front();
  std::error_code code;
  if (std::filesystem::is_directory(word, code)) return;
  std::string name;
  if (std::filesystem::path(word).extension() == ".toml") {
    name = study::load_spec(word).name;
  } else if (study::Store::exists(flags.database)) {
    for (const study::StudyRow& row : study::Store(flags.database, study::Open::read).studies()) {
      if (row.name == word) name = word;
    }
  }
  if (name.empty()) {
    if (std::filesystem::exists(word, code)) return;
    fail(ErrorKind::data, "{}: neither a folder of runs nor a study of {}", word, flags.database);
  }
  flags.study = name;
  flags.runs.clear();
}

report::ReportParts gather(const ReportFlags& flags, const Common& common) {
  if (flags.runs.empty() == flags.study.empty()) {
    fail(ErrorKind::config, "{}; as in 'grm report runs/sbm' or 'grm report --study quick'",
         flags.runs.empty() ? "name run folders or --study NAME"
                            : "name either run folders or --study, not both");
  }
  report::ReportParts report =
      flags.study.empty() ? report::report_of_runs(flags.runs, flags.options)
                          : report::report_of_study(study::Store(flags.database, study::Open::read),
                                                    flags.database, flags.study, flags.options);
  for (const std::string& remark :
       report::run_remarks(report.results.rows, common.data_context())) {
    log_warning("{}", remark);
    report.notes.push_back(remark);
  }
  if (flags.no_data) {
    report.left_out.push_back(
        {"shift measures, answers of models and explanations", "left out by --no-data"});
  } else {
    report::add_data_parts(report, common.data_context(), flags.items);
  }
  if (!flags.title.empty()) report.title = flags.title;
  report.command = command_line(flags);
  return report;
}

int make(ReportFlags flags, const Common& common) {
  resolve_study(flags);
  const report::ReportParts report = gather(flags, common);
  const report::ReportDocument document =
      report::report_document(report, flags.options, report::Published::embedded());
  const std::string page = report::offline_page(report.title, document.text, document.plain);
  write_file_atomic(flags.out, page);
  if (!flags.document.empty()) write_file_atomic(flags.document, document.text + "\n");
  ordered_json sections = ordered_json::array(), left_out = ordered_json::array();
  for (const std::string& id : document.sections) sections.push_back({{"id", id}});
  for (const report::LeftOut& each : document.left_out) {
    left_out.push_back({{"section", each.section}, {"reason", each.reason}});
    log_info("left out: {}: {}", each.section, each.reason);
  }
  if (common.json) {
    print_json({{"report", flags.out},
                {"bytes", page.size()},
                {"title", report.title},
                {"runs", report.results.rows.size()},
                {"missing", report.results.missing.size()},
                {"notes", report.notes},
                {"sections", sections},
                {"left_out", left_out}});
  } else {
    fmt::print("{}\n", flags.out);
  }
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("report", "one HTML file about runs or a study");
  auto flags = std::make_shared<ReportFlags>();
  add_common(*verb, common, true);
  verb->add_option("runs", flags->runs,
                   "run folders, or folders above them; or a study of the database, or its file");
  verb->add_option("--study", flags->study, "a study of the result database instead");
  verb->add_option("--db", flags->database, "result database")->capture_default_str();
  verb->add_option("--out", flags->out, "file to write")->capture_default_str();
  verb->add_option("--document", flags->document, "write the page's data as JSON, too");
  verb->add_option("--title", flags->title, "heading of the page");
  verb->add_option("--items", flags->items, "test items whose explanation is drawn, by dataset")
      ->check(whole_number(0, 100))
      ->capture_default_str();
  verb->add_flag("--no-data", flags->no_data,
                 "do not load the data: no shift measures, answers or explanations");
  add_filters(*verb, flags->options);
  verb->footer(
      "The file needs nothing but a browser: no network, no other file.\n"
      "Examples:\n"
      "  grm report runs/sbm\n"
      "  grm report runs/cora/erm runs/cora/grm --out cora.html\n"
      "  grm report --study quick --db results.db --out quick.html --no-data\n"
      "  grm report my-study.toml\n"
      "  grm report runs/sbm --no-data --document sbm.json");
  set_call(*verb, action, [=, &common] { return make(*flags, common); });
}

}  // namespace grm::cli
