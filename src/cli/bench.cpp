#include "train/bench.h"
#include "core/json.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/bench_peers.h"
#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/processes.h"
#include "cli/run_flags.h"
#include "grm/core/threads.h"
#include "grm/graph/device.h"
#include "grm/version.h"
#include "train/memory_input.h"

namespace grm::cli {
namespace {

// Stages that the project speaks of, in the order of a step; what a method does not mark is
// "other".
const char* const kStages[] = {"sample",   "batch",  "encode",   "generate",
                               "classify", "losses", "backward", "optimiser"};

double seconds_of(const BenchReport& report, const std::string& stage) {
  for (const StageTime& time : report.stages) {
    if (time.name == stage) return time.seconds;
  }
  return 0.0;
}

// All stages in order: the named ones, others that a method marks, "other" last.
std::vector<std::pair<std::string, double>> stages_in_order(const BenchReport& report) {
  std::vector<std::pair<std::string, double>> stages;
  for (const char* name : kStages) stages.emplace_back(name, seconds_of(report, name));
  for (const StageTime& time : report.stages) {
    const bool named =
        std::find(std::begin(kStages), std::end(kStages), time.name) != std::end(kStages);
    if (!named && time.name != "other") stages.emplace_back(time.name, time.seconds);
  }
  stages.emplace_back("other", seconds_of(report, "other"));
  return stages;
}

constexpr size_t kKernelsShown = 12, kKernelName = 120;

ordered_json or_null(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json to_json(const BenchReport& r, const RunConfig& config, const Task& task) {
  const bool counted = r.work.has_value();
  ordered_json out = {
      {"dataset", config.dataset_name()},
      {"method", config.method_name()},
      {"preset", config.method.preset()},
      {"device", describe_device(compute_device())},
      {"threads", grm::threads()},
      {"processes", r.processes},
      {"shards", config.train.shards},
      {"communication_share", r.communication_share()},
      {"grm", GRM_VERSION " (" GRM_GIT_ID ")"},
      {"data_hashes", task.hashes},
      {"sgemm_gflops", r.sgemm_gflops},
      {"epoch_gflop", counted ? ordered_json(r.work->flops() * 1e-9) : ordered_json(nullptr)},
      {"seconds_per_epoch", r.seconds_per_epoch},
      {"share_of_sgemm", or_null(r.share_of_sgemm())},
      {"stages", ordered_json::object()},
      {"staged_seconds", r.staged_seconds},
      {"peak_memory_mib", r.peak_memory_mib},
      {"estimated_mib", r.estimated_mib},
      {"host_peak_memory_mib", r.host_peak_memory_mib},
      {"epoch_gbyte", counted ? ordered_json(r.work->bytes() * 1e-9) : ordered_json(nullptr)},
      {"copy_gbyte_per_second", r.copy_gbytes},
      {"share_of_copy", or_null(r.share_of_copy())},
      {"matmul_gflops", or_null(r.matmul_gflops)},
      {"kernel_share", or_null(r.kernel_share)},
      {"epochs", r.epochs},
      {"fastest_epoch", r.fastest_epoch},
      {"cpu_seconds_per_epoch", r.cpu_seconds_per_epoch},
      {"setup_seconds", r.setup_seconds},
      {"targets_per_epoch", r.targets_per_epoch},
      {"seconds_per_target",
       r.targets_per_epoch > 0 ? r.seconds_per_epoch / r.targets_per_epoch : 0.0},
      {"evaluate_seconds", r.evaluate_seconds},
      {"evaluated_nodes", r.evaluated_items},
      {"evaluate_seconds_per_node",
       r.evaluated_items > 0 ? r.evaluate_seconds / r.evaluated_items : 0.0},
      {"work", ordered_json::array()},
      {"memory", ordered_json::array()}};
  for (const auto& [name, seconds] : stages_in_order(r)) out["stages"][name] = seconds;
  if (counted) {
    for (const WorkTerm& term : r.work->terms) {
      out["work"].push_back(
          {{"term", term.name}, {"gflop", term.flops * 1e-9}, {"gbyte", term.bytes * 1e-9}});
    }
  }
  if (r.device_work) {
    out["launches_per_epoch"] = r.device_work->launches;
    out["waits_per_epoch"] = r.device_work->waits;
    for (const DeviceWork::Kernel& kernel : r.device_work->kernels) {
      if (out["kernels"].size() >= kKernelsShown) break;
      out["kernels"].push_back({{"kernel", kernel.name.substr(0, kKernelName)},
                                {"runs", kernel.runs},
                                {"seconds", kernel.seconds}});
    }
  }
  for (const MemoryPart& part : r.memory) {
    out["memory"].push_back({{"part", part.what},
                             {"host_mib", part.host / 1048576},
                             {"device_mib", part.device / 1048576}});
  }
  return out;
}

void print_report(const BenchReport& r, const RunConfig& config, const Task& task) {
  const auto milliseconds = [](double seconds) { return fmt::format("{:.2f} ms", seconds * 1e3); };
  const auto percent = [](const std::optional<double>& share) {
    return share ? fmt::format("{:.1f} %", *share * 100) : std::string("not counted");
  };
  const bool cuda = compute_device().is_cuda();
  Table table;
  table.head = {fmt::format("{}:{} on {}", config.method_name(), config.method.preset(), task.name),
                describe_device(compute_device())};
  std::vector<Table::Row>& rows = table.rows;
  rows.push_back(
      {"epoch (median of " + std::to_string(r.epochs) + ")", milliseconds(r.seconds_per_epoch)});
  if (config.train.shards > 1) {
    rows.push_back(
        {fmt::format("communication, {} processes of {} threads", r.processes, grm::threads()),
         percent(r.communication_share())});
  }
  rows.push_back({"target", fmt::format("{:.3f} us", r.seconds_per_epoch * 1e6 /
                                                         std::max(1.0, r.targets_per_epoch))});
  rows.push_back({"set-up before the first epoch", fmt::format("{:.2f} s", r.setup_seconds)});
  if (r.work) {
    rows.push_back(
        {"operations of an epoch, by count", fmt::format("{:.2f} GFLOP", r.work->flops() * 1e-9)});
    rows.push_back(
        {"bytes of an epoch, by count", fmt::format("{:.2f} GB", r.work->bytes() * 1e-9)});
  }
  rows.push_back({"SGEMM 10,000 x 128 x 128, " + std::to_string(grm::threads()) + " threads",
                  fmt::format("{:.1f} GFLOP/s", r.sgemm_gflops)});
  rows.push_back({"share of the SGEMM rate", percent(r.share_of_sgemm())});
  rows.push_back({"copying, read and written", fmt::format("{:.1f} GB/s", r.copy_gbytes)});
  rows.push_back({"share of the copy bandwidth", percent(r.share_of_copy())});
  if (cuda) {
    rows.push_back({"product 4096 x 4096 x 4096, no TF32",
                    fmt::format("{:.0f} GFLOP/s", r.matmul_gflops.value_or(0))});
    rows.push_back({"share of the time inside kernels", percent(r.kernel_share)});
    if (r.device_work) {
      rows.push_back({"launches of an epoch, and waits",
                      fmt::format("{}, {}", r.device_work->launches, r.device_work->waits)});
    }
    rows.push_back({"epoch that waits at every stage", milliseconds(r.staged_seconds)});
  }
  for (const auto& [name, seconds] : stages_in_order(r)) {
    rows.push_back({"  " + name, fmt::format("{}  {:5.1f} %", milliseconds(seconds),
                                             100 * seconds / std::max(1e-12, r.staged_seconds))});
  }
  if (r.evaluated_items > 0) {
    rows.push_back({fmt::format("evaluation of {:.0f} items", r.evaluated_items),
                    milliseconds(r.evaluate_seconds)});
    rows.push_back({"evaluation of one item",
                    fmt::format("{:.3f} us", r.evaluate_seconds * 1e6 / r.evaluated_items)});
  }
  rows.push_back({"peak memory", fmt::format("{:.0f} MiB", r.peak_memory_mib)});
  rows.push_back({"estimated before", fmt::format("{:.0f} MiB", r.estimated_mib)});
  print_table(table);
}

void print_peers(const BenchReport& r, const ordered_json& peers) {
  const auto row = [&](const std::string& name, double seconds) {
    return Table::Row{name, fmt::format("{:.2f} ms", seconds * 1e3),
                      fmt::format("{:.1f} x", seconds / r.seconds_per_epoch)};
  };
  Table table;
  table.head = {"epoch", "time", "against ours"};
  table.rows.push_back(row("grm", r.seconds_per_epoch));
  for (const auto& [name, seconds] : peers.at("variants").items()) {
    table.rows.push_back(row("PyTorch Geometric, " + name, seconds.get<double>()));
  }
  print_table(table);
}

int bench(const RunFlags& flags, int64_t epochs, bool evaluates, bool peers, const Common& common,
          const Processes& processes, const ProcessFlags& process_flags) {
  watch_interrupt("\ngrm: stopping after this epoch\n");
  RunConfig config = make_config(flags, flags.method, common.device);
  common.use_device(config.train.device);
  const Task task =
      load_within_memory(config.dataset, processes.data_context(common, process_flags));
  choose_shards(config, task, processes);
  BenchOptions options;
  options.epochs = epochs;
  options.evaluate = evaluates;
  options.seed = config.train.first_seed;
  options.interrupted = interrupted;
  options.group = processes.group();
  if (!common.quiet && processes.first())
    options.say = [](const std::string& line) { say("grm bench: " + line + "\n"); };
  const BenchReport report = run_bench(config, task, options);
  if (!processes.first()) return 0;
  ordered_json others;
  if (peers) {
    if (options.say) options.say("the same with PyTorch Geometric");
    others = run_peers(config, task, report.epochs);
  }
  if (common.json) {
    ordered_json out = to_json(report, config, task);
    if (peers) out["peers"] = others;
    print_json(out);
  } else {
    print_report(report, config, task);
    if (peers) print_peers(report, others);
  }
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb =
      app.add_subcommand("bench", "speed and memory of training, against what this machine can do");
  auto flags = std::make_shared<RunFlags>();
  auto epochs = std::make_shared<int64_t>(0);
  auto skip = std::make_shared<bool>(false);
  add_common(*verb, common, true);
  add_run_flags(*verb, *flags);
  add_memory_limit(*verb);
  verb->add_option("--epochs", *epochs, "measured epochs (default: about 20 s of them)")
      ->check(whole_number(1));
  verb->add_flag("--no-evaluation", *skip, "do not time a pass over validation and test domains");
  auto processes = std::make_shared<ProcessFlags>();
  add_process_flags(*verb, *processes);
  auto peers = std::make_shared<bool>(false);
  verb->add_flag(
      "--peers", *peers,
      "also time the same work with PyTorch Geometric, where python3 has it (erm alone)");
  verb->footer(
      "Measures, in one process: the rate of matrix products, epochs by stage, a pass of\n"
      "evaluation, peak memory; counts the operations of an epoch.\n"
      "Nothing is written. How to read it: docs/performance.md.\n\n"
      "Examples:\n"
      "  grm bench --dataset twitch --method grm --preset paper --json\n"
      "  grm bench --dataset scale --set dataset.nodes=1000000 --set method.encoder_input=raw\n"
      "  grm bench --dataset cora --method grm --no-evaluation  (add --device cuda for a GPU)\n"
      "  grm bench --method erm --set method.backbone=sage --threads 1\n"
      "  grm bench --dataset twitch --method erm --peers  (beside PyTorch Geometric)\n"
      "  grm bench --dataset spmotif --method erm --processes 2  (share of communication)");
  set_call(*verb, action, [=, &common] {
    Processes together(*processes, common);
    return together.run(
        [&] { return bench(*flags, *epochs, !*skip, *peers, common, together, *processes); });
  });
}

}  // namespace grm::cli
