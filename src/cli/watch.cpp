#include "study/watch.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/terminal.h"
#include "core/json.h"
#include "grm/core/log.h"

namespace grm::cli {
namespace {

constexpr int kAlarm = 5;  // exit code

// What to expect of numbers nobody can say without labels.
bool expects_accuracy(const study::WatchResult& result) {
  return result.target != Target::regression;
}

ordered_json watch_json(const study::WatchRequest& request, const study::WatchResult& result) {
  ordered_json out = {
      {"runs", request.runs},
      {"data", request.data},
      {"dataset", result.dataset},
      {"alarm", result.alarm()},
      {"alpha", request.alpha},
      {"reference",
       {{"domains", result.reference_domains},
        {"items", result.reference_items},
        {"confidence",
         expects_accuracy(result) ? ordered_json(result.reference_confidence) : ordered_json()},
        {"variation_known", result.variation_known}}},
      {"comparisons", result.comparisons},
      {"unit", "percent"},
      {"domains", ordered_json::array()}};
  for (const study::WatchedDomain& domain : result.domains) {
    out["domains"].push_back(
        {{"domain", domain.name},
         {"items", domain.items},
         {"alarm", domain.alarm},
         {"p", domain.p},
         {"level", domain.level},
         {"expected_accuracy",
          expects_accuracy(result) ? ordered_json(domain.expected_accuracy) : ordered_json()},
         {"agreement", request.runs.size() > 1 ? ordered_json(domain.agreement) : ordered_json()},
         {"reason", domain.alarm ? ordered_json(domain.reason) : ordered_json()},
         {"moved", ordered_json::array()}});
    for (const study::WatchedQuantity& moved : domain.moved) {
      out["domains"].back()["moved"].push_back({{"quantity", moved.name},
                                                {"of", moved.spread ? "spread" : "level"},
                                                {"effect", moved.effect},
                                                {"p", moved.p}});
    }
  }
  return out;
}

void print_watch(const study::WatchRequest& request, const study::WatchResult& result) {
  Table table;
  table.head = {"domain", "items", "corrected p", "level"};
  if (expects_accuracy(result)) table.head.push_back("expected accuracy");
  if (request.runs.size() > 1) table.head.push_back("agreement");
  table.head.push_back("alarm");
  for (const study::WatchedDomain& domain : result.domains) {
    Table::Row row = {domain.name, std::to_string(domain.items), fmt::format("{:.2g}", domain.p),
                      fmt::format("{:.2g}", domain.level)};
    if (expects_accuracy(result)) row.push_back(fmt::format("{:.1f}", domain.expected_accuracy));
    if (request.runs.size() > 1) row.push_back(fmt::format("{:.1f}", domain.agreement));
    row.push_back(domain.alarm ? "ALARM" : "-");
    table.rows.push_back(row);
  }
  print_table(table);
  for (const study::WatchedDomain& domain : result.domains) {
    if (domain.alarm) print_wrapped(domain.name + ": ", domain.reason);
  }
  const std::string confidence = expects_accuracy(result)
                                     ? fmt::format("on validation the mean confidence is {:.1f}; ",
                                                   result.reference_confidence)
                                     : "";
  print_wrapped("", fmt::format("{}{} reference domains", confidence, result.reference_domains));
}

int watch_data(const study::WatchRequest& flags, const Common& common) {
  common.use_device();
  study::WatchRequest request = flags;
  request.context = common.data_context();
  const study::WatchResult result = study::watch(request);
  if (!result.variation_known) {
    log_warning(
        "the run has {} training and validation domains: too few to tell how much domains differ "
        "by "
        "nature, so only large differences alarm",
        result.reference_domains);
  }
  if (common.json) {
    print_json(watch_json(request, result));
  } else {
    print_watch(request, result);
  }
  return result.alarm() ? kAlarm : 0;
}

}  // namespace

void add_watch(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "watch", "drift of new data without labels: expected accuracy, an alarm with its reason");
  auto flags = std::make_shared<study::WatchRequest>();
  add_common(*verb, common, true);
  verb->add_option("runs", flags->runs,
                   "run folder or model.safetensors; more of them, of other seeds: their agreement")
      ->required();
  verb->add_option("--data", flags->data,
                   "folder of new domains in their order, as for 'grm predict'")
      ->required();
  verb->add_option("--alpha", flags->alpha,
                   "chance of a false alarm over all domains that will ever come")
      ->check(number_above(0, 0.5))
      ->capture_default_str();
  verb->footer(
      "Exit code 5: an alarm. The data that the run was made with must be at hand.\n"
      "Examples:\n"
      "  grm watch RUN --data new-months\n"
      "  grm watch RUN1 RUN2 RUN3 --data new-months --json\n"
      "  grm watch RUN --data new-months > drift.txt || mail -s drift me < drift.txt");
  set_call(*verb, action, [=, &common] { return watch_data(*flags, common); });
}

}  // namespace grm::cli
