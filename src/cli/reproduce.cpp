#include "report/reproduce.h"
#include "core/lists.h"
#include "core/text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/checks.h"
#include "cli/study.h"
#include "cli/study_table.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/core/options.h"

namespace grm::cli {
namespace {

struct ReproduceFlags {
  std::string target, format = "text", out = "results", spec;
  study::TableOptions options;
  study::RunnerOptions runner;
  int64_t seeds = 0;
  bool quick = false, table_only = false, published = false;
};

// What makes the result what it is; paths and the number of processes do not.
std::string command_line(const ReproduceFlags& flags) {
  std::string line = "grm reproduce " + flags.target;
  if (flags.quick) line += " --quick";
  if (!flags.spec.empty()) line += " --study " + flags.spec;
  const study::TableOptions& o = flags.options;
  if (!o.datasets.empty()) line += " --dataset " + joined(o.datasets, ",");
  if (!o.methods.empty()) line += " --method " + joined(o.methods, ",");
  if (!o.blocks.empty()) line += " --block " + joined(o.blocks, ",");
  if (flags.seeds > 0) line += fmt::format(" --seeds {}", flags.seeds);
  if (o.against != "erm") line += " --against " + o.against;
  return line;
}

// Every word of a filter must name something: a misspelt one would silently select nothing.
void check_filter(const char* flag, const std::vector<std::string>& words,
                  std::vector<std::string> names, std::string (*base)(const std::string&)) {
  for (const std::string& word : words) {
    const bool known = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == word || base(name) == word;
    });
    if (!known) {
      fail(ErrorKind::config, "{} {}: the study has no such thing{}; it has: {}", flag, word,
           did_you_mean(word, names), joined(names, ","));
    }
  }
}

std::string same(const std::string& name) {
  return name;
}

template <class Item, class Name>
std::vector<std::string> names_of(const std::vector<Item>& items, Name name) {
  std::vector<std::string> names;
  for (const Item& item : items) names.push_back(item.*name);
  return names;
}

template <class Item, class Keep>
void keep_if(std::vector<Item>& items, Keep keep) {
  items.erase(std::remove_if(items.begin(), items.end(), [&](const Item& i) { return !keep(i); }),
              items.end());
}

double cell_count(const study::StudySpec& spec) {
  int64_t runs = 0;
  for (const study::DatasetSpec& d : spec.datasets) {
    runs += d.seeds > 0 ? std::min(d.seeds, spec.seeds) : spec.seeds;
  }
  return static_cast<double>(runs) *
         static_cast<double>(spec.methods.size() * spec.variants.size());
}

// The study that the flags leave. It gets a name of its own: the whole study's rows stay as they
// are, and runs of equal configuration are shared between studies, so nothing is run twice.
study::StudySpec restricted(study::StudySpec spec, const ReproduceFlags& flags) {
  const study::TableOptions& o = flags.options;
  check_filter("--dataset", o.datasets, names_of(spec.datasets, &study::DatasetSpec::label),
               study::without_seed);
  check_filter("--method", o.methods, names_of(spec.methods, &study::MethodSpec::text),
               study::without_preset);
  check_filter("--block", o.blocks, names_of(spec.variants, &study::VariantSpec::name), same);
  const double all = cell_count(spec);
  study::TableOptions datasets, methods, blocks;  // one filter each
  datasets.datasets = o.datasets;
  methods.methods = o.methods;
  blocks.blocks = o.blocks;
  keep_if(spec.datasets, [&](const auto& d) { return study::selected(datasets, d.label, "", ""); });
  keep_if(spec.methods, [&](const auto& m) { return study::selected(methods, "", m.text, ""); });
  keep_if(spec.variants, [&](const auto& v) { return study::selected(blocks, "", "", v.name); });
  if (flags.seeds > 0) {
    spec.seeds = flags.seeds;
    for (study::DatasetSpec& dataset : spec.datasets) dataset.seeds = 0;
  }
  spec.expected_minutes *= cell_count(spec) / all;
  for (const auto* words : {&o.datasets, &o.methods, &o.blocks}) {
    if (!words->empty()) spec.name += "+" + joined(*words, ",");
  }
  if (flags.seeds > 0) spec.name += fmt::format("+{}seeds", flags.seeds);
  return spec;
}

study::StudySpec study_of(const report::Target& target, const ReproduceFlags& flags) {
  if (!flags.spec.empty()) return study::load_spec(flags.spec);
  if (flags.quick && target.quick_study.empty()) {
    fail(ErrorKind::config, "{} has no quick version; use --seeds and --method to run less",
         target.name);
  }
  return study::load_spec(flags.quick ? target.quick_study : target.study);
}

// Without a run of the very selection, the whole study is read and filtered.
std::string stored_name(const study::Store& store, const std::string& wanted,
                        const std::string& whole) {
  for (const study::StudyRow& row : store.studies()) {
    if (row.name == wanted) return wanted;
  }
  return whole;
}

int print_published(const report::Target& target, const ReproduceFlags& flags) {
  if (target.tables.empty()) {
    fail(ErrorKind::config, "{}: the paper shows a figure and prints no numbers", target.name);
  }
  for (const std::string& id : target.tables) {
    const std::string text =
        table_text(report::Published::embedded().layout(id), table_format(flags.format), false);
    fmt::print("{}\n", text);
  }
  return 0;
}

// Keeps the runs of the first seeds, where a larger study is read.
template <class Row>
void keep_seeds(std::vector<Row>& rows, const study::StudySpec& spec) {
  keep_if(rows, [&](const Row& row) { return row.seed < spec.first_seed + spec.seeds; });
}

int reproduce(const ReproduceFlags& flags, const Common& common) {
  const report::Target& target = report::find_target(flags.target);
  if (flags.published) return print_published(target, flags);
  const study::StudySpec whole = study_of(target, flags);
  const study::StudySpec spec = restricted(whole, flags);
  std::string name = spec.name;
  bool failed = false;
  if (!flags.table_only) {
    watch_interrupt();
    study::RunnerOptions options = flags.runner;
    options.data = common.data_context();
    options.threads = common.threads;
    options.device = common.device;
    StudyProgress progress(common.quiet);
    const study::Outcome outcome = study::run_study(spec, options, progress.hooks());
    progress.clear();
    if (outcome.interrupted) {
      fmt::print(stderr,
                 "grm: stopped; the same command resumes it, and with --table-only prints what "
                 "is there\n");
      return kInterrupted;
    }
    failed = !outcome.failed.empty();
  }
  const study::Store store(flags.runner.database, study::Open::read);
  if (flags.table_only) name = stored_name(store, spec.name, whole.name);
  report::Results results = read_results(store, name);
  keep_seeds(results.rows, spec);
  keep_seeds(results.missing, spec);
  const std::string stem = target.name + (flags.quick ? "-quick" : "");
  const report::Report made = report::make_report(
      target, results, flags.options, report::Published::embedded(), command_line(flags), stem);
  std::string text;
  if (flags.format == "json") {
    text = report::report_json(made);
  } else if (flags.format == "csv") {
    text = study::summary_csv(made.table);
  } else {
    text = report::render(made, table_format(flags.format));
  }
  std::fputs(text.c_str(), stdout);
  const report::ReportFiles files = report::write_report(made, results, flags.options, flags.out);
  for (const std::string& message : files.messages) log_warning("{}", message);
  for (const std::string& path : files.written) log_info("written: {}", path);
  return failed ? 1 : 0;
}

}  // namespace

void add_reproduce(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("reproduce", "a table or figure of the GRM paper");
  auto flags = std::make_shared<ReproduceFlags>();
  add_common(*verb, common, true);
  const std::string names =
      joined(report::targets(), ", ", [](const report::Target& target) { return target.name; });
  verb->add_option("target", flags->target, names)->required();
  verb->add_flag("--quick", flags->quick, "fewer seeds and epochs: minutes instead of hours");
  add_filters(*verb, flags->options);
  verb->add_option("--seeds", flags->seeds, "runs of each cell (default: the study's)")
      ->check(whole_number(1));
  verb->add_option("--jobs", flags->runner.jobs, "processes at once (default: all cores)")
      ->check(whole_number(1, 4096));
  verb->add_option("--db", flags->runner.database, "result database")->capture_default_str();
  verb->add_option("--runs", flags->runner.runs, "folder for runs")->capture_default_str();
  verb->add_flag("--retry-failed", flags->runner.retry_failed, "try failed cells again");
  verb->add_option("--out", flags->out, "folder for the report's files")->capture_default_str();
  verb->add_option("--format", flags->format, "what is printed: text, markdown, latex, csv, json")
      ->check(one_of({"text", "markdown", "latex", "csv", "json"}))
      ->capture_default_str();
  verb->add_flag("--table-only", flags->table_only, "run nothing, print what the database has");
  verb->add_flag("--published", flags->published, "print the paper's numbers and stop");
  verb->add_option("--study", flags->spec, "another study to fill this table with")->group("");
  std::string list;
  for (const report::Target& target : report::targets()) {
    list += fmt::format("  {:<13} {}\n", target.name, target.about);
  }
  verb->footer("Results:\n" + list +
               "\nExamples:\n"
               "  grm reproduce table1 --quick --data-root DIR\n"
               "  grm reproduce table1 --dataset cora --method erm,grm --block kipf\n"
               "  grm reproduce table1 --table-only --format latex");
  verb->callback([=, &common, &action] {
    if (common.json) flags->format = "json";
    action = [=, &common] { return reproduce(*flags, common); };
  });
}

}  // namespace grm::cli
