#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>

#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/processes.h"
#include "cli/progress.h"
#include "cli/run_flags.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "grm/graph/device.h"
#include "train/constant.h"
#include "train/divergence.h"
#include "train/memory.h"
#include "train/memory_input.h"
#include "train/summary.h"

namespace grm::cli {
namespace {

struct TrainFlags : RunFlags {
  std::string out = "runs";
  int64_t seeds = 0, epochs = 0;
  bool resume = false, strict = false, verbose = false;
  ProcessFlags processes;
};

// One column of the final table: all seeds of one method.
struct TrainedColumn {
  RunConfig config;
  std::string title = {};
  std::vector<RunRecord> runs = {};
  Summary summary = {};
  double seconds = 0.0;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

RunConfig train_config(const TrainFlags& flags, const std::string& method_spec,
                       const std::string& device) {
  RunConfig config = make_config(flags, method_spec, device);
  if (flags.seeds > 0) config.set("train.seeds", std::to_string(flags.seeds));
  if (flags.epochs > 0) config.set("train.epochs", std::to_string(flags.epochs));
  return config;
}

// The folder of a run, which rank 0 finds or makes.
RunFolder run_folder(const RunConfig& config, const Task& task, int64_t seed,
                     const TrainFlags& flags, const Processes& processes) {
  RunFolder folder("");
  if (processes.first()) {
    if (flags.resume) folder = find_run_folder(flags.out, config, seed, &task.hashes);
    if (folder.path().empty()) folder = create_run_folder(flags.out, config, seed);
  }
  return RunFolder(processes.group()->text_of_first(folder.path()));
}

// Before anything is written: a run that cannot fit leaves no folder behind.
void show_memory(const TrainedColumn& column, const Task& task, bool verbose) {
  const torch::Device device = compute_device();
  const MemoryEstimate estimate = check_memory(column.config, task, device);
  if (!verbose) return;
  std::string parts;
  for (const MemoryPart& part : estimate.parts) {
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part.what,
                         memory_text(device.is_cuda() ? part.device : part.host));
  }
  log_info("{}: {} {} of memory ({}), limit {}", column.title,
           estimate.complete ? "about" : "the method declares no memory of its own; at least",
           memory_text(device.is_cuda() ? estimate.device() : estimate.host()), parts,
           memory_text(memory_limit(device).bytes));
}

// Trains or reads back one seed; messages go to its log.txt as well as to the terminal.
RunRecord run_seed(const RunConfig& config, const Task& task, int64_t seed, const TrainFlags& flags,
                   const Common& common, const Processes& processes, const std::string& title) {
  const RunFolder folder = run_folder(config, task, seed, flags, processes);
  const int rank = processes.group()->rank();
  log_to(folder.file(rank == 0 ? "log.txt" : fmt::format("log-{}.txt", rank)));
  log_info("{} {}", folder.has("state.safetensors") ? "continued" : "started", folder.path());
  Progress progress(fmt::format("{} seed {}", title, seed), common.quiet || rank > 0);
  RunHooks hooks;
  hooks.on_epoch = [&](const EpochReport& report) { progress.show(report); };
  hooks.interrupted = interrupted;
  hooks.strict = flags.strict;
  hooks.group = processes.group();
  const RunRecord record = train_run(config, task, seed, folder, hooks);
  progress.done();
  const Chosen& c = record.chosen.at(to_string(config.train.selection));
  log_info("{} seed {}: epoch {}, validation {:.1f}, test avg {:.1f}", title, seed, c.epoch,
           c.validation, mean_score(c.test));
  log_to("");
  return record;
}

ordered_json mean_std_json(const MeanStd& value) {
  return {{"mean", value.mean}, {"std", value.std}};
}

ordered_json to_json(const TrainedColumn& column, const Task& task) {
  const RunConfig& config = column.config;
  ordered_json out = {{"dataset", config.dataset_name()},
                      {"method", config.method_name()},
                      {"preset", config.method.preset()},
                      {"seeds", ordered_json::array()},
                      {"metric", to_string(task.metric)},
                      {"unit", smaller_is_better(task.metric) ? "target" : "percent"},
                      {"selection", to_string(config.train.selection)},
                      {"validation", column.summary.validation.mean},
                      {"test", ordered_json::array()},
                      {"min", column.summary.min},
                      {"avg", column.summary.avg},
                      {"min_per_run", mean_std_json(column.summary.min_per_run)},
                      {"avg_per_run", mean_std_json(column.summary.avg_per_run)},
                      {"best_epochs", column.summary.epochs}};
  double per_epoch = 0, evaluating = 0, peak = 0;
  const double count = static_cast<double>(column.runs.size());
  for (const RunRecord& run : column.runs) {
    out["seeds"].push_back(run.seed);
    out["runs"].push_back(run.folder);
    per_epoch += run.seconds_per_epoch / count;
    evaluating += run.evaluate_seconds / count;
    peak = std::max(peak, run.peak_memory_mib);
  }
  for (const Summary::Row& row : column.summary.test) {
    out["test"].push_back(
        {{"domain", row.domain}, {"mean", row.score.mean}, {"std", row.score.std}});
  }
  for (const char* rule : {"val", "last", "oracle"}) {
    if (!column.runs.front().chosen.count(rule)) continue;
    const Summary s = summarise(column.runs, rule);
    out["by_selection"][rule] = {{"min", s.min}, {"avg", s.avg}, {"epochs", s.epochs}};
  }
  const auto constant = [&](const char* key, const std::vector<DomainScore>& scores) {
    out[key] = {{"min", min_score(scores)}, {"avg", mean_score(scores)}};
  };
  constant("constant", constant_scores(task, Role::test));
  constant("constant_own", own_constant_scores(task, Role::test));
  out["seconds_per_epoch"] = per_epoch;
  out["evaluate_seconds"] = evaluating;
  out["peak_memory_mib"] = peak;
  out["parameters"] = column.runs.front().parameters;
  out["missing"] = task.missing;
  out["notes"] = task.notes;
  out["data_hashes"] = task.hashes;
  return out;
}

// The best score of each row, where there are methods to choose from; the last row is time.
void mark_best(Table& table, size_t methods, bool errors) {
  table.stars = false;
  if (methods < 2) return;
  for (size_t r = 0; r + 1 < table.rows.size(); ++r) {
    Table::Row& row = table.rows[r];
    const auto score = [&](size_t c) {
      return (errors ? -1.0 : 1.0) * std::strtod(row[c].text.c_str(), nullptr);
    };
    double highest = score(1);
    for (size_t c = 2; c <= methods; ++c) highest = std::max(highest, score(c));
    for (size_t c = 1; c <= methods; ++c) row[c].best = score(c) == highest;
  }
}

void print_results(const std::vector<TrainedColumn>& columns, const Task& task) {
  // Errors are in the units of the targets, which may be small.
  const auto tenths = [errors = smaller_is_better(task.metric)](double value) {
    return errors ? fmt::format("{:.4g}", value) : fmt::format("{:.1f}", value);
  };
  const auto cell = [&](const MeanStd& value, bool many) {
    return many ? fmt::format("{} +- {}", tenths(value.mean), tenths(value.std))
                : tenths(value.mean);
  };
  const bool many = columns.front().runs.size() > 1;
  std::vector<ConstantAnswer> constants;  // none under train.test = never
  if (!columns.front().summary.test.empty()) constants = constant_answers(task, Role::test);
  Table table;
  table.head = {task.name + ", " + to_string(task.metric)};
  for (const TrainedColumn& column : columns) table.head.push_back(column.title);
  for (const ConstantAnswer& answer : constants) table.head.push_back(answer.name);
  const auto line = [&](const std::string& name, const auto& of, const auto& of_constant) {
    Table::Row& row = table.rows.emplace_back(1, name);
    for (const TrainedColumn& c : columns) row.push_back(of(c));
    for (const ConstantAnswer& answer : constants) row.push_back(of_constant(answer));
  };
  const auto no_constant = [](const ConstantAnswer&) { return std::string(); };
  const std::vector<Summary::Row>& test = columns.front().summary.test;
  for (size_t k = 0; k < test.size(); ++k) {
    line(
        test[k].domain, [&](const TrainedColumn& c) { return cell(c.summary.test[k].score, many); },
        [&](const ConstantAnswer& answer) { return tenths(answer.scores[k].value); });
  }
  if (!test.empty()) {
    line(
        "Min", [&](const TrainedColumn& c) { return tenths(c.summary.min); },
        [&](const ConstantAnswer& answer) { return tenths(min_score(answer.scores)); });
    line(
        "Avg", [&](const TrainedColumn& c) { return tenths(c.summary.avg); },
        [&](const ConstantAnswer& answer) { return tenths(mean_score(answer.scores)); });
  }
  line(
      "validation", [&](const TrainedColumn& c) { return cell(c.summary.validation, many); },
      no_constant);
  line(
      "seconds", [&](const TrainedColumn& c) { return tenths(c.seconds); }, no_constant);
  mark_best(table, columns.size(), smaller_is_better(task.metric));
  print_table(table);
  if (constants.size() > 1) print_wrapped("", constants_note(constants));
  for (const std::string& note : task.notes) print_wrapped("note: ", note);
}

int train(const TrainFlags& flags, const Common& common, const Processes& processes) {
  const std::vector<std::string> specs = split(flags.method, ',');
  std::vector<TrainedColumn> columns;
  for (const std::string& spec : specs) {
    if (spec.empty() && specs.size() > 1) {
      fail(ErrorKind::config, "--method {}: a name beside a comma is missing", flags.method);
    }
    TrainedColumn column{train_config(flags, spec, common.device)};
    column.title = column.config.method_name();
    if (specs.size() > 1 &&
        column.config.method.preset() != column.config.method.entry().presets.front().name) {
      column.title += ":" + column.config.method.preset();
    }
    columns.push_back(std::move(column));
  }
  common.use_device(columns.front().config.train.device);
  const Task task = load_within_memory(columns.front().config.dataset,
                                       processes.data_context(common, flags.processes));
  for (const std::string& name : task.missing) log_warning("{} is missing: skipped", name);
  if (const std::string huge = huge_numbers(task); !huge.empty()) log_warning("{}", huge);
  for (TrainedColumn& column : columns) {
    choose_shards(column.config, task, processes);
    show_memory(column, task, flags.verbose);
  }
  for (TrainedColumn& column : columns) {
    const Stopwatch watch;
    const TrainOptions& train = column.config.train;
    for (int64_t k = 0; k < train.seeds; ++k) {
      column.runs.push_back(run_seed(column.config, task, train.first_seed + k, flags, common,
                                     processes, column.title));
    }
    column.seconds = watch.seconds();
    column.summary = summarise(column.runs, to_string(train.selection));
  }
  if (!processes.first()) return 0;
  if (!common.json) {
    print_results(columns, task);
  } else if (columns.size() == 1) {
    print_json(to_json(columns.front(), task));
  } else {
    ordered_json all = ordered_json::array();
    for (const TrainedColumn& column : columns) all.push_back(to_json(column, task));
    print_json({{"methods", all}});
  }
  return 0;
}

// Alone or with others.
int train_together(const TrainFlags& flags, const Common& common) {
  Processes processes(flags.processes, common, "; --resume continues from the last checkpoint");
  watch_interrupt(processes.first() ? "\ngrm: stopping after this epoch with a checkpoint; Ctrl-C "
                                      "again stops at once\n"
                                    : "");
  return processes.run([&] { return train(flags, common, processes); });
}

}  // namespace

void add_train(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand("train", "train, select and evaluate; results under runs/");
  auto flags = std::make_shared<TrainFlags>();
  add_common(*verb, common, true);
  add_run_flags(*verb, *flags, /*several_methods=*/true);
  add_memory_limit(*verb);
  verb->add_option("--seeds", flags->seeds, "independent runs (default: 1)")
      ->check(whole_number(1));
  verb->add_option("--epochs", flags->epochs, "training epochs")->check(whole_number(1));
  verb->add_option("--out", flags->out, "folder for runs")->capture_default_str();
  verb->add_flag("--resume", flags->resume,
                 "resume unfinished runs of the same configuration, reuse finished ones");
  verb->add_flag("--strict", flags->strict,
                 "with --resume: refuse other threads, BLAS, CPU, device or program than before");
  add_process_flags(*verb, flags->processes);
  verb->add_flag("-v,--verbose", flags->verbose, "also the memory that a run is expected to need");
  verb->footer(
      "Examples:\n"
      "  grm train                                             GRM on the generated default\n"
      "  grm train --dataset sbm --method erm,grm,grm:centred  one table of three\n"
      "  grm train --dataset twitch --method grm --seeds 3 --set dataset.symmetrise=true --json\n"
      "  grm train --dataset ./my-data --method erm,grm        own data, see 'grm data init'\n"
      "  grm train --config run.toml --resume                  after a kill or Ctrl-C\n"
      "  grm train --processes 4 --set train.shards=4          see docs/cluster.md; the same bits\n"
      "  torchrun --nproc-per-node 4 --no-python grm train --set train.shards=4");
  set_call(*verb, action, [=, &common] { return train_together(*flags, common); });
}

}  // namespace grm::cli
