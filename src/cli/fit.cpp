#include "study/fit.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/run_flags.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "grm/core/log.h"
#include "report/report_document.h"
#include "report/web_page.h"

namespace grm::cli {
namespace {

struct FitFlags {
  std::string data, out;
  double minutes = study::FitRequest().minutes;
  bool dry_run = false, no_report = false;
};

ordered_json number_or_null(double value) {
  return std::isnan(value) ? ordered_json() : ordered_json(value);
}

ordered_json options_json(const study::Candidate& candidate) {
  ordered_json out = ordered_json::object();
  for (const auto& [key, value] : candidate.settings) out[key] = value;
  return out;
}

ordered_json tried_json(const study::Tried& tried, const std::string& data) {
  ordered_json out = {{"name", tried.candidate.name},
                      {"about", tried.candidate.why},
                      {"method", tried.candidate.method},
                      {"preset", tried.candidate.preset},
                      {"options", options_json(tried.candidate)},
                      {"command", "grm train --dataset " + shell_word(data) + " " +
                                      study::train_flags(tried.candidate)},
                      {"counted_seconds", tried.counted},
                      {"rung", tried.rung}};
  if (tried.rung > 0) {
    out["epochs"] = tried.epochs;
    out["seeds"] = tried.seeds;
    out["validation"] = tried.validation;
    out["validation_loss"] = number_or_null(tried.loss);
  }
  if (!tried.problem.empty()) out["problem"] = tried.problem;
  return out;
}

ordered_json plan_json(const FitFlags& flags, const study::FitResult& result) {
  ordered_json out = {{"minutes", flags.minutes},
                      {"schedule", result.plan.schedule},
                      {"counted_seconds", result.plan.seconds},
                      {"budget_seconds", result.plan.budget},
                      {"rungs", ordered_json::array()}};
  for (const study::Rung& rung : result.plan.rungs) {
    out["rungs"].push_back({{"share", rung.share}, {"seeds", rung.seeds}, {"keep", rung.keep}});
  }
  return out;
}

ordered_json to_json(const FitFlags& flags, const study::FitResult& result,
                     const std::string& report) {
  ordered_json out = {{"data", flags.data},
                      {"dataset", result.name},
                      {"level", to_string(result.level)},
                      {"metric", result.metric},
                      {"unit", result.errors ? "target" : "percent"},
                      {"plan", plan_json(flags, result)}};
  if (!result.runs.empty()) {
    const study::Candidate& chosen = result.tried[result.chosen].candidate;
    const RunRecord& run = result.runs[result.best_run];
    const Chosen& by = run.chosen.begin()->second;
    out["complete"] = result.complete;
    out["stopped_by"] = result.complete ? "plan" : "clock";
    out["chosen"] = {{"name", chosen.name},
                     {"method", chosen.method},
                     {"preset", chosen.preset},
                     {"options", options_json(chosen)}};
    out["why"] = result.why;
    out["validation"] = by.validation;
    out["test"] = ordered_json::array();
    for (const DomainScore& score : by.test) {
      out["test"].push_back({{"domain", score.domain}, {"value", score.value}});
    }
    out["min"] = by.test.empty() ? ordered_json() : ordered_json(min_score(by.test));
    out["avg"] = by.test.empty() ? ordered_json() : ordered_json(mean_score(by.test));
    out["seed"] = run.seed;
    out["epoch"] = by.epoch;
    out["model"] = result.model;
    out["run"] = run.folder;
    out["seeds"] = ordered_json::array();
    for (const RunRecord& each : result.runs) {
      const Chosen& of = each.chosen.begin()->second;
      out["seeds"].push_back(
          {{"seed", each.seed},
           {"run", each.folder},
           {"validation", of.validation},
           {"avg", of.test.empty() ? ordered_json() : ordered_json(mean_score(of.test))}});
    }
    out["report"] = report.empty() ? ordered_json() : ordered_json(report);
  }
  out["tried"] = ordered_json::array();
  for (const study::Tried& tried : result.tried) {
    out["tried"].push_back(tried_json(tried, flags.data));
  }
  return out;
}

// Who came furthest first, then by validation; those left out at the end.
Table tried_table(const study::FitResult& result) {
  std::vector<const study::Tried*> order;
  for (const study::Tried& tried : result.tried) order.push_back(&tried);
  const auto place = [sign = result.errors ? -1.0 : 1.0](const auto* each) {
    return std::make_pair(each->rung, sign * each->validation);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return place(a) > place(b); });
  Table table;
  table.stars = false;
  table.label_columns = 2;
  table.head = {"candidate", "what it is", "epochs", "seeds", "validation"};
  for (const study::Tried* tried : order) {
    const bool ran = tried->rung > 0;
    table.rows.push_back({tried->candidate.name, tried->candidate.why,
                          ran ? std::to_string(tried->epochs) : "-",
                          ran ? std::to_string(tried->seeds) : "-",
                          Table::Entry(ran ? shown_score(result, tried->validation) : "-",
                                       tried == &result.tried[result.chosen])});
  }
  return table;
}

std::string clock_note(const FitFlags& flags) {
  return fmt::format(
      "time was up after {:g} minutes, before the plan was done: the choice is of what was trained "
      "by then and depends on the speed of this machine. The same command again goes on where it "
      "stopped",
      flags.minutes);
}

void print_result(const FitFlags& flags, const study::FitResult& result,
                  const std::string& report) {
  print_table(tried_table(result));
  for (const study::Tried& tried : result.tried) {
    if (!tried.problem.empty()) print_wrapped(tried.candidate.name + ": ", tried.problem);
  }
  fmt::print("\n");
  print_wrapped("schedule: ", result.plan.schedule);
  print_wrapped("chosen: ", result.why);
  if (!result.complete) print_wrapped("note: ", clock_note(flags));
  const Chosen& by = result.runs[result.best_run].chosen.begin()->second;
  if (!by.test.empty()) {
    Table table;
    table.head = {"test domain, " + result.metric, result.tried[result.chosen].candidate.name};
    for (const DomainScore& score : by.test) {
      table.rows.push_back({score.domain, shown_score(result, score.value)});
    }
    table.rows.push_back({"Min", shown_score(result, min_score(by.test))});
    table.rows.push_back({"Avg", shown_score(result, mean_score(by.test))});
    fmt::print("\n");
    print_table(table);
  }
  fmt::print("\nmodel: {}\n", result.model);
  if (!report.empty()) fmt::print("report: {}\n", report);
}

// The chosen runs, with what was chosen and why among the notes.
std::string write_report(const study::FitRequest& request, const study::FitResult& result) {
  std::vector<std::string> folders;
  for (const RunRecord& run : result.runs) folders.push_back(run.folder);
  const study::TableOptions options;
  report::ReportParts page = report::report_of_runs(folders, options);
  page.title = result.name + ": the model that grm fit chose";
  page.notes.push_back("Chosen by validation alone. " + result.why + ".");
  for (const study::Tried& tried : result.tried) {
    page.notes.push_back(fmt::format(
        "{} ({}): {}", tried.candidate.name, tried.candidate.why,
        !tried.problem.empty() ? tried.problem
                               : fmt::format("validation {} after {} epochs, {} seed{}",
                                             shown_score(result, tried.validation), tried.epochs,
                                             tried.seeds, tried.seeds == 1 ? "" : "s")));
  }
  report::add_data_parts(page, request.context, 4);
  page.command = fmt::format("grm fit {} --minutes {:g} --out {}", shell_word(request.data),
                             request.minutes, shell_word(request.out));
  const std::string path = request.out + "/report.html";
  const report::ReportDocument document =
      report::report_document(page, options, report::Published::embedded());
  write_file_atomic(path, report::offline_page(page.title, document.text, document.plain));
  return path;
}

void print_plan(const FitFlags& flags, const study::FitResult& result) {
  Table table;
  table.head = {"candidate", "counted seconds", "grm train flags"};
  for (const study::Tried& tried : result.tried) {
    table.rows.push_back({tried.candidate.name, fmt::format("{:.1f}", tried.counted),
                          study::train_flags(tried.candidate)});
  }
  print_table(table);
  for (const study::Tried& tried : result.tried) {
    if (!tried.problem.empty()) print_wrapped(tried.candidate.name + ": ", tried.problem);
  }
  print_wrapped("schedule: ", result.plan.schedule);
  print_wrapped("", fmt::format("counted: at most {:.0f} s of search in {:g} minutes",
                                result.plan.seconds, flags.minutes));
}

int fit_data(FitFlags flags, const Common& common) {
  common.use_device();
  const Stopwatch watch;
  if (flags.out.empty()) flags.out = study::default_fit_folder(flags.data);
  const study::FitRequest request{flags.data, flags.out, flags.minutes, common.data_context(),
                                  common.device};
  if (flags.dry_run) {
    const study::FitResult plan = study::plan_of(request);
    if (common.json) {
      print_json(to_json(flags, plan, ""));
    } else {
      print_plan(flags, plan);
    }
    return 0;
  }
  watch_interrupt("\ngrm: stopping after this epoch; the same command goes on later\n");
  std::unique_ptr<Progress> progress;
  study::FitHooks hooks;
  hooks.on_run = [&](const std::string& name, int64_t seed, size_t done, size_t all, size_t rung) {
    const std::string where =
        rung == 0 ? "final" : fmt::format("round {}, {}/{}", rung, done + 1, all);
    progress =
        std::make_unique<Progress>(fmt::format("{} {} seed {}", where, name, seed), common.quiet);
  };
  hooks.on_epoch = [&](const EpochReport& report) { progress->show(report); };
  hooks.on_run_end = [&] { progress->done(); };
  hooks.interrupted = interrupted;
  hooks.time_is_up = [&] { return watch.seconds() > 60.0 * flags.minutes; };
  study::FitResult result;
  try {
    result = study::fit(request, hooks);
  } catch (const Interrupted&) {
    say(fmt::format("grm: stopped; the same command goes on in {}\n", flags.out));
    return kInterrupted;
  }
  if (!result.complete) log_warning("{}", clock_note(flags));
  const std::string report = flags.no_report ? "" : write_report(request, result);
  ordered_json out = to_json(flags, result, report);
  out["out"] = flags.out;
  write_file_atomic(flags.out + "/fit.json", json_text(out, 2) + "\n");
  out["seconds"] = watch.seconds();
  if (common.json) {
    print_json(out);
  } else {
    print_result(flags, result, report);
  }
  return 0;
}

}  // namespace

void add_fit(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "fit", "from own data to a model: tries many methods, chooses by validation");
  auto flags = std::make_shared<FitFlags>();
  add_common(*verb, common, true);
  add_memory_limit(*verb);
  verb->add_option("data", flags->data, "folder of own data, or the name of a built-in dataset")
      ->required();
  verb->add_option("--minutes", flags->minutes,
                   "time for all of it: the plan is made from counted work to fit")
      ->check(number_above(0, 100000))
      ->capture_default_str();
  verb->add_option("--out", flags->out,
                   "folder for model, report and runs; a second call goes on there (default: "
                   "fits/NAME)");
  verb->add_flag("--dry-run", flags->dry_run, "show candidates and schedule, train nothing");
  verb->add_flag("--no-report", flags->no_report, "do not write report.html");
  verb->footer(
      "Writes model.safetensors, report.html, fit.json and the runs. Test domains are scored "
      "once,\n"
      "after the choice; a choice never sees their labels.\n"
      "Examples:\n"
      "  grm fit ./my-data\n"
      "  grm fit ./my-data --minutes 30 --out fits/spring --json\n"
      "  grm fit ./my-data --dry-run\n"
      "  grm predict fits/spring/model.safetensors --data new-month --out predictions.csv");
  set_call(*verb, action, [=, &common] { return fit_data(*flags, common); });
}

}  // namespace grm::cli
