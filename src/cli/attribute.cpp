#include "train/attribute.h"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/terminal.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "grm/core/log.h"

namespace grm::cli {
namespace {

struct AttributeFlags {
  std::string run, data, domain, by = to_string(AttributeBy::permutation);
  AttributeOptions options;
  int64_t top = 20;
};

ordered_json to_json(const DomainAttribution& found) {
  ordered_json out = {{"domain", found.domain},
                      {"measure", found.measure},
                      {"items", found.items},
                      {"base", found.base},
                      {"left_out", found.left_out}};
  out["features"] = ordered_json::array();
  for (const FeatureScore& feature : found.features) {
    out["features"].push_back({{"name", feature.name},
                               {"columns", feature.columns},
                               {"score", feature.score},
                               {"spread", feature.spread}});
  }
  return out;
}

// A row for each feature, by the mean over the domains, and a column for each domain.
Table table_of(const std::vector<DomainAttribution>& all, int64_t top) {
  std::map<std::string, std::map<size_t, const FeatureScore*>> by_name;
  for (size_t d = 0; d < all.size(); ++d) {
    for (const FeatureScore& feature : all[d].features) by_name[feature.name][d] = &feature;
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, found] : by_name) {
    double mean = 0.0;
    for (const auto& each : found) mean += each.second->score / static_cast<double>(all.size());
    order.emplace_back(mean, name);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  order.resize(std::min(order.size(), static_cast<size_t>(top)));
  Table table;
  table.head = {"feature", "columns", "mean"};
  for (const DomainAttribution& each : all) table.head.push_back(each.domain);
  for (const auto& [mean, name] : order) {
    const auto& found = by_name.at(name);
    table.rows.push_back(
        {name, std::to_string(found.begin()->second->columns), fmt::format("{:.3f}", mean)});
    for (size_t d = 0; d < all.size(); ++d) {
      const auto at = found.find(d);
      table.rows.back().push_back(
          at == found.end() ? "-"
          : all[d].measure == "log-odds"
              ? fmt::format("{:.3f}", at->second->score)
              : fmt::format("{:.3f} ± {:.3f}", at->second->score, at->second->spread));
    }
  }
  return table;
}

int attribute_verb(const AttributeFlags& flags, const Common& common) {
  watch_interrupt();
  common.use_device();
  AttributeOptions options = flags.options;
  options.by = *value_of<AttributeBy>(flags.by);
  Model model = load(flags.run);
  options.seed = model.about().seed;
  std::vector<DomainAttribution> all;
  const bool redraw = can_redraw(STDERR_FILENO) && !common.quiet;
  for (const Domain& domain :
       domains_to_attribute(model, flags.data, flags.domain, common.data_context())) {
    all.push_back(attribute(
        {model.method(), model.about()}, domain, options, [&](int64_t done, int64_t passes) {
          if (interrupted()) fail(ErrorKind::config, "stopped");
          if (!redraw) return;
          say(kFreshLine +
              (done == passes ? "" : fmt::format("{}: {}/{}", domain.name, done, passes)));
        }));
    if (all.back().left_out > 0) {
      log_info("{}: {} features with smaller gradients were not permuted; --most raises the number",
               domain.name, all.back().left_out);
    }
  }
  if (common.json) {
    ordered_json out = {{"run", flags.run},
                        {"method", model.about().method},
                        {"dataset", flags.data.empty() ? model.about().dataset : flags.data},
                        {"by", flags.by},
                        {"repeats", options.by == AttributeBy::permutation ? options.repeats : 0},
                        {"domains", ordered_json::array()}};
    for (const DomainAttribution& each : all) out["domains"].push_back(to_json(each));
    print_json(out);
    return 0;
  }
  for (const DomainAttribution& each : all) {
    fmt::print("{}: {} {:.2f} on {} items\n", each.domain, each.measure, each.base, each.items);
  }
  fmt::print("\n");
  print_table(table_of(all, flags.top));
  fmt::print("\n{}\n",
             options.by == AttributeBy::permutation
                 ? "Points lost when the feature is mixed among the nodes of a domain."
                 : "How far the log-odds of the answers follow the feature: mean over items of "
                   "|gradient x deviation|.");
  return 0;
}

}  // namespace

void add_attribute(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "attribute", "which features the answers of a model rest on, domain by domain");
  auto flags = std::make_shared<AttributeFlags>();
  add_common(*verb, common, true);
  verb->add_option("run", flags->run, "run folder or model.safetensors")->required();
  verb->add_option("--data", flags->data,
                   "own data, a publisher's file or the name of a dataset, as 'grm predict' takes "
                   "it (default: the test domains of the run's own)");
  verb->add_option("--domain", flags->domain, "one domain (default: all test domains)");
  verb->add_option("--by", flags->by,
                   "permutation: points lost when a feature is mixed among the nodes; gradient: "
                   "how far the log-odds of the answers follow it, in one pass")
      ->capture_default_str()
      ->check(one_of(words_of(AttributeBy{})));
  verb->add_option("--repeats", flags->options.repeats, "permutations of a feature")
      ->capture_default_str()
      ->check(whole_number(1));
  verb->add_option("--most", flags->options.most,
                   "features that are permuted; those with the largest gradients come first")
      ->capture_default_str()
      ->check(whole_number(1));
  verb->add_flag("--single", flags->options.single,
                 "every column by itself; by default the columns of a category are one feature");
  verb->add_option("--top", flags->top, "features that are listed")
      ->capture_default_str()
      ->check(whole_number(1));
  verb->footer(
      "Every method of both levels can be asked. Without labels the measure is how many answers\n"
      "stay the same.\n"
      "Examples:\n"
      "  grm attribute runs/sbm/erm/20260131T120000-1000\n"
      "  grm attribute RUN --by gradient --top 5\n"
      "  grm attribute RUN --data new_month/ --single --json");
  set_call(*verb, action, [=, &common] { return attribute_verb(*flags, common); });
}

}  // namespace grm::cli
